/** A session that is ready to run one statement, and what it is made of. */
import type { EngineSession } from "./engine.js";
import type { PortUser } from "./port.js";
import type { QueryText } from "./query-text.js";
import type { QueryRequest } from "./request.js";

export interface PreparedSession {
  readonly session: EngineSession;
  /** The statement to run; on the port of SQL clients it is the engine's rewriting of what was asked. */
  readonly text: QueryText;
  /** `isWhole`: the statement ended by itself, without an error. */
  release(isWhole: boolean): Promise<void>;
  /** How long the statement may take, where it is not for the engine alone to know. */
  readonly maxSeconds?: number;
}

export interface SessionRequest {
  readonly asked: QueryRequest;
  readonly text: QueryText;
  readonly user: PortUser;
  /** That of the running query, by which it is stopped. */
  readonly mark: string;
}
