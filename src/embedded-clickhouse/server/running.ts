/**
 * The running queries, by the ids that their clients gave them. The engine assigns ids of its own that nobody else can
 * see, so each query has a mark with a random tag and the client's id, by which KILL finds it. The mark precedes the
 * statement as a comment, and is also in the setting `log_comment`, because the engine rewrites a statement with
 * parameters and drops its comments.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { literal } from "../../clickhouse/sql-text.js";
import { abortable } from "../../common/abortable.js";
import type { Engine } from "./engine.js";
import { exception } from "./exception.js";
import type { ReceivedStatement } from "./statement.js";

export interface RunningQuery {
  /** The comment to put before the statement, and into its setting `log_comment`. */
  readonly mark: string;
  /** True if the query was stopped. Its output may then be truncated, however its statement ends. */
  isStopped(): boolean;
  /** Stops the statement in the engine. Returns when `done` has settled. */
  stop(done: Promise<unknown>): Promise<void>;
  /** Ends the query, and frees its id. */
  leave(): void;
}

export interface RunningQueries {
  /** Rejects an id that is running already, or with `replace` stops that query first. `signal` ends the wait for it. */
  enter(queryId: string, replace: boolean, signal: AbortSignal): Promise<RunningQuery>;
  /** Stops all queries. Returns when nothing runs any more. */
  stopAll(): Promise<void>;
}

/**
 * A KILL before the engine has registered the statement finds nothing, so it is repeated until the statement is over.
 */
const FIRST_RETRY_MS = 20;
const MAX_RETRY_MS = 10_000;
/** SQL for the mark of a process. The statement may have set its own `log_comment`. */
const MARK_OF_PROCESS = "if(startsWith(query, '/*q:'), query, Settings['log_comment'])";
/** Matches the id in a mark. Ids are percent-encoded, including `*`, so that none can end the comment. */
const ID_PATTERN = String.raw`^/\\*q:[0-9a-f]+ query_id:([^*]*)\\*/`;

export function runningQueries(engine: Engine): RunningQueries {
  const byId = new Map<string, { readonly stop: () => Promise<void> }>();

  async function kill(condition: string): Promise<void> {
    const session = engine.open();
    try {
      await session.run(`KILL QUERY WHERE ${condition} ASYNC`);
    } finally {
      session.close();
    }
  }

  return {
    async enter(queryId, replace, signal) {
      for (let other = byId.get(queryId); other !== undefined; other = byId.get(queryId)) {
        if (!replace) {
          throw exception(
            "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING",
            `Query with id = ${queryId} is already running`,
          );
        }
        await abortable(other.stop(), signal);
      }
      const tag = randomBytes(8).toString("hex");
      let leave: () => void = () => undefined;
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      let stopped = false;
      let stopping: Promise<void> | undefined;
      // One loop of kills, however many callers wait for the end.
      const stop = (done: Promise<unknown>) => {
        stopped = true;
        stopping ??= killUntil(done);
        return stopping;
      };
      const killUntil = async (done: Promise<unknown>) => {
        let isOver = false;
        const settled = done.then(
          () => undefined,
          () => undefined,
        );
        void settled.then(() => {
          isOver = true;
        });
        for (let wait = FIRST_RETRY_MS; !isOver; wait = Math.min(2 * wait, MAX_RETRY_MS)) {
          // A KILL that fails, such as for lack of memory, is repeated as well.
          await kill(`startsWith(${MARK_OF_PROCESS}, ${literal(`/*q:${tag} `)})`).catch(() => undefined);
          await Promise.race([settled, delay(wait)]);
        }
      };
      byId.set(queryId, {
        async stop() {
          await stop(left);
          await left;
        },
      });
      return {
        mark: `/*q:${tag} query_id:${encodeURIComponent(queryId).replaceAll("*", "%2A")}*/ `,
        isStopped: () => stopped,
        stop,
        leave() {
          byId.delete(queryId);
          leave();
        },
      };
    },
    async stopAll() {
      await Promise.all([...byId.values()].map((query) => query.stop()));
    },
  };
}

/**
 * Returns a client's KILL QUERY in which `query_id` refers to the clients' ids. SYNC hangs in the engine, so it becomes
 * ASYNC.
 */
export function translateKill(sql: Buffer, statement: Extract<ReceivedStatement, { kind: "kill" }>): string {
  const idExpression = `decodeURLComponent(extract(${MARK_OF_PROCESS}, '${ID_PATTERN}'))`;
  const edits = [
    ...statement.idAt.map((token) => ({ token, text: idExpression })),
    ...statement.syncAt.map((token) => ({ token, text: "ASYNC" })),
  ].sort((one, other) => one.token.start - other.token.start);
  let text = "";
  let at = 0;
  for (const edit of edits) {
    text += sql.subarray(at, edit.token.start).toString("utf8") + edit.text;
    at = edit.token.end;
  }
  return text + sql.subarray(at, statement.end).toString("utf8");
}
