/**
 * Three worker processes on one Postgres and one store over HTTP, each of which runs one tenant at a time. One is
 * stopped within a run, one is killed, and the third continues. There is one round here. `npm run soak -- --workers N`
 * sets `WORKER_ROUNDS` and uses ten tenants, one of them heavy.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { createEmbeddedClickHouse } from "../../src/embedded-clickhouse/supervisor.js";
import { startEmbeddedPostgres } from "../../src/embedded-postgres/start.js";
import { usualLease } from "../../src/runner/sql/leases.js";
import { type OpenedStores, openStores } from "../../src/stores/open-stores.js";
import { portOfSocket } from "../clickhouse/engine-under-test.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import { until } from "../until.js";
import { childProcess } from "./child.js";
import type { OneOfMany } from "./one-of-many.js";
import { reconciled, runRecords, shortTenants } from "./runs.js";

const rounds = Number(process.env.WORKER_ROUNDS ?? 1);
const isSoak = process.env.WORKER_ROUNDS !== undefined;
const HEAVY = "heavy";
/** In the order of their turns. */
const tenants = isSoak ? [HEAVY, ..."abcdefghi"] : [..."abcd"];
const daysOf = (tenant: string) => (tenant === HEAVY ? 30 : 7);
/** In one of this many rounds, leases expire by themselves. In the others, the test ends them. */
const PATIENT_ROUND = 10;
const TAKEN_OVER_SECONDS = 90;
/** At three units per hour. */
const COSTS_A_DAY = 72;

/** Turns of the heavy tenant after its first in a round. */
let heavyTurns = 0;

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
  /** Each round has its own rate, so that all days have to be published. */
  const yamlOf = (rate: string) => `
postgres: { connection_string: "postgres://${user}:${key}@/${database}?host=${host}" }
features: { refresh_interval: 1, max_parallel_tenants: 1 }
${shortTenants(tenants)
  .replace(/embedded:(\w+)/g, `${server}/$1`)
  .replace(/(cluster_id: .+)/g, "$1\n      min_refresh_gap_seconds: 0")
  .replace(new RegExp(`(tenant_id: ${HEAVY}\\s+lookback_days:) 8`), `$1 ${daysOf(HEAVY) + 1}`)
  .replaceAll("rate: 0.10", `rate: ${rate}`)}
`;
  const stores = await openStores({ config: testConfig(yamlOf("1"), folder), logger: testLogger });
  t.teardown(() => stores.close());
  for (const tenant of tenants) await stores.tenant(tenant);

  for (let round = 1; round <= rounds; round++) {
    const rate = `0.${String(round).padStart(4, "0")}`;
    const whole = {
      stores,
      folder,
      yaml: yamlOf(rate),
      rate,
      isPatient: isSoak && round % PATIENT_ROUND === 0,
    };
    await t.test(`round ${round}`, { timeout: 0 }, async (t) => await playRound(t, whole));
  }
  if (rounds >= PATIENT_ROUND) t.ok(heavyTurns > 0, "the heavy tenant had to wait for its turn");
});

interface Round {
  readonly stores: OpenedStores;
  readonly folder: string;
  readonly yaml: string;
  readonly rate: string;
  /** True if leases expire by themselves. */
  readonly isPatient: boolean;
}

