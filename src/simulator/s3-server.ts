/**
 * An S3 service with the operations that bills need: list, get, put and delete objects of a bucket. Requests must be
 * signed with Signature Version 4. Written from Amazon's specification alone; `s3-server.test.ts` tests it with
 * Amazon's example.
 */
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface S3Object {
  readonly body: Buffer;
  readonly modified: Date;
  readonly storageClass?: string;
}

export interface S3Options {
  readonly bucket: string;
  readonly objects: Map<string, S3Object>;
  /** The accepted key. Undefined: only unsigned requests are accepted. */
  readonly key?: { readonly id: string; readonly secret: string; readonly token?: string };
  readonly region?: string;
  readonly pageSize?: number;
  /** Order in which keys are listed. Default: ascending, like Amazon. */
  readonly order?: (keys: string[]) => string[];
  /** Handles the request instead of the service if it returns true. */
  readonly instead?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** URI encoding of S3 signatures: escapes everything except unreserved characters. */
const escaped = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const sha256 = (text: string | Buffer) => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();

export interface SignedRequest {
  readonly method: string;
  /** Path and query, exactly as in the request line. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The signature that the request must have. */
export function signatureOf(request: SignedRequest, secret: string, region: string): string {
  const [path = "", query = ""] = request.url.split("?");
  const uri = path
    .split("/")
    .map((part) => escaped(decodeURIComponent(part)))
    .join("/");
  const search = [...new URLSearchParams(query)]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join("&");
  const { authorization = "", "x-amz-date": date, "x-amz-content-sha256": payload } = request.headers;
  const names = /SignedHeaders=([^,]+)/.exec(String(authorization))?.[1] ?? "";
  const headers = names.split(";").map((name) => `${name}:${String(request.headers[name] ?? "").trim()}\n`);
  const canonical = [request.method, uri, search, headers.join(""), names, String(payload)].join("\n");
  const scope = `${String(date).slice(0, 8)}/${region}/s3/aws4_request`;
  const day = hmac(`AWS4${secret}`, String(date).slice(0, 8));
  const key = hmac(hmac(hmac(day, region), "s3"), "aws4_request");
  return hmac(key, `AWS4-HMAC-SHA256\n${String(date)}\n${scope}\n${sha256(canonical)}`).toString("hex");
}

const etagOf = (body: Buffer) => createHash("md5").update(body).digest("hex");
const inXml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

function fail(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}) {
  response.writeHead(status, { "content-type": "application/xml", ...headers });
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>of the simulator</Message></Error>`,
  );
}

export interface S3Server {
  readonly endpoint: string;
  /** The received requests, in order. */
  readonly requests: readonly { readonly url: string; readonly headers: IncomingMessage["headers"] }[];
  close(): Promise<void>;
}

/** Starts the server. `objects` may change while it runs. */
export async function startS3Server(options: S3Options): Promise<S3Server> {
  const { bucket, key, region = "us-east-1" } = options;
  const requests: { url: string; headers: IncomingMessage["headers"] }[] = [];

  function refusal({ method = "", url = "", headers }: IncomingMessage): string | undefined {
    if (key === undefined) return headers.authorization === undefined ? undefined : "NoKeyExpected";
    const sent = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, /.exec(
      headers.authorization ?? "",
    );
    if (sent === null) return "AccessDenied";
    if (sent[1] !== key.id) return "InvalidAccessKeyId";
    if (sent[3] !== region) return "AuthorizationHeaderMalformed";
    if (headers["x-amz-security-token"] !== key.token) return "InvalidToken";
    const signed = (/SignedHeaders=([^,]+)/.exec(headers.authorization ?? "")?.[1] ?? "").split(";");
    const needed = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))];
    if (needed.some((name) => !signed.includes(name))) return "AccessDenied";
    const right = `Signature=${signatureOf({ method, url, headers }, key.secret, region)}`;
    return headers.authorization?.endsWith(right) ? undefined : "SignatureDoesNotMatch";
  }

  function list(query: URLSearchParams, response: ServerResponse) {
    const prefix = query.get("prefix") ?? "";
    const ascending = [...options.objects.keys()].filter((each) => each.startsWith(prefix)).sort();
    const keys = options.order?.(ascending) ?? ascending;
    const from = Number(query.get("continuation-token") ?? "0");
    const page = keys.slice(from, from + (options.pageSize ?? 1000));
    const end = from + page.length;
    const url = query.get("encoding-type") === "url";
    const named = (name: string) =>
      url ? escaped(name).replaceAll("%20", "+").replaceAll("%2F", "/") : inXml(name);
    const contents = page.map((name) => {
      const { body, modified, storageClass = "STANDARD" } = options.objects.get(name) as S3Object;
      const etag = inXml(`"${etagOf(body)}"`);
      return `<Contents><Key>${named(name)}</Key><LastModified>${modified.toISOString()}</LastModified><ETag>${etag}</ETag><Size>${body.length}</Size><StorageClass>${storageClass}</StorageClass></Contents>`;
    });
    const next = end < keys.length ? `<NextContinuationToken>${end}</NextContinuationToken>` : "";
    response.writeHead(200, { "content-type": "application/xml" });
    response.end(
      `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><IsTruncated>${end < keys.length}</IsTruncated>${next}${url ? "<EncodingType>url</EncodingType>" : ""}${contents.join("")}</ListBucketResult>`,
    );
  }

  function get(name: string, request: IncomingMessage, response: ServerResponse) {
    const object = options.objects.get(name);
    if (object === undefined) return fail(response, 404, "NoSuchKey");
    const etag = `"${etagOf(object.body)}"`;
    const expectedEtag = request.headers["if-match"];
    if (expectedEtag !== undefined && expectedEtag !== etag) return fail(response, 412, "PreconditionFailed");
    response.writeHead(200, { etag, "content-length": object.body.length });
    response.end(object.body);
  }

  async function put(name: string, request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (request.headers["content-length"] !== String(body.length))
      return fail(response, 411, "MissingContentLength");
    const declared = request.headers["x-amz-content-sha256"];
    if (key !== undefined && declared !== sha256(body))
      return fail(response, 400, "XAmzContentSHA256Mismatch");
    options.objects.set(name, { body, modified: new Date() });
    response.writeHead(200, { etag: `"${etagOf(body)}"` });
    response.end();
  }

  const server = createServer((request, response) => {
    if (request.method !== "PUT") request.resume();
    requests.push({ url: request.url ?? "", headers: request.headers });
    if (options.instead?.(request, response)) return;
    const refused = refusal(request);
    if (refused !== undefined) return fail(response, 403, refused);
    const [path = "", search = ""] = (request.url ?? "").split("?");
    const query = new URLSearchParams(search);
    const [, first = "", ...rest] = path.split("/");
    if (decodeURIComponent(first) !== bucket) return fail(response, 404, "NoSuchBucket");
    if (query.get("list-type") === "2") return list(query, response);
    const name = rest.map(decodeURIComponent).join("/");
    if (request.method === "PUT") return void put(name, request, response).catch(() => response.destroy());
    if (request.method === "DELETE") {
      options.objects.delete(name);
      response.writeHead(204);
      return void response.end();
    }
    get(name, request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
