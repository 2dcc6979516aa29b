/** The port for SQL clients has bounded costs for the service, and the service does not need it. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import t from "tap";
import { exception, ServerException } from "../../src/embedded-clickhouse/server/exception.js";
import { createFailedSignOns } from "../../src/embedded-clickhouse/server/sql-port/failed-sign-ons.js";
import { createQuotas } from "../../src/embedded-clickhouse/server/sql-port/quotas.js";
import {
  engineResponseText,
  quietClient,
  sendRequest,
  sqlListener,
  startEngine,
} from "../clickhouse/engine-under-test.js";
import { freePort } from "../free-port.js";
import { until } from "../until.js";

process.env.SECRET_OF_THE_SERVICE = "hunter2";

const SLOW = "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))";
const users = ["a", "b"].map((user) => ({ user, password: "p", databases: [] }));

t.test("the SQL port limits statements, responses, queries and users", async (t) => {
  const port = await freePort();
  const limits = { maxSeconds: 2, maxResultBytes: 100_000, maxRunning: 3 };
  const under = await startEngine(t, { sqlPort: sqlListener(port, users, { limits }) });
  const service = quietClient(t, under.endpoint);
  const as = (username: string) => ({ url: `http://127.0.0.1:${port}`, username, password: "p" });
  const code = async (body: string, path = "/", user = "a") =>
    (await sendRequest(as(user), path, { body })).headers["x-clickhouse-exception-code"];

  await t.test("statements, responses and the memory of queries are limited on the SQL port", async (t) => {
    t.equal(await code(`SELECT '${"x".repeat(128 * 1024)}'`), "229");
    t.equal(await code("SELECT repeat('x', 1000) FROM numbers(1000)"), "396");
    t.equal(await code("SELECT repeat('x', 1000) FROM numbers(1000)", "/?wait_end_of_query=1"), "396");
    t.equal(await code(SLOW), "159");
    t.equal(await code("SELECT groupArray(repeat('x', 1000000)) FROM numbers(100000)"), "241");
  });

  await t.test("one SQL user cannot take all slots, and the service has its own", async (t) => {
    const slow = Array.from({ length: 6 }, () => sendRequest(as("a"), "/", { body: SLOW }));
    await until(
      "three to run",
      async () => (await engineResponseText(service, "SELECT count() FROM system.processes")) === "4",
    );
    t.equal((await sendRequest(as("b"), "/", { body: "SELECT 1" })).body.toString(), "1\n");
    for (const { status } of await Promise.all(slow)) t.equal(status, 408);
    t.equal(await engineResponseText(service, "SELECT 1"), "1");
  });

  await t.test("the engine's process gets only the environment variables that it needs", async (t) => {
    const environment = await readFile(`/proc/${under.engine.pid()}/environ`, "utf8");
    t.match(environment, /UV_THREADPOOL_SIZE=/);
    t.notMatch(environment, /SECRET_OF_THE_SERVICE|hunter2/);
  });
});

t.test("the engine starts although the SQL port is in use, and opens the port once it is free", async (t) => {
  const port = await freePort();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
  const { engine, endpoint } = await startEngine(t, { sqlPort: sqlListener(port, users) });
  t.equal(await engineResponseText(quietClient(t, endpoint), "SELECT 1"), "1");
  await until("it to be said", () => /EADDRINUSE/.test(engine.sqlPort()?.problem ?? ""));
  await new Promise((resolve) => other.close(resolve));
  await until("the port to listen", () => engine.sqlPort()?.listening === true);
  t.same(engine.sqlPort(), { address: `127.0.0.1:${port}`, listening: true, problem: null });
});

t.test("a user's queries per minute are limited, and the quota refills with time", async (t) => {
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

t.test("a client that guesses passwords has to wait", async (t) => {
  const port = await freePort();
  await startEngine(t, { sqlPort: sqlListener(port, users) });
  const as = async (username: string, password: string) => {
    const response = await sendRequest({ url: `http://127.0.0.1:${port}`, username, password }, "/", {
      body: "SELECT 1",
    });
    return [response.status, response.headers["x-clickhouse-exception-code"]];
  };
  t.strictSame(await as("a", "p"), [200, undefined]);
  for (let tries = 0; tries < 9; tries++) t.strictSame(await as("a", `guess ${tries}`), [403, "516"]);
  t.strictSame(await as("a", "p"), [200, undefined], "a few mistakes have no effect");
  t.strictSame(await as("a", "the tenth"), [403, "516"]);
  t.strictSame(await as("a", "guess"), [429, "201"]);
  t.strictSame(
    await as("a", "p"),
    [429, "201"],
    "the right password is not distinguishable from a wrong one",
  );
  t.strictSame(await as("b", "p"), [200, undefined], "other users do not wait");
  for (let tries = 0; tries < 10; tries++) t.strictSame(await as("nobody", "p"), [403, "516"]);
  t.strictSame(
    await as("nobody", "p"),
    [429, "201"],
    "a user that does not exist is not distinguishable from one that does",
  );
});

t.test("wrong passwords are counted by address and user, for a minute, in bounded memory", async (t) => {
  let now = 0;
  const failed = createFailedSignOns(() => now, 3);
  const wrong = (address: string, user = "a") =>
    refusal(() =>
      failed.during(address, user, () => {
        throw exception("AUTHENTICATION_FAILED", "no");
      }),
    );
  const right = (address: string, user = "a") => refusal(() => failed.during(address, user, () => user));
  const often = (address: string, user?: string) => {
    for (let tries = 0; tries < 10; tries++) t.equal(wrong(address, user), "AUTHENTICATION_FAILED");
  };
  often("10.0.0.1");
  t.equal(right("10.0.0.1"), "QUOTA_EXCEEDED");
  t.equal(right("10.0.0.2"), undefined);
  t.equal(right("::ffff:10.0.0.1"), "QUOTA_EXCEEDED", "the address is the same");
  now = 59_999;
  t.equal(right("10.0.0.1"), "QUOTA_EXCEEDED");
  now = 60_000;
  t.equal(right("10.0.0.1"), undefined);
  often("2001:db8:0:1::1", "b");
  t.equal(right("2001:db8:0:1:2::3", "b"), "QUOTA_EXCEEDED");
  t.equal(right("2001:db8:0:2::1", "b"), undefined);
  for (const user of ["x", "y", "z"]) wrong("10.0.0.9", user);
  t.equal(right("2001:db8:0:1::1", "b"), undefined, "of four entries, the oldest was evicted");
  const refused = () =>
    failed.during("10.0.0.1", "c", () => {
      throw exception("REQUIRED_PASSWORD", "none");
    });
  for (let tries = 0; tries < 20; tries++) t.equal(refusal(refused), "REQUIRED_PASSWORD");
});

/** Returns the type of the exception, or undefined if there is none. */
function refusal(count: () => unknown): string | undefined {
  try {
    count();
    return undefined;
  } catch (error) {
    return error instanceof ServerException ? error.type : String(error);
  }
}
