/** One listener's share of the engine: its users, their rights, and its limits. */
import type { Account } from "./auth.js";
import type { ClientSessions } from "./client-sessions.js";
import type { EngineFacts } from "./content.js";
import type { Engine } from "./engine.js";
import type { OutputPipe } from "./output-pipe.js";
import type { ReplacementLog } from "./partition-replacement-log.js";
import type { ReadingSessions } from "./reading-sessions.js";
import type { RunningQueries } from "./running.js";
import type { Slots } from "./slots.js";
import type { SqlRules } from "./sql-port/rules.js";

/** A user of a port. */
export interface PortUser extends Account {
  /** The databases that a SQL client may read. Unused on a port without restrictions. */
  readonly databases: readonly string[];
}

export interface Port {
  readonly users: readonly PortUser[];
  /** Undefined: this port has no restrictions. */
  readonly sql: SqlRules | undefined;
  readonly engine: Engine;
  readonly facts: EngineFacts;
  /** A query runs with one of these pipes. There are as many as queries may run at once. */
  readonly slots: Slots<OutputPipe>;
  readonly running: RunningQueries;
  readonly sessions: ClientSessions;
  readonly readers: ReadingSessions;
  readonly replacements: ReplacementLog;
  /** Folder for the data of inserts. */
  readonly directory: string;
}
