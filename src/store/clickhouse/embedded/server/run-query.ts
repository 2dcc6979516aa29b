/** One query from its request to its response: read it, wait for a slot, prepare a session, run, respond, clean up. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { abortable } from "../../../abortable.js";
import { abortedLater } from "./aborted-later.js";
import { compress } from "./compressed-blocks.js";
import type { EngineResult } from "./engine.js";
import { asException, exception, type ServerException } from "./exception.js";
import { execute } from "./execute.js";
import type { OutputListener, OutputPipe } from "./output-pipe.js";
import type { Port, PortUser } from "./port.js";
import type { PreparedSession } from "./prepared-session.js";
import { type QueryText, readQueryText, readStatement } from "./query-text.js";
import { replacesPartitions } from "./replacements.js";
import { parseRequest, type QueryRequest } from "./request.js";
import { HOLD_BYTES, type QueryResponse, queryResponse } from "./response.js";
import { responseEncoding } from "./response-encoding.js";
import type { RunningQuery } from "./running.js";
import { prepareSession, surroundingsOf } from "./session.js";
import { DEFAULT_FORMAT } from "./settings.js";
import { withoutSecrets } from "./sql-port/messages.js";
import { MAX_HELD_BYTES, MAX_SQL_STATEMENT_BYTES } from "./sql-port/rules.js";
import { summaryOf } from "./summary.js";
import { type WaitingResponseOptions, waitingResponse } from "./waiting-response.js";

interface Query {
  readonly asked: QueryRequest;
  readonly text: QueryText;
  readonly user: PortUser;
  readonly port: Port;
  /** Ends the query with an error of ours, which is the signal's reason; also when the client goes away. */
  readonly ending: AbortController;
  /** Aborts when the query was ended and its statement goes on in the engine. Undefined: the service's own queries wait for the engine. */
  readonly left: AbortSignal | undefined;
  readonly started: bigint;
  readonly deadline: Deadline;
}

/** Most statements that are ended are over by then, and the client that comes again at once finds its place and its id free. */
const LEFT_BEHIND_MS = 500;
/** A statement that goes on for so long may go on for hours: whoever runs the service is told. */
const TELL_MS = 30_000;

/** Responds to the request; rejects only while nothing of an answer was sent. */
export async function handleQuery(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  user: PortUser,
  port: Port,
): Promise<void> {
  const started = process.hrtime.bigint();
  const ending = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) ending.abort(exception("QUERY_WAS_CANCELLED", "The client disconnected"));
  });
  const asked = parseRequest(request, url);
  port.sql?.quotas.count(user.user);
  const deadline = deadlineOf(port, ending);
  try {
    const text =
      port.sql === undefined
        ? await readQueryText(request, asked, port.directory)
        : await readStatement(request, asked, MAX_SQL_STATEMENT_BYTES);
    const left = port.sql === undefined ? undefined : abortedLater(ending.signal, LEFT_BEHIND_MS);
    await answer({ asked, text, user, port, ending, left, started, deadline }, response);
  } finally {
    deadline.clear();
  }
}

interface Deadline {
  /** Ends the query so many seconds from now, if it would not end before. */
  lower(seconds: number): void;
  clear(): void;
}

/** The engine's own limit does not count the time that it waits for a client who does not read, nor within functions that do not look at it. */
function deadlineOf(port: Port, ending: AbortController): Deadline {
  const timers: NodeJS.Timeout[] = [];
  const lower = (seconds: number) => {
    const reason = `Timeout exceeded: the query and its answer took ${seconds} seconds`;
    const end = () => ending.abort(exception("TIMEOUT_EXCEEDED", reason));
    timers.push(setTimeout(end, seconds * 1000));
  };
  if (port.sql !== undefined) lower(port.sql.limits.maxSeconds);
  return { lower, clear: () => timers.forEach(clearTimeout) };
}

/**
 * All that the query holds (session, slot, id, files) is free again before the answer ends: the client may come at once. Not so behind a statement
 * of a SQL client that was ended and goes on: that holds it all until the engine is done with it, and the answer does not wait.
 */
async function answer(query: Query, response: ServerResponse): Promise<void> {
  const { asked, port, ending, started } = query;
  const defaultFormat = asked.defaultFormat ?? DEFAULT_FORMAT;
  let { text } = query;
  let result: EngineResult | undefined;
  let resume: () => void = () => undefined;
  const formatOf = () =>
    (text.statement.kind === "rows" ? text.statement.format : undefined) ?? defaultFormat;
  const encoding = responseEncoding(asked, formatOf);
  const answered = responseOf(query, response, {
    headers: () => headersOf(query, formatOf()),
    encodeException: (body) => (asked.compress ? compress(body) : body),
    holdBytes: HOLD_BYTES,
    summary: () => summaryOf(text.statement.kind, result, started),
    gzipLevel: asked.gzip ? asked.gzipLevel : undefined,
    version: port.facts.version,
    // An ended query's pipe flows already, and may be another one's by now.
    onDrain: () => ending.signal.aborted || resume(),
    onFailure: (error) => ending.abort(error),
  });
  const write: OutputListener = (chunk, passedOn) => {
    try {
      const encoded = encoding.encode(chunk);
      // What is made of it may still show the chunk's memory.
      return encoded.length === 0 || answered.write(encoded, encoded === chunk ? passedOn : undefined);
    } catch (error) {
      ending.abort(asException(error));
      return true;
    }
  };
  try {
    const output = { format: defaultFormat, write: limited(query, write) };
    const { signal } = ending;
    const run = withData(query, signal, async (pipe, running) => {
      resume = () => pipe?.resume();
      const prepared: PreparedSession = await prepareSession({ ...query, mark: running.mark }, port);
      text = prepared.text;
      if (prepared.maxSeconds !== undefined) query.deadline.lower(prepared.maxSeconds);
      let isWhole = false;
      try {
        const run = () => execute(prepared.session, prepared.text, pipe, running, output, signal);
        const done = await whole(query, run);
        isWhole = true;
        return done;
      } finally {
        await prepared.release(isWhole);
      }
    });
    result = await (query.left === undefined ? run : abortable(run, query.left));
    const rest = encoding.end();
    if (rest.length > 0) answered.write(rest);
    await answered.end();
  } catch (error) {
    if (response.destroyed) await answered.discard();
    else await answered.fail(told(query, ending.signal.aborted ? ending.signal.reason : error));
  }
}

