/** A proxy between the service and an upstream. It applies random faults of networks and gateways to responses. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Test } from "tap";

export const faultKinds = [
  "reset before the response",
  "reset within the response",
  "stall, then reset",
  "cut, and said to be whole",
  "doubled",
  "429",
  "429 with Retry-After",
  "503 in HTML",
  "200 with a page in HTML",
  "200 with nothing",
  "200 with JSON of something else",
  "50 MB of blanks around the response",
  "compressed, and not said to be",
  "a redirect to nowhere",
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Harmless oddities: the response is correct and must be accepted. */
export const oddities = [
  "another content type",
  "a clock of years ago",
  "a response in small pieces",
] as const;
export type ProxyOddity = (typeof oddities)[number];

const STALL_MS = 700;
const PAGE = "<!doctype html><title>Please sign in</title><p>Your session has ended.</p>";
const BLANKS = Buffer.alloc(25_000_000, " ");

interface ProxiedResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Starts the proxy. `draw` returns the fault of the next request; undefined for none. */
export async function startFaultyProxy(
  t: Test,
  target: string,
  draw: () => FaultKind | ProxyOddity | undefined,
) {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const fault = draw();
    try {
      if (fault === "reset before the response") return response.destroy();
      if (fault === "stall, then reset") {
        await delay(STALL_MS, undefined, { ref: false });
        return response.destroy();
      }
      const headers = Object.fromEntries(
        Object.entries(request.headers).filter(
          ([name]) => !/^(host|accept-encoding|connection|content-length)$/.test(name),
        ),
      );
      const upstream = await fetch(target + request.url, {
        method: request.method ?? "GET",
        headers: headers as Record<string, string>,
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      const received = {
        status: upstream.status,
        headers: Object.fromEntries(
          [...upstream.headers].filter(
            ([name]) => !/^(content-length|transfer-encoding|connection|content-encoding)$/.test(name),
          ),
        ),
        body: Buffer.from(await upstream.arrayBuffer()),
      };
      await send(response, received, fault);
    } catch {
      response.destroy();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function send(
  response: ServerResponse,
  received: ProxiedResponse,
  fault: FaultKind | ProxyOddity | undefined,
) {
  const { status, headers, body } = received;
  const whole = (changes: Partial<ProxiedResponse> = {}) => {
    const { status: code, headers: head, body: text } = { ...received, ...changes };
    response.writeHead(code, { ...head, "content-length": text.length }).end(text);
  };
  const half = body.subarray(0, Math.floor(body.length / 2));
  const json = { "content-type": "application/json" };
  switch (fault) {
    case undefined:
      return whole();
    case "reset within the response":
      response.writeHead(status, { ...headers, "content-length": body.length });
      response.write(half, () => response.destroy());
      return;
    case "cut, and said to be whole":
      return whole({ body: half });
    case "doubled":
      return whole({ body: Buffer.concat([body, body]) });
    case "429":
      return whole({ status: 429, headers: json, body: Buffer.from('{"errors":[{"status":"429"}]}') });
    case "429 with Retry-After":
      return whole({ status: 429, headers: { ...json, "retry-after": "0" }, body: Buffer.from("slow down") });
    case "503 in HTML":
      return whole({ status: 503, headers: { "content-type": "text/html" }, body: Buffer.from(PAGE) });
    case "200 with a page in HTML":
      return whole({ status: 200, headers: { "content-type": "text/html" }, body: Buffer.from(PAGE) });
    case "200 with nothing":
      return whole({ status: 200, body: Buffer.alloc(0) });
    case "200 with JSON of something else":
      return whole({
        status: 200,
        headers: json,
        body: Buffer.from('{"message":"no Route matched with those values"}'),
      });
    case "50 MB of blanks around the response":
      return whole({ body: Buffer.concat([BLANKS, body, BLANKS]) });
    case "compressed, and not said to be":
      return whole({ body: Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0]), body]) });
    case "a redirect to nowhere":
      return whole({ status: 302, headers: { location: "http://127.0.0.1:9/" }, body: Buffer.alloc(0) });
    case "another content type":
      return whole({ headers: { ...headers, "content-type": "text/plain" } });
    case "a clock of years ago":
      return whole({ headers: { ...headers, date: "Tue, 01 Jan 2019 00:00:00 GMT" } });
    case "a response in small pieces": {
      response.writeHead(status, headers);
      const size = Math.max(1, Math.ceil(body.length / 20));
      for (let at = 0; at < body.length; at += size) {
        response.write(body.subarray(at, at + size));
        await delay(1);
      }
      response.end();
      return;
    }
    default:
      return fault satisfies "reset before the response" | "stall, then reset";
  }
}
