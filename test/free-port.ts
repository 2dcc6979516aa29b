/** Finds free ports for programs that need a fixed port. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral ports of the system, which could be taken between finding and using the port. */
const FIRST = 10_000;
const LAST = 31_999;

/** Returns a free port of loopback. */
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
