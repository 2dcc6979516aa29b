/** Runs one statement on a prepared session, in the way that its kind requires, and passes on its output. */

import { literal } from "../../sql-text.js";
import type { EngineResult, EngineSession } from "./engine.js";
import { asException, exception, type ServerException } from "./exception.js";
import type { OutputListener, OutputPipe } from "./output-pipe.js";
import type { QueryText } from "./query-text.js";
import { type RunningQuery, translateKill } from "./running.js";

export interface Output {
  /** The format the statement does not name itself. */
  readonly format: string;
  /** False pauses the output until the pipe is resumed. */
  readonly write: OutputListener;
}

interface Written {
  readonly sql: string;
  /** What we put into the statement; errors quote the statement, and shall not quote that. */
  readonly ours: readonly string[];
}

/**
 * Runs the statement; resolves when the engine is done and all output was handed over. When `signal` aborts, the statement is
 * stopped in the engine, what it still puts out is thrown away, and the promise rejects as the engine does.
 */
export async function execute(
  session: EngineSession,
  text: QueryText,
  pipe: OutputPipe | undefined,
  running: RunningQuery,
  output: Output,
  signal: AbortSignal,
): Promise<EngineResult> {
  const statement = written(text, pipe, output.format);
  const sql = running.mark + statement.sql;
  pipe?.read((chunk, passedOn) => signal.aborted || output.write(chunk, passedOn));
  const { kind } = text.statement;
  const isWrite = kind === "write" || kind === "insert-input";
  const result = isWrite ? session.write(sql) : session.run(sql, output.format);
  const stop = () => {
    pipe?.resume();
    void running.stop(result);
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const done = await result.catch((error: unknown) => {
      throw withoutOurs(asException(error), running.mark, statement.ours);
    });
    // The engine may end a stopped read in key order as if it were complete.
    if (running.isStopped()) throw exception("QUERY_WAS_CANCELLED", "Query was cancelled");
    if (done.output.length > 0) output.write(Buffer.from(done.output));
    return done;
  } finally {
    await pipe?.finish();
    signal.removeEventListener("abort", stop);
  }
}

function written({ sql, statement, data }: QueryText, pipe: OutputPipe | undefined, format: string): Written {
  const slice = (from: number, to: number) => sql.subarray(from, to).toString("utf8");
  switch (statement.kind) {
    case "rows": {
      // What EXPLAIN prints would show the clause. It is short, and comes as the result.
      if (statement.verb === "EXPLAIN") return { sql: slice(0, statement.end), ours: [] };
      const clause = ` INTO OUTFILE ${literal(pipe?.path ?? "")} APPEND `;
      const own = slice(statement.clauseAt, statement.end);
      const ending = statement.format === undefined ? `FORMAT ${formatName(format)}` : own;
      return {
        sql: slice(0, statement.clauseAt) + clause + ending,
        ours: [clause, ...(own === ending ? [] : [ending])],
      };
    }
    case "insert-data": {
      const source = ` FROM INFILE ${literal(data?.path ?? "")} COMPRESSION 'none' `;
      const settings = `${slice(statement.infileAt, statement.formatAt)} ${statement.trailingSettings} `;
      const head = slice(0, statement.infileAt);
      return { sql: `${head}${source}${settings}FORMAT ${statement.format}`, ours: [source] };
    }
    case "insert-input": {
      const { inputAt, structureAt, formatAt, format: own } = statement;
      const structure = slice(structureAt.start, structureAt.end);
      const source = `file(${literal(data?.path ?? "")}, ${own}, ${structure}, 'none')`;
      return { sql: slice(0, inputAt.start) + source + slice(inputAt.end, formatAt), ours: [source] };
    }
    case "kill":
      return { sql: translateKill(sql, statement), ours: [] };
    default:
      return { sql: slice(0, statement.end), ours: [] };
  }
}

/** A format's name comes from a header or the URL: a name, or an error of the engine that it is unknown. */
function formatName(format: string): string {
  return /^\w+$/.test(format) ? format : "_";
}

function withoutOurs(error: ServerException, mark: string, ours: readonly string[]): ServerException {
  let message = error.message.replaceAll(mark, "");
  for (const text of ours)
    message = message
      .replaceAll(text.trim(), "")
      .replaceAll(/\(in file\/uri [^)]*\)/g, "(in the request's body)");
  message = message.replace(
    /failed at position (\d+)/,
    (_, position: string) => `failed at position ${Number(position) - mark.length}`,
  );
  return error.reworded(message);
}
