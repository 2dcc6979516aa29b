/** A minimal client for requests to the service, which adds little time. */
import { once as happens } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";

const agent = new Agent({ keepAlive: true });

/** Reads a response to its end and returns its number of bytes. Throws unless the status is 200. */
export async function readAll(url: string, body?: unknown): Promise<number> {
  return (await readBytes(url, body)).reduce((bytes, chunk) => bytes + chunk.length, 0);
}

/** Returns the JSON of a response, and the milliseconds until its last byte. */
export async function fetchJson<Body>(url: string): Promise<{ readonly body: Body; readonly ms: number }> {
  const started = performance.now();
  const bytes = await readBytes(url);
  const ms = performance.now() - started;
  return { body: JSON.parse(Buffer.concat(bytes).toString()) as Body, ms };
}

async function readBytes(url: string, body?: unknown): Promise<Buffer[]> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const sent = request(url, {
    agent,
    method: text === undefined ? "GET" : "POST",
    headers: text === undefined ? {} : { "content-type": "application/json" },
  });
  sent.end(text);
  const [response]: IncomingMessage[] = (await happens(sent, "response")) as IncomingMessage[];
  if (response === undefined) throw new Error("no response");
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  if (response.statusCode !== 200)
    throw new Error(`${url}: ${response.statusCode} ${chunks[0]?.subarray(0, 500).toString()}`);
  return chunks;
}

/**
 * Reads and discards a long response. Uses one buffer and no parsing, because the client shares the cores with the
 * measured service.
 */
export async function drain(url: string, body: unknown): Promise<number> {
  const { hostname, port, pathname, search } = new URL(url);
  const text = JSON.stringify(body);
  const head = [
    `POST ${pathname}${search} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  let bytes = 0;
  let start = "";
  let end = "";
  const buffer = Buffer.allocUnsafe(1 << 20);
  const socket = connect({
    host: hostname,
    port: Number(port),
    onread: {
      buffer,
      callback: (length) => {
        if (bytes === 0) start = buffer.toString("latin1", 0, Math.min(length, 500));
        bytes += length;
        end = (end + buffer.toString("latin1", Math.max(0, length - 5), length)).slice(-5);
        return true;
      },
    },
  });
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
  await happens(socket, "close");
  if (!start.startsWith("HTTP/1.1 200 ")) throw new Error(`${url}: ${start}`);
  if (end !== "0\r\n\r\n") throw new Error(`${url}: the response was cut off after ${bytes} bytes`);
  return bytes;
}
