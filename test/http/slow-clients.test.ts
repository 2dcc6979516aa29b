import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import t from "tap";
import { until } from "../until.js";
import { insertManyChargebacks, startService } from "./service.js";

/** Returns everything that arrives on a connection until the service closes it. */
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

t.test("a request that never ends is refused with 408", async (t) => {
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

t.test("an export whose client reads nothing is closed when another read waits for a slot", async (t) => {
  const { app, stores } = await startService(t, ["request_timeout_seconds: 20", "max_heavy_reads: 1"]);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  await insertManyChargebacks(stores, "acme", { rows: 100_000, days: 1, identities: 100_000 });
  // 100 MB are far more than the sockets buffer.
  const body = JSON.stringify({
    start_date: "2026-03-01",
    end_date: "2026-03-01",
    columns: Array.from({ length: 50 }, () => "allocation_detail"),
  });
  const socket = connect(port, "127.0.0.1");
  t.teardown(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.write(
    `POST /api/v1/tenants/acme/export HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  // The export has begun, so it has the only slot. The client reads nothing from here on.
  await once(socket, "readable");
  const url = "/api/v1/tenants/acme/chargebacks/aggregate?start_date=2026-03-01&end_date=2026-03-01";
  const requested = () => app.inject(`${url}&group_by=resource_id`);
  // Bytes in the buffers of the sockets count as read. The slot is kept for a while, and a waiting read may be refused
  // until then.
  await until("the place is free", async () => (await requested()).statusCode === 200);
  let tail = Buffer.alloc(0);
  socket.on("data", (more: Buffer) => {
    tail = Buffer.concat([tail, more]).subarray(-5);
  });
  await once(socket, "close");
  t.not(tail.toString(), "0\r\n\r\n", "the file is cut, and does not look complete");
});
