/** Three worker processes on one Postgres and one store of facts over HTTP, each of which may run one tenant at a time. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { createEmbeddedClickHouse } from "../../src/store/clickhouse/embedded/supervisor.js";
import { openStores } from "../../src/store/open-stores.js";
import { startEmbeddedPostgres } from "../../src/store/postgres/embedded.js";
import { portOfSocket } from "../store/clickhouse/engine-under-test.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import { until } from "../until.js";
import { childProcess } from "./child.js";
import type { OneOfMany } from "./one-of-many.js";
import { reconciled, runRecords, shortTenants } from "./runs.js";

const tenants = ["a", "b", "c", "d"];

t.test("several workers share the tenants", { timeout: 0 }, async (t) => {
  const folder = temporaryFolder(t);
  const state = join(folder, "state");
  mkdirSync(state, { mode: 0o700 });
  const postgres = await startEmbeddedPostgres({ dataDir: state, logger: testLogger });
  t.teardown(() => postgres.stop());
  const engine = createEmbeddedClickHouse({ dataDir: join(folder, "facts"), logger: testLogger });
  t.teardown(() => engine.stop());
  const { socketPath, username, password } = await engine.endpoint();
  const server = `clickhouse://${username}:${password}@127.0.0.1:${await portOfSocket(t, socketPath)}`;
  const { user, password: key, database, host } = postgres.connection;
  const yaml = `
postgres: { connection_string: "postgres://${user}:${key}@/${database}?host=${host}" }
features: { refresh_interval: 1, max_parallel_tenants: 1 }
${shortTenants(tenants).replace(/embedded:(\w+)/g, `${server}/$1`)}
`;
  const stores = await openStores({ config: testConfig(yaml, folder), logger: testLogger });
  t.teardown(() => stores.close());
  for (const tenant of tenants) await stores.tenant(tenant);
  const runOut = async (tenant: string) =>
    await stores.postgres.query("UPDATE leases SET expires_at = now() WHERE tenant_name = $1", [tenant]);
  const statuses = async (tenant: string) => (await runRecords(stores, tenant)).map(({ status }) => status);

  const start = (signal?: OneOfMany["signal"]) => {
    const child = childProcess(t, "./one-of-many.js", { yaml, folder, signal } satisfies OneOfMany);
    const said: string[] = [];
    const listen = async () => {
      for (let line = await child.message(); line !== undefined; line = await child.message())
        said.push(line);
    };
    return { ...child, said, heard: listen() };
  };
  const hit = async ({ said }: { said: readonly string[] }, signal: string) => {
    await until(`a worker gets ${signal}`, () => said.some((line) => line.startsWith(signal)), 240);
    return said.at(-1)?.split(" ")[1] ?? "";
  };

  const stopped = start("SIGSTOP");
  const ofStopped = await hit(stopped, "SIGSTOP");
  const killed = start("SIGKILL");
  const ofKilled = await hit(killed, "SIGKILL");
  t.not(ofStopped, ofKilled, "each has a tenant of its own");
  const third = start();

  await t.test(
    "the third runs all others, and leaves alone what the leases of the first two hold",
    async (t) => {
      const others = tenants.filter((tenant) => ![ofStopped, ofKilled].includes(tenant));
      await until(
        "they are done",
        () => others.every((each) => third.said.includes(`completed ${each}`)),
        240,
      );
      for (const held of [ofStopped, ofKilled]) t.notOk(third.said.includes(`begins ${held}`), held);
    },
  );

  await t.test("when the leases have run out, it takes the tenants over", async (t) => {
    for (const tenant of [ofStopped, ofKilled]) {
      await runOut(tenant);
      await until(`${tenant} is done`, () => third.said.includes(`completed ${tenant}`), 240);
      t.strictSame((await statuses(tenant)).slice(0, 2), ["failed", "completed"]);
    }
  });

  await t.test("the one that was stopped publishes nothing when it continues", async (t) => {
    stopped.kill("SIGCONT");
    await until("its run has ended", () => stopped.said.includes(`failed ${ofStopped}`), 240);
    const ofFirstRun = stopped.said.slice(0, stopped.said.indexOf(`failed ${ofStopped}`));
    t.strictSame(ofFirstRun, [`begins ${ofStopped}`, `SIGSTOP ${ofStopped}`]);
  });

  await t.test("from then on the work spreads", async (t) => {
    const begun = third.said.length;
    await until(
      "both have begun runs",
      () =>
        [stopped.said.filter((line) => line.startsWith("completed")), third.said.slice(begun)].every(
          (lines) => lines.length > 0,
        ),
      240,
    );
    for (const each of [stopped, third]) {
      each.kill("SIGTERM");
      await each.heard;
    }
    const { rows } = await stores.postgres.query(
      `SELECT FROM runs AS one JOIN runs AS other USING (tenant_name)
       WHERE one.run_id <> other.run_id AND one.started_at <= other.started_at AND one.ended_at > other.started_at`,
    );
    t.strictSame(rows, [], "no two runs of a tenant at once");
    for (const tenant of tenants) {
      const { days, off } = await reconciled(stores, tenant);
      t.strictSame([days, off], [7, []], `${tenant} adds up`);
    }
  });
});
