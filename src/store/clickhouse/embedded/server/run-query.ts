/** One query from its request to its answer: read it, wait for a slot, prepare a session, run, answer, tidy up. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { EngineResult } from "./engine.js";
import { asException, exception } from "./exception.js";
import { execute } from "./execute.js";
import type { OutputPipe } from "./output-pipe.js";
import type { Port } from "./port.js";
import { type QueryText, readQueryText } from "./query-text.js";
import { parseRequest, type QueryRequest } from "./request.js";
import { queryResponse, type ResponseOptions } from "./response.js";
import type { RunningQuery } from "./running.js";
import { prepareSession } from "./session.js";
import { summaryOf } from "./summary.js";
import { waitingResponse } from "./waiting-response.js";

interface Query {
  readonly asked: QueryRequest;
  readonly text: QueryText;
  readonly port: Port;
  readonly gone: AbortSignal;
  readonly started: bigint;
}

/** Answers the request; rejects only while nothing of an answer was sent. */
export async function handleQuery(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  port: Port,
): Promise<void> {
  const started = process.hrtime.bigint();
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const asked = parseRequest(request, url);
  const text = await readQueryText(request, asked, port.directory);
  await answer({ asked, text, port, gone: gone.signal, started }, response);
}

/** All that the query holds (session, slot, id, files) is free again before the answer ends: the client may come at once. */
async function answer(query: Query, response: ServerResponse): Promise<void> {
  const { asked, text, port, gone, started } = query;
  const { statement } = text;
  const format = asked.defaultFormat ?? "TabSeparated";
  let result: EngineResult | undefined;
  let resume: () => void = () => undefined;
  const options: ResponseOptions = {
    headers: headersOf(query, (statement.kind === "rows" ? statement.format : undefined) ?? format),
    summary: () => summaryOf(statement.kind, result, started),
    gzipLevel: asked.gzip ? asked.gzipLevel : undefined,
    version: port.facts.version,
    onDrain: () => resume(),
  };
  const answered = asked.waitEndOfQuery
    ? waitingResponse(response, options, port.directory)
    : queryResponse(response, options);
  try {
    const output = { format, write: (chunk: Buffer) => answered.write(chunk) };
    result = await withData(query, async (pipe, running) => {
      resume = () => pipe?.resume();
      const prepared = await prepareSession(marked(asked, running.mark), text, port);
      try {
        return await execute(prepared.session, prepared.text, pipe, running, output, gone);
      } finally {
        await prepared.release();
      }
    });
    await answered.end();
  } catch (error) {
    if (gone.aborted) await answered.discard();
    else await answered.fail(asException(error));
  }
}

/** The client's own comment stays, behind the mark. */
function marked(asked: QueryRequest, mark: string): QueryRequest {
  const comment = mark + (asked.settings.get("log_comment") ?? "");
  return { ...asked, settings: new Map([...asked.settings, ["log_comment", comment]]) };
}

type Run = (pipe: OutputPipe | undefined, running: RunningQuery) => Promise<EngineResult>;

async function withData(query: Query, run: Run): Promise<EngineResult> {
  try {
    refuseWritingByGet(query.asked, query.text);
    return await underId(query, run);
  } finally {
    await query.text.data?.remove();
  }
}

async function underId(query: Query, run: Run): Promise<EngineResult> {
  const running = await query.port.running.enter(query.asked.queryId, query.asked.replaceRunning);
  try {
    return await inSlot(query, (pipe) => run(pipe, running));
  } finally {
    running.leave();
  }
}

async function inSlot(
  query: Query,
  run: (pipe: OutputPipe | undefined) => Promise<EngineResult>,
): Promise<EngineResult> {
  // A KILL must get through when all slots are taken, and its few rows need no pipe.
  if (query.text.statement.kind === "kill") return await run(undefined);
  const pipe = await query.port.slots.take(query.gone);
  try {
    return await run(pipe);
  } finally {
    query.port.slots.give(pipe);
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