async function playRound(t: Test, { stores, folder, yaml, rate, isPatient }: Round): Promise<void> {
  const recorded = new Map<string, number>();
  /**
   * Tenants whose runs were interrupted. Their stores are checked before they get a slot, so other tenants start first.
   */
  const wereCutOff: string[] = [];
  for (const tenant of tenants) {
    const before = await runRecords(stores, tenant);
    recorded.set(tenant, before.length);
    if (before.at(-1)?.status === "failed") wereCutOff.push(tenant);
  }
  const runsSince = async (tenant: string) => (await runRecords(stores, tenant)).slice(recorded.get(tenant));
  /** The database's clock, which runs use, in milliseconds. */
  const clock = async () => {
    const { rows } = await stores.postgres.query<{ now: Date }>("SELECT now()");
    return rows[0]?.now.getTime() ?? Number.NaN;
  };
  /** Ends the lease of the first run of the round, unless it has ended by itself. */
  const endLease = async (tenant: string) =>
    await stores.postgres.query(
      "UPDATE leases SET expires_at = now() WHERE tenant_name = $1 AND epoch = $2",
      [tenant, (await runsSince(tenant))[0]?.epoch],
    );

  const start = (signal?: OneOfMany["signal"]) => {
    const child = childProcess(t, "./one-of-many.js", { yaml, folder, signal } satisfies OneOfMany);
    const output: string[] = [];
    const listen = async () => {
      for (let line = await child.message(); line !== undefined; line = await child.message())
        output.push(line);
    };
    return { ...child, output, ended: listen() };
  };
  const hit = async ({ output }: { output: readonly string[] }, signal: string) => {
    await until(`a worker gets ${signal}`, () => output.some((line) => line.startsWith(signal)), 240);
    return output.at(-1)?.split(" ")[1] ?? "";
  };

  const stopped = start("SIGSTOP");
  const ofStopped = await hit(stopped, "SIGSTOP");
  const killed = start("SIGKILL");
  const ofKilled = await hit(killed, "SIGKILL");
  const diedAt = await clock();
  t.not(ofStopped, ofKilled, "each worker has another tenant");
  const third = start();
  const others = tenants.filter((tenant) => ![ofStopped, ofKilled].includes(tenant));

  await t.test(
    "the third worker runs all other tenants, and not those whose leases the first two hold",
    async (t) => {
      const areDone = () => others.every((each) => third.output.includes(`completed ${each}`));
      await until("they are done", areDone, 240);
      for (const tenant of [ofStopped, ofKilled]) {
        const [first, next] = await runsSince(tenant);
        const seconds =
          next === undefined ? Number.POSITIVE_INFINITY : (next.started_at - first.started_at) / 1000;
        t.ok(seconds >= usualLease.leaseSeconds, `${tenant}: ${seconds} s`);
      }
    },
  );

  await t.test("another worker takes the tenants over when the leases have expired", async (t) => {
    if (isPatient) {
      await until("the tenant of the dead", () => third.output.includes(`begins ${ofKilled}`), 240);
      const [, next] = await runsSince(ofKilled);
      const seconds = (next.started_at - diedAt) / 1000;
      t.comment(`taken over after ${seconds.toFixed(1)} s`);
      t.ok(seconds <= TAKEN_OVER_SECONDS, `within ${TAKEN_OVER_SECONDS} s`);
    }
    for (const tenant of [ofStopped, ofKilled]) {
      if (!isPatient) await endLease(tenant);
      await until(`${tenant} is done`, () => third.output.includes(`completed ${tenant}`), 240);
      const statuses = (await runsSince(tenant)).map(({ status }) => status);
      t.strictSame(statuses.slice(0, 2), ["failed", "completed"]);
    }
  });

  const resumedAt = await clock();
  await t.test("a stopped worker publishes nothing when it continues", async (t) => {
    stopped.kill("SIGCONT");
    await until("its run has ended", () => stopped.output.includes(`failed ${ofStopped}`), 240);
    const ofFirstRun = stopped.output.slice(0, stopped.output.indexOf(`failed ${ofStopped}`));
    t.strictSame(ofFirstRun, [`begins ${ofStopped}`, `SIGSTOP ${ofStopped}`]);
  });

  await t.test("the tenants then spread over the workers", async (t) => {
    const begun = third.output.length;
    await until(
      "both have completed runs",
      () =>
        [stopped.output.filter((line) => line.startsWith("completed")), third.output.slice(begun)].every(
          (lines) => lines.length > 0,
        ),
      240,
    );
    for (const each of [stopped, third]) {
      each.kill("SIGTERM");
      await each.ended;
    }
    const { rows } = await stores.postgres.query(
      `SELECT FROM runs AS one JOIN runs AS other USING (tenant_name)
       WHERE one.run_id <> other.run_id AND one.started_at <= other.started_at AND one.ended_at > other.started_at`,
    );
    t.strictSame(rows, [], "no two runs of a tenant overlap");
    for (const tenant of tenants) {
      const { days, off, billing } = await reconciled(stores, tenant);
      t.strictSame([days, off], [daysOf(tenant), []], `${tenant} adds up`);
      t.equal(
        Number(billing).toFixed(6),
        (daysOf(tenant) * COSTS_A_DAY * Number(rate)).toFixed(6),
        `${tenant} is billed by the rate of the round`,
      );
    }
  });

  if (others.includes(HEAVY))
    await t.test("a heavy tenant of one worker waits for its turn like all others", async (t) => {
      const turns = (await Promise.all(others.map(runsSince)))
        .flat()
        .filter(({ started_at }) => started_at < resumedAt)
        .sort((a, b) => a.started_at - b.started_at);
      const heavy = turns.flatMap(({ tenant_name }, at) => (tenant_name === HEAVY ? [at] : []));
      for (const [index, at] of heavy.slice(1).entries()) {
        const between = turns.slice((heavy[index] ?? 0) + 1, at).map(({ tenant_name }) => tenant_name);
        heavyTurns += 1;
        const waiting = others.filter((each) => each !== HEAVY && !wereCutOff.includes(each));
        t.strictSame(
          waiting.filter((each) => !between.includes(each)),
          [],
        );
      }
    });
}
