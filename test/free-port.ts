/** Ports for programs that have to be told one. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below those that systems give to outgoing connections: one of these may be taken between its being found free and its being used. */
const FIRST = 10_000;
const LAST = 31_999;

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  const port = randomInt(FIRST, LAST + 1);
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    return await freePort();
  }
  server.close();
  await once(server, "close");
  return port;
}
