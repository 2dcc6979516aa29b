/**
 * Only Postgres' disk is full. Without space for tables it refuses writes; without space for its log it stops. In
 * either case errors name the cause and the remedy, no partial data is visible, nothing counts as a failure of an
 * upstream, and the service continues by itself when there is space again.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import t, { type Test } from "tap";
import { programArguments } from "../../src/common/program.js";
import { clusterFiles, SUPERUSER } from "../../src/embedded-postgres/cluster-files.js";
import { openPostgres } from "../../src/postgres/client.js";
import { RunInProgressError } from "../../src/runner/control.js";
import type { RunError } from "../../src/runner/sql/runs.js";
import { errorText } from "../../src/stores/error-text.js";
import { openStores } from "../../src/stores/open-stores.js";
import { storeInTrouble } from "../../src/stores/store-trouble.js";
import { postgresProgram, startDebianPostgres } from "../deploy/debian-postgres.js";
import { freePort } from "../free-port.js";
import { holdContract } from "../http/contract.js";
import { insertChargebacks, NOW } from "../http/service.js";
import { startApi } from "../http/start-api.js";
import { needs } from "../programs.js";
import { mounts, postgresOnSmallDisk, type SmallDisk, smallDisk, useUpLog } from "../small-disk.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import {
  mirrored,
  miscounted,
  recordTestDimensions,
  sendTagRequest,
  tag,
  writtenTags,
} from "../tags/tagging.js";
import { until } from "../until.js";
import { watchStatements } from "../watched-statements.js";
import {
  chargedByDay,
  daysBefore,
  reconciled,
  runContext,
  runOnce,
  runRecords,
  runRows,
  shortTenants,
} from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";

const days = [2, 3, 4].map(daysBefore).sort();
/** Space for a cluster, and for the log of all cases. */
const MIB = 400;
/** Postgres is reachable again within this time after it has space. */
const SECONDS = 5;

/** The error of a full disk. */
const FULL =
  /Postgres cannot work now: [^\n]*no (space|room)[^\n]* \(free space on its disk; the service then continues by itself\)$/i;

/** The error that callers of the API get. */
const UNAVAILABLE =
  /^The store of this data is (not working|unreachable)\. See the service log for this error_id\.$/;

async function opened(t: Test, yaml: string) {
  const folder = temporaryFolder(t);
  const data = join(folder, "data");
  const disk = await postgresOnSmallDisk(t, data, MIB);
  const config = testConfig(`data_dir: ${data}\n${yaml}`, folder);
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  const { postgres } = stores;
  return {
    disk,
    config,
    stores,
    postgres,
    /** Fills the disk, so that there is no space for rows, or with `log` not even for Postgres' log. */
    async fill(what: "rows" | "log") {
      disk.fill();
      if (what === "log") await useUpLog(postgres);
    },
    empty: () => makeRoom(disk, () => postgres.query("SELECT 1")),
  };
}

/** Returns the seconds until Postgres is reachable again. */
async function makeRoom(disk: SmallDisk, send: () => Promise<unknown>): Promise<number> {
  disk.empty();
  const started = performance.now();
  await until("Postgres responds", async () => {
    const response = await send().catch(() => undefined);
    return response !== undefined;
  });
  return (performance.now() - started) / 1000;
}

