/** Sends a response, complete or broken on purpose, and no faster than the client reads. */
import type { ServerResponse } from "node:http";

/** `truncated` sends half with a matching content length. `midway` sends half, then resets the connection. */
export interface Breakage {
  readonly truncated: boolean;
  readonly midway: boolean;
}

export async function deliver(
  response: ServerResponse,
  pieces: Iterable<string>,
  { truncated, midway }: Breakage,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const json = { "content-type": "application/json", ...headers };
  if (truncated || midway) {
    const whole = Buffer.from([...pieces].join(""));
    const half = whole.subarray(0, Math.floor(whole.length / 2));
    response.writeHead(200, { ...json, "content-length": (truncated ? half : whole).length });
    if (truncated) response.end(half);
    else response.write(half, () => response.socket?.resetAndDestroy());
    return;
  }
  response.writeHead(200, json);
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** Sends an endless response, until the client closes the connection. */
export async function sendEndless(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "application/json" });
  const piece = `{"status":"success","data":[${'"endless",'.repeat(5000)}`;
  while (!response.destroyed) if (!response.write(piece)) await drained(response);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.once("drain", done);
    response.once("close", done);
  });
}
