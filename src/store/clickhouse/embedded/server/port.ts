/** One listener's share of the engine: who may use it, for what, and how many queries at a time. */
import type { Account } from "./auth.js";
import type { ClientSessions } from "./client-sessions.js";
import type { EngineFacts } from "./content.js";
import type { Engine } from "./engine.js";
import type { OutputPipe } from "./output-pipe.js";
import type { ReadingSessions } from "./reading-sessions.js";
import type { Replacements } from "./replacements.js";
import type { RunningQueries } from "./running.js";
import type { Slots } from "./slots.js";
import type { SqlRules } from "./sql-port/rules.js";

/** A user of a port. */
export interface PortUser extends Account {
  /** The databases that a SQL client may read; unused where a port may do everything. */
  readonly databases: readonly string[];
}

export interface Port {
  readonly users: readonly PortUser[];
  /** Undefined: this port may do everything. */
  readonly sql: SqlRules | undefined;
  readonly engine: Engine;
  readonly facts: EngineFacts;
  /** A query runs with one of these pipes; they are as many as may run at once. */
  readonly slots: Slots<OutputPipe>;
  readonly running: RunningQueries;
  readonly sessions: ClientSessions;
  readonly readers: ReadingSessions;
  readonly replacements: Replacements;
  /** For the data of inserts. */
  readonly directory: string;
}
