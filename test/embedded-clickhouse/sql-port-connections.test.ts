/** Idle connections do not prevent others from using the port for SQL clients. */
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import t, { type Test } from "tap";
import { boundConnections } from "../../src/embedded-clickhouse/server/sql-port/connections.js";
import { sendRequest, sqlListener, startEngine } from "../clickhouse/engine-under-test.js";
import { freePort } from "../free-port.js";
import { until } from "../until.js";

async function opened(t: Test, port: number, count: number, host = "127.0.0.1"): Promise<Socket[]> {
  const sockets = Array.from({ length: count }, () =>
    connect({ port, host: "127.0.0.1", localAddress: host }),
  );
  for (const socket of sockets) socket.on("error", () => undefined);
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  return sockets;
}

const areOpen = (sockets: readonly Socket[]) => sockets.filter((socket) => !socket.closed).length;

t.test("256 and more idle connections and incomplete requests do not block the SQL port", async (t) => {
  const port = await freePort();
  await startEngine(t, { sqlPort: sqlListener(port, [{ user: "bi", password: "s3cret", databases: [] }]) });
  const bi = { url: `http://127.0.0.1:${port}`, username: "bi", password: "s3cret" };
  const idle = await opened(t, port, 300);
  for (const socket of idle.slice(0, 150)) socket.write("POST / HTTP/1.1\r\nHost: localhost\r\n");
  const { status, body } = await sendRequest(bi, "/", { body: "SELECT 1" });
  t.equal(status, 200);
  t.equal(body.toString(), "1\n");
  t.ok(areOpen(idle) <= 256, `${areOpen(idle)} are open`);
});

interface Bound {
  readonly port: number;
  /** Requests to `/in` sign on. Those to `/slow` sign on and end with `finish`. */
  finish(): void;
  /** Counts the requests to `/slow` that have begun. */
  running(): number;
}

async function bound(t: Test, most: number, signOnMs: number): Promise<Bound> {
  let finish: () => void = () => undefined;
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let begun = 0;
  const server = createServer((requested, response) => {
    if (requested.url === "/slow") begun += 1;
    if (requested.url !== "/") connections.signedOn(requested, response);
    void (requested.url === "/slow" ? slow : Promise.resolve()).then(() => response.end("ok"));
  });
  const connections = boundConnections(server, most, signOnMs);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, finish: () => finish(), running: () => begun };
}

function get(port: number, path: string, agent: Agent, localAddress = "127.0.0.1"): Promise<string> {
  return new Promise((resolve, reject) => {
    const requested = request({ port, host: "127.0.0.1", localAddress, path, agent }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on("end", () => resolve(text));
    });
    requested.on("error", reject);
    requested.end();
  });
}

t.test("the address with the most idle connections loses its oldest connection", async (t) => {
  const { port } = await bound(t, 6, 60_000);
  const few = await opened(t, port, 2, "127.0.0.2");
  const many: Socket[] = [];
  for (let count = 0; count < 4; count += 1) many.push(...(await opened(t, port, 1, "127.0.0.3")));
  await opened(t, port, 1, "127.0.0.4");
  await until("a connection to be closed", () => areOpen([...few, ...many]) < 6);
  t.equal(areOpen(few), 2);
  t.same(
    many.map((socket) => socket.closed),
    [true, false, false, false],
  );
});

t.test(
  "an authenticated connection is closed after the others, and one that runs a query is not closed",
  async (t) => {
    const { port, finish, running } = await bound(t, 3, 60_000);
    const agent = new Agent({ keepAlive: true });
    t.teardown(() => agent.destroy());
    t.equal(await get(port, "/in", agent), "ok");
    const [kept] = Object.values(agent.freeSockets).flat();
    const slow = get(port, "/slow", new Agent());
    await until("the slow request to run", () => running() === 1);
    const idle: Socket[] = [];
    for (let count = 0; count < 4; count += 1) idle.push(...(await opened(t, port, 1)));
    await until("all but one to be closed", () => areOpen(idle) === 1);
    t.equal(kept?.destroyed, false);
    t.equal(await get(port, "/in", agent), "ok");
    for (let count = 0; count < 3; count += 1) await get(port, "/in", new Agent({ keepAlive: true }));
    await until("the one that was idle for longest to be closed", () => kept?.destroyed === true);
    finish();
    t.equal(await slow, "ok");
  },
);

t.test("a new connection is refused if all connections run queries", async (t) => {
  const { port, finish, running } = await bound(t, 2, 60_000);
  const slow = [get(port, "/slow", new Agent()), get(port, "/slow", new Agent())];
  await until("both to run", () => running() === 2);
  await t.rejects(get(port, "/in", new Agent()), { code: "ECONNRESET" });
  finish();
  t.strictSame(await Promise.all(slow), ["ok", "ok"]);
});

t.test("a connection without a sign-on is closed after a timeout, and the others stay open", async (t) => {
  const { port } = await bound(t, 10, 200);
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  t.equal(await get(port, "/in", agent), "ok");
  const [idle] = await opened(t, port, 1);
  const [half] = await opened(t, port, 1);
  half?.write("POST / HTTP/1.1\r\n");
  await until("both to be closed", () => idle?.closed === true && half?.closed === true);
  t.equal(Object.values(agent.freeSockets).flat()[0]?.destroyed, false);
});
