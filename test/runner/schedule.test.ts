import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { createWorker } from "../../src/cli/worker.js";
import { runStatement } from "../../src/postgres/statement.js";
import { repeatDue, type Schedule } from "../../src/runner/schedule.js";
import { type DueTenant, dueTenants } from "../../src/runner/sql/due-tenants.js";
import { openTestStores, testLogger } from "../stores.js";
import { until } from "../until.js";
import { recordingLogger, runRecords, shortTenants } from "./runs.js";

/** Starts a schedule with this many slots, whose due tenants the test controls. Records what happens. */
function scheduled(places: number, changes: Partial<Schedule> = {}) {
  const stop = new AbortController();
  const events: string[] = [];
  const due = new Map<string, Partial<DueTenant>>();
  const ends = new Map<string, () => void>();
  const { logger, messages } = recordingLogger();
  const usual: Schedule = {
    due: async () =>
      [...due].map(([tenant_name, parts]) => ({
        tenant_name,
        due_in: 0,
        cut_off: false,
        delivered: false,
        suspended: false,
        ...parts,
      })),
    free: () => places - ends.size,
    run({ tenant_name }) {
      events.push(tenant_name);
      due.delete(tenant_name);
      return new Promise((resolve) =>
        ends.set(tenant_name, () => {
          ends.delete(tenant_name);
          resolve(true);
        }),
      );
    },
    signal: stop.signal,
    logger,
    pollMs: 20,
  };
  const ended = repeatDue({ ...usual, ...changes });
  const happened = (...expected: string[]) =>
    until(expected.join(", "), () => JSON.stringify(events) === JSON.stringify(expected));
  const end = (name: string) => ends.get(name)?.();
  return { stop, due, end, ended, events, happened, messages };
}

t.test("tenants start in order as slots are free, and a heavy one does not delay others", async (t) => {
  const { stop, due, end, ended, happened, events } = scheduled(2);
  for (const name of ["heavy", "b", "c", "d"]) due.set(name, {});
  due.set("later", { due_in: 3600 });
  due.set("suspended", { suspended: true });
  await happened("heavy", "b");
  end("b");
  await happened("heavy", "b", "c");
  end("c");
  await happened("heavy", "b", "c", "d");
  due.set("b", {});
  end("d");
  await happened("heavy", "b", "c", "d", "b");
  due.set("c", {});
  stop.abort();
  end("b");
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(isOver, false, "it waits for the run under way");
  end("heavy");
  await ended;
  t.strictSame(events, ["heavy", "b", "c", "d", "b"], "none begins after the abort");
});

t.test("a run that could not start is tried again, and does not delay others", async (t) => {
  let tries = 0;
  const { stop, due, ended } = scheduled(1, {
    run: async ({ tenant_name }) => {
      if (tenant_name === "b") due.delete("b");
      else tries += 1;
      return tenant_name === "b";
    },
  });
  due.set("away", {});
  due.set("b", {});
  await until("both were tried, one again", () => tries > 1 && !due.has("b"));
  stop.abort();
  await ended;
  t.ok(tries > 1);
});

t.test("no run starts while Postgres is unreachable, which is logged once", async (t) => {
  let isUnreachable = true;
  let queries = 0;
  const { stop, due, ended, happened, messages } = scheduled(1, {
    due: async () => {
      queries += 1;
      if (isUnreachable) throw new Error("it is away");
      return [{ tenant_name: "a", due_in: 0, cut_off: true, delivered: false, suspended: false }];
    },
  });
  due.set("a", {});
  await until("due tenants were queried twice", () => queries > 1);
  isUnreachable = false;
  await happened("a");
  stop.abort();
  t.strictSame(messages(), [
    "cannot read from Postgres which tenants are due; no run begins until it is available again",
  ]);
  ended.catch(() => undefined);
});

t.test("an alert is logged once when all tenants are suspended", async (t) => {
  let queries = 0;
  const { stop, ended, messages } = scheduled(1, {
    due: async () => {
      queries += 1;
      return [{ tenant_name: "a", due_in: 0, cut_off: false, delivered: false, suspended: true }];
    },
  });
  await until("due tenants were queried twice", () => queries > 1);
  stop.abort();
  await ended;
  t.strictSame(messages(), ["ALERT: All 1 tenant(s) have been permanently suspended"]);
});

