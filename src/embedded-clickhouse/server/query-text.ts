/** Joins the statement of a request from its URL and body, and finds an insert's data after it. */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import {
  type BodyReader,
  decodedBody,
  HEAD_BYTES,
  MAX_STATEMENT_BYTES,
  readBody,
  type Spool,
} from "./body.js";
import { decompress } from "./compressed-blocks.js";
import { exception, type ServerException } from "./exception.js";
import { header, type QueryRequest } from "./request.js";
import { classify, type ReceivedStatement } from "./statement.js";

const CRLF = "\r\n";

/** Returns the parts by name. Throws if the body is not multipart. */
function parseMultipart(contentType: string, body: Buffer): ReadonlyMap<string, string> {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1];
  if (boundary === undefined) throw exception("BAD_ARGUMENTS", "multipart/form-data without a boundary");
  const parts = new Map<string, string>();
  const sections = body.toString("latin1").split(`--${boundary}`);
  for (const section of sections.slice(1, -1)) {
    const split = section.indexOf(CRLF + CRLF);
    const head = section.slice(0, split);
    const name = /;\s*name="([^"]*)"/i.exec(head)?.[1];
    if (split < 0 || name === undefined)
      throw exception("BAD_ARGUMENTS", "A part of the multipart body has no name");
    if (/;\s*filename=/i.test(head)) throw exception("NOT_IMPLEMENTED", "External tables are not supported");
    const value = section.slice(split + 2 * CRLF.length, -CRLF.length);
    parts.set(name, Buffer.from(value, "latin1").toString("utf8"));
  }
  return parts;
}

export interface QueryText {
  /** The statement as bytes. Offsets in `statement` refer to it. */
  readonly sql: Buffer;
  readonly statement: ReceivedStatement;
  readonly parameters: ReadonlyMap<string, string>;
  /** The data of an `insert-data` or `insert-input` statement. */
  readonly data: Spool | undefined;
}

/**
 * Reads the statement of a SQL client: short, without data after it, and not analysed yet. It is analysed when its turn
 * comes, after the engine has rewritten it.
 */
export async function readStatement(
  request: IncomingMessage,
  queryRequest: QueryRequest,
  maxBytes: number,
): Promise<QueryText> {
  const contentType = header(request, "content-type") ?? "";
  const body = readBody(decodedBody(request));
  const sent = await wholeStatement(body, queryRequest.decompress ? 2 * maxBytes : maxBytes);
  const data = queryRequest.decompress ? decompress(sent, maxBytes) : sent;
  const read = contentType.toLowerCase().startsWith("multipart/form-data")
    ? multipartStatement(contentType, data, queryRequest)
    : { sql: Buffer.concat([queryOfUrl(queryRequest), data]), parameters: queryRequest.parameters };
  const sql = refuseNul(read.sql);
  if (sql.length > maxBytes) throw tooLarge(maxBytes);
  const statement: ReceivedStatement = {
    kind: "rows",
    verb: "",
    clauseAt: sql.length,
    end: sql.length,
    format: undefined,
  };
  return { sql, statement, parameters: read.parameters, data: undefined };
}

export async function readQueryText(
  request: IncomingMessage,
  queryRequest: QueryRequest,
  directory: string,
): Promise<QueryText> {
  if (queryRequest.decompress) return await readCompressed(request, queryRequest, directory);
  return await readParts(
    readBody(decodedBody(request)),
    header(request, "content-type") ?? "",
    queryRequest,
    directory,
  );
}

/** Such bodies need not stream, because the service itself never sends them. */
async function readCompressed(
  request: IncomingMessage,
  queryRequest: QueryRequest,
  directory: string,
): Promise<QueryText> {
  const blocks = await wholeStatement(readBody(decodedBody(request)), MAX_STATEMENT_BYTES);
  const body = Readable.from([decompress(blocks, MAX_STATEMENT_BYTES)]);
  return await readParts(readBody(body), header(request, "content-type") ?? "", queryRequest, directory);
}

async function readParts(
  body: BodyReader,
  contentType: string,
  queryRequest: QueryRequest,
  directory: string,
): Promise<QueryText> {
  if (contentType.toLowerCase().startsWith("multipart/form-data")) {
    const { sql, parameters } = multipartStatement(
      contentType,
      await wholeStatement(body, MAX_STATEMENT_BYTES),
      queryRequest,
    );
    return { sql: refuseNul(sql), statement: classify(sql.toString("latin1")), parameters, data: undefined };
  }
  const url = queryOfUrl(queryRequest);
  const { data: head, complete } = startsInsert(url)
    ? { data: Buffer.alloc(0), complete: false }
    : await body.upTo(HEAD_BYTES);
  let sql: Buffer = Buffer.concat([url, head]);
  let statement = classify(sql.toString("latin1"));
  if (takesData(statement)) {
    const rest = sql.subarray(statement.dataAt);
    const data = await body.spool(directory, withoutLeadingBlank(rest));
    return {
      sql: refuseNul(sql.subarray(0, statement.dataAt)),
      statement,
      parameters: queryRequest.parameters,
      data,
    };
  }
  if (!complete) {
    sql = Buffer.concat([url, await wholeStatement(body, MAX_STATEMENT_BYTES)]);
    statement = classify(sql.toString("latin1"));
  }
  return { sql: refuseNul(sql), statement, parameters: queryRequest.parameters, data: undefined };
}

/** Whether the URL alone contains an INSERT up to its data, so that the body is data from its first byte. */
function startsInsert(url: Buffer): boolean {
  return (
    /^\s*(\/\*|--|insert\b)/i.test(url.toString("latin1")) && takesData(classify(url.toString("latin1")))
  );
}

function takesData(
  statement: ReceivedStatement,
): statement is Extract<ReceivedStatement, { kind: "insert-data" | "insert-input" }> {
  return statement.kind === "insert-data" || statement.kind === "insert-input";
}

function queryOfUrl(queryRequest: QueryRequest): Buffer {
  return Buffer.from(queryRequest.query === "" ? "" : `${queryRequest.query}\n`);
}

function multipartStatement(contentType: string, body: Buffer, queryRequest: QueryRequest) {
  const parts = parseMultipart(contentType, body);
  const given = [...parts].filter(([name]) => name.startsWith("param_"));
  return {
    sql: Buffer.from(parts.get("query") ?? queryRequest.query),
    parameters: new Map([
      ...queryRequest.parameters,
      ...given.map(([name, value]) => [name.slice("param_".length), value] as const),
    ]),
  };
}

async function wholeStatement(body: BodyReader, maxBytes: number): Promise<Buffer> {
  // One byte more distinguishes a statement of exactly this many bytes from a longer one.
  const { data } = await body.upTo(maxBytes + 1);
  if (data.length > maxBytes) throw tooLarge(maxBytes);
  return data;
}

function tooLarge(maxBytes: number): ServerException {
  return exception("QUERY_IS_TOO_LARGE", `The statement is longer than ${maxBytes} bytes`);
}

/** The native binding takes C strings, which end at a zero byte, so a statement must not contain one. */
function refuseNul(sql: Buffer): Buffer {
  if (sql.includes(0)) throw exception("SYNTAX_ERROR", "Syntax error: the statement has a zero byte");
  return sql;
}

/** As on a server, blanks up to the first line end after the format's name are not data. */
function withoutLeadingBlank(data: Buffer): Buffer {
  const blank = /^[ \t\r]*\n?/.exec(data.subarray(0, 4096).toString("latin1"))?.[0].length ?? 0;
  return data.subarray(blank);
}
