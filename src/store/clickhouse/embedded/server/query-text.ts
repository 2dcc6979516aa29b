/** Brings together the statement of a request from its URL and its body, and an insert's data from what is behind it. */
import type { IncomingMessage } from "node:http";
import {
  type BodyReader,
  decodedBody,
  HEAD_BYTES,
  MAX_STATEMENT_BYTES,
  readBody,
  type Spool,
} from "./body.js";
import { exception } from "./exception.js";
import { parseMultipart } from "./multipart.js";
import { header, type QueryRequest } from "./request.js";
import { classify, type Statement } from "./statement.js";

export interface QueryText {
  /** The statement as bytes; offsets in `statement` count in it. */
  readonly sql: Buffer;
  readonly statement: Statement;
  readonly parameters: ReadonlyMap<string, string>;
  /** The data of an `insert-data` statement. */
  readonly data: Spool | undefined;
}

export async function readQueryText(
  request: IncomingMessage,
  asked: QueryRequest,
  directory: string,
): Promise<QueryText> {
  const contentType = header(request, "content-type") ?? "";
  const body = readBody(decodedBody(request));
  if (contentType.toLowerCase().startsWith("multipart/form-data")) {
    const parts = parseMultipart(contentType, await wholeStatement(body));
    const sql = refuseNul(Buffer.from(parts.get("query") ?? asked.query));
    const given = [...parts].filter(([name]) => name.startsWith("param_"));
    const parameters = new Map([
      ...asked.parameters,
      ...given.map(([name, value]) => [name.slice(6), value] as const),
    ]);
    return { sql, statement: classify(sql.toString("latin1")), parameters, data: undefined };
  }
  const url = Buffer.from(asked.query === "" ? "" : `${asked.query}\n`);
  const { data: head, complete } = startsInsert(url)
    ? { data: Buffer.alloc(0), complete: false }
    : await body.upTo(HEAD_BYTES);
  let sql: Buffer = Buffer.concat([url, head]);
  let statement = classify(sql.toString("latin1"));
  if (statement.kind === "insert-data") {
    const behind = sql.subarray(statement.dataAt);
    const data = await body.spool(directory, withoutLeadingBlank(behind));
    return {
      sql: refuseNul(sql.subarray(0, statement.dataAt)),
      statement,
      parameters: asked.parameters,
      data,
    };
  }
  if (!complete) {
    sql = Buffer.concat([url, await wholeStatement(body)]);
    statement = classify(sql.toString("latin1"));
  }
  return { sql: refuseNul(sql), statement, parameters: asked.parameters, data: undefined };
}

/** Whether the URL alone holds an INSERT up to where its data begins, so that the body is data from its first byte. */
function startsInsert(url: Buffer): boolean {
  return (
    /^\s*(\/\*|--|insert\b)/i.test(url.toString("latin1")) &&
    classify(url.toString("latin1")).kind === "insert-data"
  );
}

async function wholeStatement(body: BodyReader): Promise<Buffer> {
  const { data, complete } = await body.upTo(MAX_STATEMENT_BYTES);
  if (!complete)
    throw exception("QUERY_IS_TOO_LARGE", `The statement is longer than ${MAX_STATEMENT_BYTES} bytes`);
  return data;
}

/** The native binding takes C strings: a statement must not end for it before it ends for us. */
function refuseNul(sql: Buffer): Buffer {
  if (sql.includes(0)) throw exception("SYNTAX_ERROR", "Syntax error: the statement has a zero byte");
  return sql;
}

/** As a server: blanks up to the first line end after the format's name are not data. */
function withoutLeadingBlank(data: Buffer): Buffer {
  const blank = /^[ \t\r]*\n?/.exec(data.subarray(0, 4096).toString("latin1"))?.[0].length ?? 0;
  return data.subarray(blank);
}
