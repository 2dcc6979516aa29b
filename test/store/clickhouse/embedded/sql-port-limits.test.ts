/** What the port for SQL clients costs the service at most, and that the service does not need it. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import t from "tap";
import { ServerException } from "../../../../src/store/clickhouse/embedded/server/exception.js";
import { createQuotas } from "../../../../src/store/clickhouse/embedded/server/sql-port/quotas.js";
import { freePort } from "../../../free-port.js";
import { until } from "../../../until.js";
import { ask, quietClient, sqlListener, startEngine, text } from "../engine-under-test.js";

process.env.SECRET_OF_THE_SERVICE = "hunter2";

const SLOW = "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))";
const users = ["a", "b"].map((user) => ({ user, password: "p", databases: [] }));

t.test("limits of the port", async (t) => {
  const port = await freePort();
  const limits = { maxSeconds: 2, maxResultBytes: 100_000, maxRunning: 3 };
  const under = await startEngine(t, { sqlPort: sqlListener(port, users, { limits }) });
  const service = quietClient(t, under.endpoint);
  const as = (username: string) => ({ url: `http://127.0.0.1:${port}`, username, password: "p" });
  const code = async (body: string, path = "/", user = "a") =>
    (await ask(as(user), path, { body })).headers["x-clickhouse-exception-code"];

  await t.test("a statement, an answer and a query have their largest", async (t) => {
    t.equal(await code(`SELECT '${"x".repeat(128 * 1024)}'`), "229");
    t.equal(await code("SELECT repeat('x', 1000) FROM numbers(1000)"), "396");
    t.equal(await code("SELECT repeat('x', 1000) FROM numbers(1000)", "/?wait_end_of_query=1"), "396");
    t.equal(await code(SLOW), "159");
    t.equal(await code("SELECT groupArray(repeat('x', 1000000)) FROM numbers(100000)"), "241");
  });

  await t.test("one user cannot take all places, and the service has its own", async (t) => {
    const slow = Array.from({ length: 6 }, () => ask(as("a"), "/", { body: SLOW }));
    await until(
      "three to run",
      async () => (await text(service, "SELECT count() FROM system.processes")) === "4",
    );
    t.equal((await ask(as("b"), "/", { body: "SELECT 1" })).body.toString(), "1\n");
    for (const { status } of await Promise.all(slow)) t.equal(status, 408);
    t.equal(await text(service, "SELECT 1"), "1");
  });

  await t.test("nothing of our environment is in the engine's process but what it needs", async (t) => {
    const environment = await readFile(`/proc/${under.engine.pid()}/environ`, "utf8");
    t.match(environment, /UV_THREADPOOL_SIZE=/);
    t.notMatch(environment, /SECRET_OF_THE_SERVICE|hunter2/);
  });
});

t.test(
  "a port that is taken does not keep the engine from starting, and is taken up when it is free",
  async (t) => {
    const port = await freePort();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
    const { engine, endpoint } = await startEngine(t, { sqlPort: sqlListener(port, users) });
    t.equal(await text(quietClient(t, endpoint), "SELECT 1"), "1");
    await until("it to be said", () => /EADDRINUSE/.test(engine.sqlPort()?.problem ?? ""));
    await new Promise((resolve) => other.close(resolve));
    await until("the port to listen", () => engine.sqlPort()?.listening === true);
    t.same(engine.sqlPort(), { address: `127.0.0.1:${port}`, listening: true, problem: null });
  },
);

t.test("a user's queries of a minute are counted, and come back with time", async (t) => {
  let now = 0;
  const quotas = createQuotas(2, () => now);
  quotas.count("a");
  quotas.count("a");
  t.equal(
    refusal(() => quotas.count("a")),
    "QUOTA_EXCEEDED",
  );
  quotas.count("b");
  now = 30_000;
  quotas.count("a");
  t.equal(
    refusal(() => quotas.count("a")),
    "QUOTA_EXCEEDED",
  );
});

/** The type of the exception, or undefined where there is none. */
function refusal(count: () => void): string | undefined {
  try {
    count();
    return undefined;
  } catch (error) {
    return error instanceof ServerException ? error.type : String(error);
  }
}
