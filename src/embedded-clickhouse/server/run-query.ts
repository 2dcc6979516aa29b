/**
 * Handles one query from its request to its response: read it, wait for a slot, prepare a session, run, respond, clean
 * up.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { abortable } from "../../common/abortable.js";
import { abortedLater } from "./aborted-later.js";
import { compress } from "./compressed-blocks.js";
import type { EngineResult } from "./engine.js";
import { asException, exception, type ServerException } from "./exception.js";
import { execute } from "./execute.js";
import type { OutputListener, OutputPipe } from "./output-pipe.js";
import { replacesPartitions } from "./partition-replacement-log.js";
import type { Port, PortUser } from "./port.js";
import type { PreparedSession } from "./prepared-session.js";
import { type QueryText, readQueryText, readStatement } from "./query-text.js";
import { parseRequest, type QueryRequest } from "./request.js";
import { HOLD_BYTES, type QueryResponse, queryResponse } from "./response.js";
import { responseEncoding } from "./response-encoding.js";
import type { RunningQuery } from "./running.js";
import { prepareSession, sessionSettingsOf } from "./session.js";
import { DEFAULT_FORMAT } from "./settings.js";
import { withoutPaths } from "./sql-port/messages.js";
import { MAX_BUFFERED_BYTES, MAX_SQL_STATEMENT_BYTES } from "./sql-port/rules.js";
import { summaryOf } from "./summary.js";
import { type WaitingResponseOptions, waitingResponse } from "./waiting-response.js";

interface Query {
  readonly queryRequest: QueryRequest;
  readonly text: QueryText;
  readonly user: PortUser;
  readonly port: Port;
  /** Ends the query with an error of ours as the signal's reason, also when the client disconnects. */
  readonly ending: AbortController;
  /**
   * Aborts if the query was ended but its statement still runs in the engine. Undefined for the service's own queries,
   * which wait for the engine.
   */
  readonly leftBehind: AbortSignal | undefined;
  readonly started: bigint;
  readonly deadline: Deadline;
}

/**
 * Most statements that are ended are over within this time. A client that reconnects at once then finds its slot and id
 * free.
 */
const LEFT_BEHIND_MS = 500;
/** A statement that goes on for this long after it was ended may go on for hours, so it is reported to the operator. */
const REPORT_MS = 30_000;

/** Responds to the request. Rejects only if nothing of the response was sent. */
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
  const queryRequest = parseRequest(request, url);
  port.sql?.quotas.count(user.user);
  const deadline = deadlineOf(port, ending);
  try {
    const text =
      port.sql === undefined
        ? await readQueryText(request, queryRequest, port.directory)
        : await readStatement(request, queryRequest, MAX_SQL_STATEMENT_BYTES);
    const leftBehind = port.sql === undefined ? undefined : abortedLater(ending.signal, LEFT_BEHIND_MS);
    await respond({ queryRequest, text, user, port, ending, leftBehind, started, deadline }, response);
  } finally {
    deadline.clear();
  }
}

interface Deadline {
  /** Ends the query after this many seconds, unless it ends before. */
  lower(seconds: number): void;
  clear(): void;
}

/**
 * Enforces time limits. The engine's own limit covers neither the time that it waits for a client that does not read,
 * nor functions that do not check it.
 */
function deadlineOf(port: Port, ending: AbortController): Deadline {
  const timers: NodeJS.Timeout[] = [];
  const lower = (seconds: number) => {
    const reason = `Timeout exceeded: the query and its response took ${seconds} seconds`;
    const end = () => ending.abort(exception("TIMEOUT_EXCEEDED", reason));
    timers.push(setTimeout(end, seconds * 1000));
  };
  if (port.sql !== undefined) lower(port.sql.limits.maxSeconds);
  return { lower, clear: () => timers.forEach(clearTimeout) };
}

/**
 * Runs the query and sends its response. Everything that the query uses (session, slot, id, files) is free before the
 * response ends, because the client may reconnect at once. The exception is a SQL client's statement that was ended but
 * still runs: it keeps everything until the engine is done, and the response does not wait for it.
 */