/** A replacement of partitions that is cut off by a kill is finished at the next start. */
async function whole<T>({ asked, text, port }: Query, run: () => Promise<T>): Promise<T> {
  if (text.statement.verb !== "ALTER" || !replacesPartitions(text.sql.toString("latin1"))) return await run();
  return await port.replacements.during(
    { ...surroundingsOf(asked, text), sql: text.sql.toString("utf8") },
    run,
  );
}

/** The service's own answers wait in a file, those of SQL clients in memory, as far as they fit. */
function responseOf(query: Query, response: ServerResponse, options: WaitingResponseOptions): QueryResponse {
  if (!query.asked.waitEndOfQuery) return queryResponse(response, options);
  if (query.port.sql !== undefined) return queryResponse(response, { ...options, holdBytes: MAX_HELD_BYTES });
  return waitingResponse(response, options, query.port.directory);
}

/** Counts what a SQL client is sent; the engine's own limit counts what it was before it got its format. */
function limited(query: Query, write: OutputListener): OutputListener {
  if (query.port.sql === undefined) return write;
  const { maxResultBytes } = query.port.sql.limits;
  let bytes = 0;
  return (chunk, passedOn) => {
    bytes += chunk.length;
    if (bytes <= maxResultBytes) return write(chunk, passedOn);
    const reason = `Limit for result exceeded, max bytes: ${maxResultBytes}`;
    query.ending.abort(exception("TOO_MANY_ROWS_OR_BYTES", reason));
    return true;
  };
}

function told({ port }: Query, error: unknown): ServerException {
  const known = asException(error);
  return port.sql === undefined ? known : withoutSecrets(known, port.sql.dataDir);
}

type Run = (pipe: OutputPipe | undefined, running: RunningQuery) => Promise<EngineResult>;

async function withData(query: Query, signal: AbortSignal, run: Run): Promise<EngineResult> {
  try {
    refuseWritingByGet(query.asked, query.text);
    return await underId(query, signal, run);
  } finally {
    await query.text.data?.remove();
  }
}

/** Ids are each user's own: nobody can replace, or block, what another one runs. */
async function underId(query: Query, signal: AbortSignal, run: Run): Promise<EngineResult> {
  const { asked, port, user } = query;
  const id = port.sql === undefined ? asked.queryId : `${user.user} ${asked.queryId}`;
  const running = await port.running.enter(id, asked.replaceRunning, signal);
  try {
    return await inSlot(query, signal, (pipe) => run(pipe, running));
  } finally {
    running.leave();
  }
}

async function inSlot(
  { text, port, user, left }: Query,
  signal: AbortSignal,
  run: (pipe: OutputPipe | undefined) => Promise<EngineResult>,
): Promise<EngineResult> {
  // A KILL must get through when all slots are taken, and its few rows need no pipe. SQL clients may not kill.
  if (text.statement.kind === "kill" && port.sql === undefined) return await run(undefined);
  const pipe = await port.slots.take(user.user, signal);
  let telling: NodeJS.Timeout | undefined;
  const leave = () => {
    port.slots.leaveBehind(pipe);
    telling = setTimeout(() => port.sql?.tellLeftBehind(user.user), TELL_MS);
  };
  left?.addEventListener("abort", leave, { once: true });
  try {
    return await run(pipe);
  } finally {
    left?.removeEventListener("abort", leave);
    clearTimeout(telling);
    port.slots.give(user.user, pipe);
  }
}

/** As on a server: GET and HEAD are for reading, so that a link or a prefetch can do no harm. */
function refuseWritingByGet(asked: QueryRequest, text: QueryText): void {
  if (!asked.readOnly || text.statement.kind === "rows") return;
  if (text.statement.verb === "SET" || text.statement.verb === "USE") return;
  throw exception(
    "READONLY",
    "Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries",
  );
}

function headersOf({ asked, port }: Query, format: string): OutgoingHttpHeaders {
  return {
    "Content-Type": port.facts.contentType(format),
    "X-ClickHouse-Query-Id": asked.queryId,
    "X-ClickHouse-Format": format,
    "X-ClickHouse-Timezone": port.facts.timezone,
    "X-ClickHouse-Server-Display-Name": "chargehouse",
  };
}