t.test("runs fail cleanly on a full Postgres disk", mounts, async (t) => {
  const yaml = shortTenants(["acme"], ["allocation_retry_limit: 1", "gather_failure_threshold: 1"]);
  const { config, stores, postgres, fill, empty } = await opened(t, yaml);
  const { upstream, ecosystems } = scriptedUpstream();
  const statements = watchStatements(postgres);
  const few = upstream.members;
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`somebody-${i}`, 1]));

  const context = runContext(stores, { ecosystems });
  const run = async (amount: number) => {
    for (const day of days) upstream.bill.set(day, { "r-1": String(amount) });
    return await runOnce(context, config, "acme");
  };
  /** The tenant cannot run until its lease is released, which happens within a second after Postgres is back. */
  const nextRun = async (amount: number) => {
    let ended: string | undefined;
    await until("the tenant can be run", async () => {
      try {
        ended = (await run(amount)).status;
      } catch (error) {
        if (!(error instanceof RunInProgressError)) throw error;
      }
      return ended !== undefined;
    });
    return ended;
  };
  const charged = () => chargedByDay(stores, "acme");
  const allAt = (amount: number) => days.map((day) => `${day} ${amount}`);
  const blamed = async () => [
    (await postgres.query("SELECT gather_failures, suspended_at FROM tenants")).rows,
    (await postgres.query("SELECT max(allocation_attempts) AS attempts FROM tracking_dates")).rows,
  ];
  const nobody = [[{ gather_failures: 0, suspended_at: null }], [{ attempts: 0 }]];

  t.equal((await run(100)).status, "completed");
  let amount = 100;
  const seconds: number[] = [];
  const cases: readonly [string, "rows" | "log", "before" | "after", RegExp][] = [
    ["before the run, whose inventory has no room", "rows", "before", /INTO tenants/],
    ["before the run, which cannot even begin", "log", "before", /INTO tenants/],
    ["before the record of the run", "log", "before", /INTO runs/],
    ["while it gathers", "log", "before", /INTO identities/],
    ["before what was gathered is recorded", "log", "before", /staged_hash = /],
    ["once it has gathered", "log", "before", /^\s*SELECT [^;]*billing_gathered/],
    ["before the intent to publish", "log", "before", /SET publishing_hash = staged_hash/],
    ["between the intent and the result", "log", "after", /SET publishing_hash = staged_hash/],
    ["after the result", "log", "after", /UPDATE tracking_dates AS t SET/],
    ["before its end is recorded", "log", "before", /WITH counted AS/],
  ];
  for (const [when, what, where, words] of cases) {
    await t.test(`a run with a full disk ${when} publishes nothing partial`, async (t) => {
      amount += 1;
      upstream.members = what === "rows" ? many : few;
      statements.at(where, words, () => fill(what));
      const known = (await runRecords(stores, "acme")).length;
      const failed = await run(amount).then(
        ({ status, errors }): readonly RunError[] => {
          if (!when.includes("its end")) t.equal(status, "failed");
          return errors;
        },
        (error: unknown) => errorText(error),
      );
      t.ok(statements.happened(), "the disk was full");
      const messages = typeof failed === "string" ? [failed] : failed.map(({ message }) => message);
      for (const message of messages) t.ok(FULL.test(message), message);

      seconds.push(await empty());
      const isPublished = where === "after" || when.includes("its end");
      t.strictSame(await charged(), allAt(isPublished ? amount : amount - 1));
      t.strictSame((await reconciled(stores, "acme")).off, [], "every day adds up");
      t.strictSame(await blamed(), nobody, "neither a day nor the upstream is to blame");

      t.equal(await nextRun(amount), "completed", "with room, the next run does it");
      t.strictSame(await charged(), allAt(amount));
      t.equal((await reconciled(stores, "acme")).staged, 0);
      const records = await runRecords(stores, "acme");
      const errors = records.slice(known).map((record) => record.errors);
      t.strictSame(errors, typeof failed === "string" ? [[]] : [failed, []], "the record has the errors");
    });
  }
  t.ok(Math.max(...seconds) < SECONDS, `Postgres was back within ${Math.max(...seconds).toFixed(1)} s`);
});

