/** An upstream whose responses are all scripted. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { Test } from "tap";

/** A server on the loopback, and its address. It runs one handler after the other, and repeats the last one. */
export async function upstream(t: Test, ...handlers: readonly RequestListener[]) {
  const seen: { url: string; headers: IncomingMessage["headers"]; at: number }[] = [];
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? "", headers: request.headers, at: performance.now() });
    request.resume();
    (handlers[seen.length - 1] ?? handlers.at(-1))?.(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, host: `127.0.0.1:${port}`, seen };
}

/** Sends this response. */
export const responses =
  (status: number, body: string | Buffer = "{}", headers: Record<string, string> = {}): RequestListener =>
  (_request, response: ServerResponse) => {
    response.writeHead(status, headers);
    response.end(body);
  };
