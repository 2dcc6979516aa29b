import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import t from "tap";
import { startService } from "./service.js";

/** What comes back on a connection, until the service closes it. */
function answerTo(port: number, sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(sent));
    socket.setEncoding("utf8");
    socket.on("data", (more) => {
      text += more;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });
}

t.test("a request that does not come to its end", async (t) => {
  const { app } = await startService(t, ["request_timeout_seconds: 1"]);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const head =
    "POST /api/v1/tenants/acme/export HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  for (const [name, sent] of [
    ["half a head", head],
    ["half a line", "GET /hea"],
    ["half a body", `${head}Content-Length: 100\r\n\r\n{"columns": [`],
    ["half a chunk", `${head}Transfer-Encoding: chunked\r\n\r\nff\r\n{"columns": [`],
  ] as const) {
    await t.test(`${name}: 408, and the connection is closed`, async (t) => {
      const [status = "", ...rest] = (await answerTo(port, sent)).split("\r\n");
      t.equal(status, "HTTP/1.1 408 Request incomplete");
      t.equal(JSON.parse(rest.at(-1) ?? "").code, "request_incomplete");
    });
  }
});