async function respond(query: Query, response: ServerResponse): Promise<void> {
  const { queryRequest, port, ending, started } = query;
  const defaultFormat = queryRequest.defaultFormat ?? DEFAULT_FORMAT;
  let { text } = query;
  let result: EngineResult | undefined;
  let resume: () => void = () => undefined;
  const formatOf = () =>
    (text.statement.kind === "rows" ? text.statement.format : undefined) ?? defaultFormat;
  const encoding = responseEncoding(queryRequest, formatOf);
  const reply = responseOf(query, response, {
    headers: () => headersOf(query, formatOf()),
    encodeException: (body) => (queryRequest.compress ? compress(body) : body),
    holdBytes: HOLD_BYTES,
    summary: () => summaryOf(text.statement.kind, result, started),
    gzipLevel: queryRequest.gzip ? queryRequest.gzipLevel : undefined,
    version: port.facts.version,
    // The pipe of an ended query is flowing already, and may belong to another query by now.
    onDrain: () => ending.signal.aborted || resume(),
    onFailure: (error) => ending.abort(error),
  });
  const write: OutputListener = (chunk, passedOn) => {
    try {
      const encoded = encoding.encode(chunk);
      // The encoded buffer may share the chunk's memory.
      return encoded.length === 0 || reply.write(encoded, encoded === chunk ? passedOn : undefined);
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
      let succeeded = false;
      try {
        const run = () => execute(prepared.session, prepared.text, pipe, running, output, signal);
        const done = await recordReplacement(query, run);
        succeeded = true;
        return done;
      } finally {
        await prepared.release(succeeded);
      }
    });
    result = await (query.leftBehind === undefined ? run : abortable(run, query.leftBehind));
    const rest = encoding.end();
    if (rest.length > 0) reply.write(rest);
    await reply.end();
  } catch (error) {
    if (response.destroyed) await reply.discard();
    else await reply.fail(toException(query, ending.signal.aborted ? ending.signal.reason : error));
  }
}

/** Records a replacement of partitions while it runs. If a kill cuts it off, the next start finishes it. */
async function recordReplacement<T>({ queryRequest, text, port }: Query, run: () => Promise<T>): Promise<T> {
  if (text.statement.verb !== "ALTER" || !replacesPartitions(text.sql.toString("latin1"))) return await run();
  return await port.replacements.during(
    { ...sessionSettingsOf(queryRequest, text), sql: text.sql.toString("utf8") },
    run,
  );
}

/** Buffered responses of the service wait in a file. Those of SQL clients wait in memory, as far as they fit. */
function responseOf(query: Query, response: ServerResponse, options: WaitingResponseOptions): QueryResponse {
  if (!query.queryRequest.waitEndOfQuery) return queryResponse(response, options);
  if (query.port.sql !== undefined)
    return queryResponse(response, { ...options, holdBytes: MAX_BUFFERED_BYTES });
  return waitingResponse(response, options, query.port.directory);
}

/** Limits the bytes that are sent to a SQL client. The engine's own limit counts the data before it is formatted. */
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

function toException({ port }: Query, error: unknown): ServerException {
  const known = asException(error);
  return port.sql === undefined ? known : withoutPaths(known, port.sql.dataDir);
}

type Run = (pipe: OutputPipe | undefined, running: RunningQuery) => Promise<EngineResult>;

async function withData(query: Query, signal: AbortSignal, run: Run): Promise<EngineResult> {
  try {
    refuseWritingByGet(query.queryRequest, query.text);
    return await underId(query, signal, run);
  } finally {
    await query.text.data?.remove();
  }
}

/** Ids are separate for each user, so that nobody can replace or block another user's query. */
async function underId(query: Query, signal: AbortSignal, run: Run): Promise<EngineResult> {
  const { queryRequest, port, user } = query;
  const id = port.sql === undefined ? queryRequest.queryId : `${user.user} ${queryRequest.queryId}`;
  const running = await port.running.enter(id, queryRequest.replaceRunning, signal);
  try {
    return await inSlot(query, signal, (pipe) => run(pipe, running));
  } finally {
    running.leave();
  }
}

async function inSlot(
  { text, port, user, leftBehind }: Query,
  signal: AbortSignal,
  run: (pipe: OutputPipe | undefined) => Promise<EngineResult>,
): Promise<EngineResult> {
  // A KILL must get through when all slots are taken, and its few rows need no pipe. SQL clients may not use KILL.
  if (text.statement.kind === "kill" && port.sql === undefined) return await run(undefined);
  const pipe = await port.slots.take(user.user, signal);
  let reportTimer: NodeJS.Timeout | undefined;
  const leave = () => {
    port.slots.leaveBehind(pipe);
    reportTimer = setTimeout(() => port.sql?.reportLeftBehind(user.user), REPORT_MS);
  };
  leftBehind?.addEventListener("abort", leave, { once: true });
  try {
    return await run(pipe);
  } finally {
    leftBehind?.removeEventListener("abort", leave);
    clearTimeout(reportTimer);
    port.slots.give(user.user, pipe);
  }
}

/** As on a server, GET and HEAD are for reading, so that a link or a prefetch can do no harm. */
function refuseWritingByGet(queryRequest: QueryRequest, text: QueryText): void {
  if (!queryRequest.readOnly || text.statement.kind === "rows") return;
  if (text.statement.verb === "SET" || text.statement.verb === "USE") return;
  throw exception(
    "READONLY",
    "Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries",
  );
}

function headersOf({ queryRequest, port }: Query, format: string): OutgoingHttpHeaders {
  return {
    "Content-Type": port.facts.contentType(format),
    "X-ClickHouse-Query-Id": queryRequest.queryId,
    "X-ClickHouse-Format": format,
    "X-ClickHouse-Timezone": port.facts.timezone,
    "X-ClickHouse-Server-Display-Name": "chargehouse",
  };
}
