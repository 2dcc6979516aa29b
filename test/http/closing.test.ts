/** The service closes while clients are still connected. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import t from "tap";
import { createServiceMetrics } from "../../src/http/metrics.js";
import { startHttpServer } from "../../src/http/server/server.js";
import { promise } from "../promise.js";
import { openTestStores, testLogger } from "../stores.js";

/** The limit is longer than the test may take, so a close that waits for it fails the test. */
const NEVER_MS = 2 ** 31 - 1;

t.test("closing waits for active responses and not for idle connections", async (t) => {
  const { config, stores } = await openTestStores(t);
  const [requested, send] = promise();
  const [held, release] = promise();
  const server = await startHttpServer({
    config: { ...config, api: { ...config.api, port: 0 } },
    stores,
    control: {
      lookForDue: () => undefined,
      async trigger() {
        send();
        await held;
        return { run_id: "0b7e1f5e-6f1c-4c39-9d8e-3f0a2f6f7a10", queued: false };
      },
    },
    logger: testLogger,
    version: "0.1.0",
    mode: "both",
    metrics: createServiceMetrics(),
  });
  const { port } = new URL(server.url);
  const open = async (text: string): Promise<Socket> => {
    const socket = connect(Number(port), "127.0.0.1").on("error", () => undefined);
    t.teardown(() => socket.destroy());
    await once(socket, "connect");
    if (text !== "") socket.write(text);
    return socket;
  };
  const request = (line: string) =>
    `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 0\r\n\r\n`;

  const responded = await open(request("GET /health"));
  await once(responded, "data");
  const others = [responded, await open(""), await open("GET /health HTTP/1.1\r\nHo")];
  const busy = await open(`${request("POST /api/v1/tenants/acme/pipeline/run")}${request("GET /health")}`);
  await requested;

  let closed = false;
  const closing = server.close(NEVER_MS).then(() => {
    closed = true;
  });
  await Promise.all(others.map((socket) => socket.closed || once(socket.resume(), "close")));
  t.equal(closed, false, "the active response is sent before the connection closes");
  let response = "";
  busy.on("data", (data) => {
    response += data;
  });
  release();
  await once(busy, "close");
  await closing;
  t.match(
    response,
    /^HTTP\/1\.1 202 .*HTTP\/1\.1 200 .*"status":"ok"/s,
    "the pipelined request also gets its response",
  );
});
