/** One listener's share of the engine: who may use it, for what, and how many at a time. */
import type { Account } from "./auth.js";
import type { ClientSessions } from "./client-sessions.js";
import type { EngineFacts } from "./content.js";
import type { Engine } from "./engine.js";
import type { OutputPipe } from "./output-pipe.js";
import type { ReadOnlyLimits } from "./read-only.js";
import type { RunningQueries } from "./running.js";
import type { Slots } from "./slots.js";

export interface Port {
  readonly account: Account;
  /** Undefined: this port may do everything. */
  readonly readOnly: ReadOnlyLimits | undefined;
  readonly engine: Engine;
  readonly facts: EngineFacts;
  /** A query runs with one of these pipes; they are as many as may run at once. */
  readonly slots: Slots<OutputPipe>;
  readonly running: RunningQueries;
  readonly sessions: ClientSessions;
  /** For the data of inserts. */
  readonly directory: string;
}
