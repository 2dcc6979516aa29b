/** Runs one statement in a prepared session, in the way that its kind requires, and passes its output on. */
import { literal } from "../../clickhouse/sql-text.js";
import type { EngineResult, EngineSession } from "./engine.js";
import { asException, exception, type ServerException } from "./exception.js";
import type { OutputListener, OutputPipe } from "./output-pipe.js";
import type { QueryText } from "./query-text.js";
import { type RunningQuery, translateKill } from "./running.js";

export interface Output {
  /** The format if the statement does not name one. */
  readonly format: string;
  /** Returns false to pause the output until the pipe is resumed. */
  readonly write: OutputListener;
}

interface PreparedStatement {
  readonly sql: string;
  /** Text that we inserted into the statement. Errors quote the statement, and must not quote this text. */
  readonly insertions: readonly string[];
}

/**
 * Runs the statement. Resolves when the engine is done and all output was passed on. If `signal` aborts, the statement
 * is stopped in the engine, the rest of its output is discarded, and the promise rejects with the engine's error.
 */
export async function execute(
  session: EngineSession,
  text: QueryText,
  pipe: OutputPipe | undefined,
  running: RunningQuery,
  output: Output,
  signal: AbortSignal,
): Promise<EngineResult> {
  const statement = prepareStatement(text, pipe, output.format);
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
      throw withoutInsertions(asException(error), running.mark, statement.insertions);
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

function prepareStatement(
  { sql, statement, data }: QueryText,
  pipe: OutputPipe | undefined,
  format: string,
): PreparedStatement {
  const slice = (from: number, to: number) => sql.subarray(from, to).toString("utf8");
  switch (statement.kind) {
    case "rows": {
      // EXPLAIN would print the clause. Its output is short, and is returned as the result.
      if (statement.verb === "EXPLAIN") return { sql: slice(0, statement.end), insertions: [] };
      const clause = ` INTO OUTFILE ${literal(pipe?.path ?? "")} APPEND `;
      const own = slice(statement.clauseAt, statement.end);
      const ending = statement.format === undefined ? `FORMAT ${formatName(format)}` : own;
      return {
        sql: slice(0, statement.clauseAt) + clause + ending,
        insertions: [clause, ...(own === ending ? [] : [ending])],
      };
    }
    case "insert-data": {
      const source = ` FROM INFILE ${literal(data?.path ?? "")} COMPRESSION 'none' `;
      const settings = `${slice(statement.infileAt, statement.formatAt)} ${statement.trailingSettings} `;
      const head = slice(0, statement.infileAt);
      return { sql: `${head}${source}${settings}FORMAT ${statement.format}`, insertions: [source] };
    }
    case "insert-input": {
      const { inputAt, structureAt, formatAt, format: own } = statement;
      const structure = slice(structureAt.start, structureAt.end);
      const source = `file(${literal(data?.path ?? "")}, ${own}, ${structure}, 'none')`;
      return { sql: slice(0, inputAt.start) + source + slice(inputAt.end, formatAt), insertions: [source] };
    }
    case "kill":
      return { sql: translateKill(sql, statement), insertions: [] };
    default:
      return { sql: slice(0, statement.end), insertions: [] };
  }
}

/**
 * The format's name comes from a header or the URL. Anything else than a name becomes one that the engine rejects as
 * unknown.
 */
function formatName(format: string): string {
  return /^\w+$/.test(format) ? format : "_";
}

function withoutInsertions(
  error: ServerException,
  mark: string,
  insertions: readonly string[],
): ServerException {
  let message = error.message.replaceAll(mark, "");
  for (const text of insertions)
    message = message
      .replaceAll(text.trim(), "")
      .replaceAll(/\(in file\/uri [^)]*\)/g, "(in the request's body)");
  message = message.replace(
    /failed at position (\d+)/,
    (_, position: string) => `failed at position ${Number(position) - mark.length}`,
  );
  return error.reworded(message);
}
