/** Two real engines are the hosts of a cluster, each behind a port that can be closed. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import t, { type Test } from "tap";
import { openClickHouseClient } from "../../../src/clickhouse/client.js";
import { createHostChoice } from "../../../src/clickhouse/replicas/host-choice.js";
import { first } from "../../certificates.js";
import { engineResponseText, quietClient, startEngine } from "../engine-under-test.js";

interface Port {
  readonly url: string;
  /** New connections are refused. */
  close(): Promise<void>;
  open(): Promise<void>;
  /** Open connections break. */
  cut(): void;
  connections(): number;
}

async function portOf(t: Test, socketPath: string, tls: boolean): Promise<Port> {
  const open = new Set<Socket>();
  let made = 0;
  const accept = (near: Socket) => {
    const far = connect(socketPath);
    open.add(near);
    made++;
    near.on("close", () => {
      open.delete(near);
      far.destroy();
    });
    far.on("close", () => near.destroy());
    for (const each of [near, far]) each.on("error", () => each.destroy());
    near.pipe(far).pipe(near);
  };
  const make = (): Server =>
    tls ? createTlsServer({ cert: first.certificate, key: first.key }, accept) : createServer(accept);
  let server = make();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    cut();
    await closed;
  };
  t.teardown(async () => {
    if (server.listening) await close();
  });
  return {
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    close,
    cut,
    async open() {
      server = make();
      await once(server.listen(port, "127.0.0.1"), "listening");
    },
    connections: () => made,
  };
}

/** Starts an engine whose table `who` contains its name. Both have the same password, as replicas do. */
async function host(t: Test, name: string, tls: boolean) {
  const { endpoint } = await startEngine(t);
  const own = quietClient(t, endpoint);
  await own.command({ query: "CREATE DATABASE shop" });
  await own.command({ query: "CREATE TABLE shop.who (name String) ENGINE = MergeTree ORDER BY name" });
  await own.command({ query: `INSERT INTO shop.who VALUES ('${name}')` });
  return { endpoint, port: await portOf(t, endpoint.socketPath, tls), own };
}

for (const tls of [false, true])
  t.test(`hosts of a cluster ${tls ? "over TLS" : "without TLS"}`, async (t) => {
    const trusted = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    if (tls) process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
    t.teardown(() => {
      if (trusted === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = trusted;
    });
    const [a, b] = [await host(t, "a", tls), await host(t, "b", tls)];
    const passwords = new Map([
      [a.port.url, a.endpoint.password],
      [b.port.url, b.endpoint.password],
    ]);
    const requested: string[] = [];
    const urls = [...passwords.keys()];
    const choice = createHostChoice({
      urls,
      async prepare(url) {
        requested.push(url === a.port.url ? "a" : "b");
      },
      onChange: () => undefined,
    });
    // Replicas have the same users. These engines have passwords of their own, so that each has a client.
    const clientOf = (password: string) => {
      const client = openClickHouseClient({
        url: a.port.url,
        username: "default",
        password,
        database: "shop",
        hosts: { choice, count: 2 },
        applicationName: "test",
      });
      t.teardown(() => client.close());
      return client;
    };
    const [asA, asB] = [clientOf(a.endpoint.password), clientOf(b.endpoint.password)];
    const who = (client: typeof asA) => engineResponseText(client, "SELECT groupArray(name) FROM who");

    t.strictSame([await who(asA), requested], ["['a']", ["a"]], "the first host is used");
    const made = a.port.connections();
    await who(asA);
    t.equal(a.port.connections(), made, "the open connection is used");

    await a.port.close();
    t.equal(await who(asB), "['b']", "the other host is used after that");
    t.strictSame(requested, ["a", "b"]);
    await a.port.open();
    t.equal(await who(asB), "['b']", "the other host stays in use when the first is up again");
    t.strictSame(requested, ["a", "b"]);

    const slow = asB.command({ query: "INSERT INTO who SELECT 'twice' FROM numbers(1) WHERE sleep(2) = 0" });
    const settled = slow.then(
      () => "written",
      (error: NodeJS.ErrnoException) => error.code,
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    await b.port.close();
    t.equal(await settled, "ECONNRESET", "a statement fails with its connection, and is not sent again");
    t.equal(await who(asA), "['a']");
    t.strictSame(requested, ["a", "b", "a"]);

    await a.port.close();
    await who(asA).catch(() => undefined); // The attempt may still use the connection that is being closed.
    await t.rejects(who(asA), { code: "ECONNREFUSED" }, "no host is up");
    await b.port.open();
    t.equal(await who(asB), "['b']", "the statement that was cut off was not carried out");
  });

t.test("connections to a host that is no longer in use are closed", async (t) => {
  const [a, b] = [await host(t, "a", false), await host(t, "b", false)];
  let current = a.port.url;
  const client = openClickHouseClient({
    url: a.port.url,
    username: "default",
    password: a.endpoint.password,
    database: "shop",
    hosts: { choice: { current: async () => current, leave: () => undefined }, count: 1 },
    applicationName: "test",
  });
  t.teardown(() => client.close());
  const running = engineResponseText(
    client,
    "SELECT sleepEachRow(0.1) FROM numbers(30) SETTINGS max_block_size = 1",
  ).then(
    () => "responded",
    (error: NodeJS.ErrnoException) => error.code,
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  current = b.port.url;
  await t.rejects(
    engineResponseText(client, "SELECT 1"),
    { code: "516" },
    "the other host is used, which has another password",
  );
  t.equal(await running, "ECONNRESET");
});