t.test("tags and the audit stay consistent on a full Postgres disk", mounts, async (t) => {
  const { config, stores, postgres, fill, empty } = await opened(t, shortTenants(["acme"]));
  const app = await startApi(t, { config, stores, now: NOW, mode: "both" });
  const faults = holdContract(app);
  const statements = watchStatements(postgres);
  const timestamp = "2026-03-01T00:00:00Z";
  const identities = Array.from({ length: 3_000 }, (_, i) => `sa-${i}`);
  await insertChargebacks(
    stores,
    "acme",
    identities.map((identity_id) => ({ timestamp, amount: "1", identity_id })),
  );
  await recordTestDimensions(stores, "acme");
  const ids = (
    await runRows<{ id: string }>(
      stores,
      "acme",
      "SELECT toString(dimension_id) AS id FROM dimensions ORDER BY dimension_id",
    )
  ).map(({ id }) => id);
  const single = (at: number, key: string) =>
    sendTagRequest(app, "POST", `acme/chargebacks/${ids[at]}/tags`, tag(key, "web"));
  const bulk = (key: string) =>
    sendTagRequest(app, "POST", "acme/tags/bulk-by-filter", {
      ...tag(key, "all"),
      start_date: "2026-03-01",
      end_date: "2026-03-01",
    });
  /** Expected tags and audit entries: those of successful requests. */
  const expected: { tags: string[]; entries: string[] } = { tags: [], entries: [] };
  const refusals = new Set<string>();
  const took = (
    response: Awaited<ReturnType<typeof sendTagRequest>>,
    tags: readonly string[],
    operation: string,
  ) => {
    if (response.status < 300) {
      expected.tags.push(...tags);
      expected.entries.push(operation);
      return "taken";
    }
    const { error_id, detail, ...problem } = response.body;
    const isAsDocumented = /^[0-9a-f-]{36}$/.test(error_id) && UNAVAILABLE.test(detail);
    refusals.add(JSON.stringify({ ...problem, isAsDocumented }));
    return "refused";
  };
  const tagOne = async (at: number, key: string) =>
    took(await single(at, key), [`${ids[at]} ${key}=web`], "addDimensionTag");
  const tagAll = async (key: string) =>
    took(
      await bulk(key),
      ids.map((id) => `${id} ${key}=all`),
      "tagDimensionsByFilter",
    );
  const tagListed = async (key: string) =>
    took(
      await sendTagRequest(app, "POST", "acme/tags/bulk", {
        ...tag(key, "listed"),
        dimension_ids: ids.map(Number),
      }),
      ids.map((id) => `${id} ${key}=listed`),
      "tagDimensions",
    );
  const asWanted = async (t: Test) => {
    const problem = {
      type: "about:blank",
      title: "Store unavailable",
      status: 503,
      code: "store_unavailable",
    };
    t.strictSame([...refusals], [JSON.stringify({ ...problem, isAsDocumented: true })]);
    const tags = expected.tags.toSorted();
    t.strictSame(await writtenTags(stores, "acme"), tags);
    t.strictSame(await miscounted(stores), []);
    const { rows } = await postgres.query("SELECT action FROM audit_entries ORDER BY audit_id");
    t.strictSame(
      rows.map(({ action }) => action),
      expected.entries,
      "the audit has what was done, and nothing else",
    );
    const url = "/api/v1/tenants/acme/chargebacks?start_date=2026-03-01&end_date=2026-03-01&page_size=1";
    t.equal((await app.inject({ url })).statusCode, 200);
    t.strictSame(await mirrored(stores, "acme"), tags, "ClickHouse has the same");
  };

  t.equal(await tagOne(0, "before"), "taken");
  await t.test("a bulk without room for its rows is refused as a whole", async (t) => {
    await fill("rows");
    t.equal(await tagAll("rows"), "refused");
    t.equal(await tagListed("list"), "refused");
    const singles = new Set<string>();
    for (let at = 0; at < 300; at += 1) singles.add(await tagOne(at, "some"));
    t.ok(singles.has("refused"), "and at last so is a single tag");
    await empty();
    await asWanted(t);
    t.equal(await tagAll("rows"), "taken");
    t.equal(await tagListed("list"), "taken");
    await asWanted(t);
  });
  for (const [when, where, words] of [
    ["before a tag is written", "before", /INTO tags/],
    ["before its entry in the audit", "before", /INTO audit_entries/],
    ["before its commit", "after", /INTO audit_entries/],
  ] as const)
    for (const [what, write] of [
      ["a tag", (key: string) => tagOne(1, key)],
      ["a bulk", tagAll],
    ] as const)
      await t.test(`without room for the log ${when}, ${what} is not stored`, async (t) => {
        const key = `${what} ${when}`.replaceAll(" ", "-");
        statements.at(where, words, () => fill("log"));
        t.equal(await write(key), "refused");
        t.equal(await tagOne(2, key), "refused");
        t.ok((await empty()) < SECONDS, "Postgres is back in time");
        await asWanted(t);
        t.equal(await write(key), "taken", "with room it is written");
        await asWanted(t);
      });
  t.strictSame(faults, []);
});