t.test("the schedule works with real stores", async (t) => {
  const { config, stores, folder } = await openTestStores(t, shortTenants(["a", "b", "c"]));
  const { postgres } = stores;

  await t.test("tenants are due by interval, restart and lease", async (t) => {
    const names = ["never", "dead", "old", "before", "fresh", "cut", "again", "held", "stopped"];
    for (const name of names.slice(1))
      await postgres.query(
        "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ($1, $1, 'generic_metrics_only')",
        [name],
      );
    const run = async (name: string, started: string, ended: string | null) =>
      await postgres.query(
        `INSERT INTO runs (run_id, tenant_name, trigger, status, started_at, ended_at)
         VALUES (gen_random_uuid(), $1, 'schedule', $4, now() - $2::interval, now() - $3::interval)`,
        [name, started, ended, ended === null ? "running" : "completed"],
      );
    await run("dead", "80 minutes", null);
    await run("old", "70 minutes", "69 minutes");
    await run("before", "50 minutes", "49 minutes");
    await run("fresh", "40 minutes", "39 minutes");
    await run("cut", "30 minutes", "20 seconds");
    await run("again", "20 minutes", "0 seconds");
    await run("held", "10 minutes", null);
    await run("stopped", "5 minutes", "4 minutes");
    await postgres.query("UPDATE tenants SET runs_cut_off = 2 WHERE tenant_name = 'cut'");
    await postgres.query("UPDATE tenants SET runs_cut_off = 30 WHERE tenant_name = 'again'");
    await postgres.query("UPDATE tenants SET suspended_at = now() WHERE tenant_name = 'stopped'");
    await postgres.query("INSERT INTO leases VALUES ('held', 'x', 1, now() + interval '50 seconds')");
    const since = new Date(Date.now() - 45 * 60_000);
    const query = dueTenants({ tenantNames: names, intervalSeconds: 3600, since });
    const { rows } = await runStatement<DueTenant>(postgres, query);
    t.strictSame(
      rows.map(({ tenant_name, due_in, cut_off, suspended }) => [
        tenant_name,
        due_in <= 0 ? "now" : Math.ceil(due_in / 60),
        cut_off,
        suspended,
      ]),
      [
        ["never", "now", false, false],
        ["dead", "now", true, false],
        ["old", "now", false, false],
        ["before", "now", false, false],
        ["fresh", 20, false, false],
        ["cut", "now", true, false],
        ["again", 60, true, false],
        ["held", 1, true, false],
        ["stopped", 55, false, true],
      ],
    );
    await postgres.query("DELETE FROM tenants");
  });

  await t.test("usage that is uploaded by request makes its tenant due once", async (t) => {
    const names = ["api", "before", "folder", "past", "refused", "waiting"];
    const of = { tenantNames: names, intervalSeconds: 3600, since: new Date(0) };
    const due = async () =>
      (await runStatement<DueTenant>(postgres, dueTenants(of))).rows
        .map(({ tenant_name, due_in, delivered }) => `${tenant_name} ${Math.ceil(due_in / 60)} ${delivered}`)
        .sort();
    for (const name of names) {
      await postgres.query(
        "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ($1, $1, 'focus')",
        [name],
      );
      await postgres.query(
        `INSERT INTO runs (run_id, tenant_name, trigger, status, started_at, ended_at)
         VALUES (gen_random_uuid(), $1, 'schedule', 'completed', now() - interval '10 minutes', now() - interval '1 minute')`,
        [name],
      );
    }
    const uploaded = async (name: string, changes: Readonly<Record<string, string>> = {}) => {
      const upload = {
        tenant_name: name,
        idempotency_key: "a",
        origin: "api",
        state: "stored",
        content_digest: "d",
        days_to_recalculate: '["2026-05-31"]',
        ended_at: new Date(Date.now() - 5 * 60_000).toISOString(),
        ...changes,
      };
      const values = Object.keys(upload).map((_, at) => `$${at + 1}`);
      await postgres.query(
        `INSERT INTO usage_uploads (${Object.keys(upload).join(", ")}) VALUES (${values.join(", ")})`,
        Object.values(upload),
      );
    };
    await uploaded("api");
    await uploaded("api", {
      idempotency_key: "b",
      ended_at: new Date(Date.now() - 3_600_000).toISOString(),
    });
    await uploaded("before", { ended_at: new Date(Date.now() - 11 * 60_000).toISOString() });
    await uploaded("folder", { origin: "folder" });
    await uploaded("past", { days_to_recalculate: "[]" });
    await postgres.query(
      `INSERT INTO usage_uploads (tenant_name, idempotency_key, origin, state, problems, ended_at)
       VALUES ('refused', 'a', 'api', 'refused', '[{}]', now())`,
    );
    await postgres.query(
      "INSERT INTO usage_uploads (tenant_name, idempotency_key, origin, state) VALUES ('waiting', 'a', 'api', 'loading')",
    );
    const others = ["before", "folder", "past", "refused", "waiting"].map((name) => `${name} 50 false`);
    t.strictSame(await due(), ["api 0 true", ...others]);
    await postgres.query(
      `INSERT INTO runs (run_id, tenant_name, trigger, status, started_at, ended_at)
       VALUES (gen_random_uuid(), 'api', 'schedule', 'failed', now(), now())`,
    );
    t.strictSame(await due(), ["api 60 false", ...others], "whatever became of the run");
    await postgres.query("DELETE FROM usage_uploads");
    await postgres.query("DELETE FROM tenants");
  });

  await t.test(
    "a run during which Postgres is killed is repeated as soon as Postgres is back, not at its next due time",
    async (t) => {
      const stop = new AbortController();
      const events: string[] = [];
      const postmaster = () =>
        Number(readFileSync(join(folder, "data/postgres/postmaster.pid"), "utf8").split("\n")[0]);
      const worker = await createWorker({
        config: { ...config, features: { ...config.features, max_parallel_tenants: 1 } },
        stores,
        logger: testLogger,
        observers: [
          {
            began: (tenant) => events.push(`${tenant} begins`),
            gathered() {
              if (events.length > 1) return;
              events.push("Postgres is killed");
              process.kill(postmaster(), "SIGKILL");
            },
            finished: (tenant, { status }) => events.push(`${tenant} ${status}`),
          },
        ],
        signal: stop.signal,
      });
      const ended = worker.repeat();
      await until(
        "all have completed",
        () => events.filter((event) => event.endsWith("completed")).length === 3,
        240,
      );
      stop.abort();
      await ended;
      t.strictSame(events, [
        "a begins",
        "Postgres is killed",
        "a failed",
        "b begins",
        "b completed",
        "c begins",
        "c completed",
        "a begins",
        "a completed",
      ]);
      t.strictSame(
        (await runRecords(stores, "a")).map(({ status }) => status),
        ["failed", "completed"],
      );
      const { rows } = await postgres.query("SELECT runs_cut_off FROM tenants");
      t.strictSame(rows, [{ runs_cut_off: 0 }, { runs_cut_off: 0 }, { runs_cut_off: 0 }]);
    },
  );
});
