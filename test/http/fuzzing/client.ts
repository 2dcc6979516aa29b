/** Sends requests over a real connection, unchanged, and returns the responses. */
import { type Agent, request as httpRequest } from "node:http";
import { gunzipSync } from "node:zlib";
import type { FuzzRequest } from "./requests.js";

export interface HttpAnswer {
  readonly status: number;
  readonly type: string | undefined;
  readonly etag: string | undefined;
  readonly text: string;
  /** Undefined if the body is not JSON. */
  readonly json: unknown;
}

export function sendFuzzed({ hostname, port }: URL, agent: Agent, request: FuzzRequest): Promise<HttpAnswer> {
  const { method, path, headers, body } = request;
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, agent, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const bytes = Buffer.concat(chunks);
        const plain =
          response.headers["content-encoding"] === "gzip" && bytes.length > 0 ? gunzipSync(bytes) : bytes;
        const type = response.headers["content-type"]?.split(";", 1)[0];
        const text = plain.toString();
        const json = /[/+]json$/.test(type ?? "") && text !== "" ? JSON.parse(text) : undefined;
        resolve({ status: response.statusCode ?? 0, type, etag: response.headers.etag, text, json });
      });
    });
    sent.on("error", (cause) => reject(new Error(`no response to ${shown(request)}`, { cause })));
    sent.end(body);
  });
}

export function shown({ method, path, headers, body }: FuzzRequest): string {
  return JSON.stringify({ method, path: path.slice(0, 3000), headers, body: body?.slice(0, 2000) });
}