t.test("a service recovers from a full Postgres disk", mounts, async (t) => {
  const folder = temporaryFolder(t);
  const data = join(folder, "data");
  const disk = await postgresOnSmallDisk(t, data, MIB);
  const port = await freePort();
  const configuration = join(folder, "chargehouse.yaml");
  writeFileSync(
    configuration,
    `data_dir: ${data}\napi: { port: ${port} }\nfeatures: { refresh_interval: 1 }\n${shortTenants(["acme"])}\n`,
  );
  disk.fill();
  const program = programArguments("../../src/main.js", import.meta.url);
  const service = spawn(process.execPath, [...program, "serve", "--config", configuration], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(service, "exit");
  t.teardown(() => service.kill("SIGKILL"));
  const log: string[] = [];
  createInterface({ input: service.stderr }).on("line", (line) => log.push(JSON.parse(line).msg));
  const said = (words: RegExp) => log.filter((line) => words.test(line));
  const get = async (path: string, method = "GET") => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const serves = async () => {
    const response = await get("/api/v1/tenants/acme/pipeline/status").catch(() => undefined);
    return response?.status === 200 ? response : undefined;
  };
  const responses = async () => (await serves()) ?? Promise.reject(new Error("not yet"));
  const runs = async () => (await get("/api/v1/tenants/acme/pipeline/runs")).body.items;
  const completed = async () =>
    (await runs()).filter(({ status }: { status: string }) => status === "completed").length;

  await until("it says why it does not start", () => said(/^cannot start: /).length > 0, 60);
  const [why = ""] = said(/^cannot start: /);
  t.ok(FULL.test(why.replace(". It starts by itself then", "")), why);
  t.equal(service.exitCode, null);
  const start = await makeRoom(disk, responses);
  t.ok(start < 10, `it serves within ${start.toFixed(1)} s of having room`);
  t.equal(said(/^cannot start: /).length, 1, "which it says once");
  await until("a run has completed", async () => (await completed()) > 0);

  const { cluster: host, password: file } = clusterFiles(data);
  const password = readFileSync(file, "utf8").trim();
  const connection = { host, user: SUPERUSER, password, database: "postgres" };
  const pool = openPostgres(connection, { logger: testLogger, max: 1 });
  t.teardown(() => pool.end());
  disk.fill();
  // The service writes as well, and may be the one that fails.
  await useUpLog(pool).catch(() => undefined);
  const died = /^the embedded Postgres has died, /;
  await until("Postgres has died", () => said(died).length > 0);
  for (const path of ["/api/v1/tenants/acme/tags", "/api/v1/tenants/acme/pipeline/status"]) {
    const { status, body } = await get(path);
    t.strictSame([status, body.code], [503, "store_unavailable"], path);
    t.ok(UNAVAILABLE.test(body.detail), body.detail);
  }
  const posted = await get("/api/v1/tenants/acme/pipeline/run", "POST");
  t.strictSame([posted.status, posted.body.code], [503, "store_unavailable"]);
  t.equal((await get("/health")).status, 200, "it is up");
  // By now it would only be restarted every 10 seconds.
  await delay(14_000);
  t.equal(service.exitCode, null);
  const back = await makeRoom(disk, responses);
  t.ok(back < SECONDS, `it was back within ${back.toFixed(1)} s`);
  t.strictSame(
    said(/embedded Postgres/).map((line) => line.replace(/: \d+ MiB/, ": N MiB")),
    [
      "the embedded Postgres has died, because the disk with the postgres folder of data_dir has no room: N MiB are free. Make room: it is started again by itself then",
      "restarted the embedded Postgres",
    ],
    "said once, however often it is tried",
  );
  const before = await completed();
  await until("a run has completed that nobody requested", async () => (await completed()) > before);
  service.kill("SIGTERM");
  t.strictSame(await ended, [0, null]);
});

t.test("a data directory without any free space is reported", mounts, async (t) => {
  const folder = temporaryFolder(t);
  const data = join(folder, "data");
  const disk = smallDisk(t, data, MIB);
  const config = testConfig(`data_dir: ${data}\n${shortTenants(["acme"])}`, folder);
  disk.fill();
  for (let attempt = 0; attempt < 3; attempt += 1)
    await t.rejects(openStores({ config, logger: testLogger }), /no space left on device/i);
  disk.empty();
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  t.strictSame((await stores.postgres.query("SELECT 1 AS one")).rows, [{ one: 1 }]);
});

t.test(
  "a Postgres server with a full disk is handled like an embedded one",
  needs(postgresProgram),
  async (t) => {
    if (mounts.skip) return t.comment(mounts.skip);
    let disk: SmallDisk | undefined;
    const server = await startDebianPostgres(t, (folder) => {
      disk = smallDisk(t, folder, MIB);
    });
    server.run("psql", ["--command", "ALTER USER postgres PASSWORD 'of-a-test'"]);
    const pool = openPostgres(
      { host: "127.0.0.1", port: server.port, user: "postgres", password: "of-a-test", database: "postgres" },
      { logger: testLogger },
    );
    t.teardown(() => pool.end());
    await pool.query("CREATE TABLE kept (text text)");
    disk?.fill();
    const caught = async (query: string) => {
      try {
        await pool.query(query);
      } catch (error) {
        const code = error instanceof Error && "code" in error ? error.code : undefined;
        return [code, storeInTrouble(error), errorText(error)] as const;
      }
      return [];
    };
    const [code, whose, text] = await caught(
      "INSERT INTO kept SELECT repeat('x', 1000) FROM generate_series(1, 10000)",
    );
    t.strictSame([code, whose], ["53100", "Postgres"]);
    t.ok(FULL.test(text ?? ""), text);
    await useUpLog(pool);
    const [panic, its, said] = await caught(
      "SELECT pg_logical_emit_message(true, 'test', repeat('x', 100000))",
    );
    t.strictSame([panic, its], ["53100", "Postgres"], "a panic has the same code");
    t.ok(FULL.test(said ?? ""), said);
    t.notMatch(said ?? "", /PANIC/);
  },
);
