/** A session that is ready to run one statement. */
import type { EngineSession } from "./engine.js";
import type { PortUser } from "./port.js";
import type { QueryText } from "./query-text.js";
import type { QueryRequest } from "./request.js";

export interface PreparedSession {
  readonly session: EngineSession;
  /** The statement to run. On the port of SQL clients it is the engine's rewriting of the client's statement. */
  readonly text: QueryText;
  /** `succeeded`: the statement ended by itself, without an error. */
  release(succeeded: boolean): Promise<void>;
  /** Time limit of the statement, if the engine alone cannot enforce it. */
  readonly maxSeconds?: number;
}

export interface SessionRequest {
  readonly queryRequest: QueryRequest;
  readonly text: QueryText;
  readonly user: PortUser;
  /** Mark of the running query, by which it is stopped. */
  readonly mark: string;
}
