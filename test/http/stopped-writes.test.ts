/**
 * A write whose response is 504 is not carried out later. A write that cannot be stopped any more returns its result.
 */
import t, { type Test } from "tap";
import { createWorker } from "../../src/cli/worker.js";
import { lockKey } from "../../src/postgres/advisory-lock.js";
import { dimensionIds, miscounted, recordTestDimensions, tag, writtenTags } from "../tags/tagging.js";
import { insertChargebacks, startService } from "./service.js";
import { eventually, postgresWaits } from "./store-processes.js";

const acme = "/api/v1/tenants/acme";
const identities = ["sa-1", "sa-2", "sa-3", "sa-4", "sa-5", "sa-6"];

t.test("a write that exceeds the time limit changes nothing", async (t) => {
  const service = await startService(t);
  const { stores, config, app, logger } = service;
  const { postgres } = stores;
  await insertChargebacks(
    stores,
    "acme",
    identities.map((identity_id) => ({ timestamp: "2026-03-01T00:00:00Z", amount: "1", identity_id })),
  );
  await recordTestDimensions(stores, "acme");
  const ids = await Promise.all(
    identities.map(async (each) => (await dimensionIds(stores, "acme", each))[0]),
  );
  const stop = new AbortController();
  const worker = await createWorker({ config, stores, logger, observers: [], signal: stop.signal });
  const end = async () => {
    stop.abort(new Error("the test is over"));
    await worker.settled();
  };
  t.teardown(end);
  const hasty = await service.build({
    config: { ...config, api: { ...config.api, request_timeout_seconds: 1 } },
    control: worker.control,
  });
  const tagged = async (at: number, name: string) => {
    const url = `${acme}/chargebacks/${ids[at]}/tags`;
    return (await app.inject({ method: "POST", url, payload: tag("team", name) })).json().tag_id;
  };
  const [renamed, deleted] = [await tagged(2, "old 2"), await tagged(3, "old 3")];
  // Each write has a label of its own, so that no commit waits for another.
  const as = (at: number) => tag("team", `new ${at}`);
  const writes = [
    ["POST", `/chargebacks/${ids[0]}/tags`, as(0), 201],
    ["PATCH", `/chargebacks/${ids[1]}`, { add_tags: [as(1)] }, 200],
    ["PATCH", `/tags/${renamed}`, { display_name: "new 2" }, 200],
    ["DELETE", `/tags/${deleted}`, undefined, 204],
    ["POST", "/tags/bulk", { ...as(4), dimension_ids: [ids[4]] }, 200],
    ["POST", "/tags/bulk-by-filter", { ...as(5), identity_id: "sa-6" }, 200],
  ] as const;
  const send = ([method, path, payload]: (typeof writes)[number], to = hasty) =>
    to.inject({ method, url: `${acme}${path}`, ...(payload && { payload }) });
  const before = [`${ids[2]} team=old 2`, `${ids[3]} team=old 3`].sort();
  /** Runs the function while another session holds the lock. */
  const held = async <T>(what: string, work: (release: () => Promise<unknown>) => Promise<T>): Promise<T> => {
    const holder = await postgres.connect();
    try {
      await holder.query("BEGIN");
      await holder.query(what);
      return await work(() => holder.query("ROLLBACK"));
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
  };
  const others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
  const count = async (sql: string) => (await postgres.query<{ n: number }>(sql)).rows[0]?.n;
  /**
   * Waits until a write that begins now exceeds the time limit, and with it every earlier write. The write waits for a
   * lock that nothing else here needs.
   */
  const timeIsUp = (t: Test) =>
    held(`SELECT pg_advisory_xact_lock(${lockKey(`dimension ${ids[1]} of acme`)})`, async () => {
      t.strictSame(codes([await send(writes[1])]), ["504 request_timeout"]);
    });
  const isQuiet = () =>
    eventually(
      "no statement runs",
      async () => (await count(`SELECT count(*) AS n ${others} AND state <> 'idle'`)) === 0,
    );

  for (const table of ["tags", "tag_labels"]) {
    await t.test(
      `504 while ${table} is locked: nothing is written then, or when the lock is gone`,
      async (t) => {
        const responses = await held(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`, () =>
          Promise.all(writes.map((write) => send(write))),
        );
        t.strictSame(codes(responses), Array(6).fill("504 request_timeout"));
        await isQuiet();
        t.strictSame(await writtenTags(stores, "acme"), before);
        t.strictSame(await miscounted(stores), []);
      },
    );
  }

  await t.test("a run whose record cannot be written in time is 504, and does not start later", async (t) => {
    const begin = async (to = hasty) => to.inject({ method: "POST", url: `${acme}/pipeline/run` });
    for (const table of ["tenants", "leases"]) {
      const response = await held(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`, () => begin());
      t.strictSame(codes([response]), ["504 request_timeout"], table);
      await isQuiet();
      t.equal(await count("SELECT count(*) AS n FROM runs"), 0);
      // The lock is released after the response.
      await eventually("nobody has the tenant", async () => (await count(LEASES)) === 0);
    }
    await postgres.query(waiting("runs", "BEFORE INSERT ON runs"));
    const responses = await held(HOLD, async (release) => {
      const late = begin();
      await eventually("the record is written", async () => (await postgresWaits(postgres)) === 1);
      await timeIsUp(t);
      await release();
      return [await late];
    });
    t.strictSame(codes(responses), ["202 undefined"]);
    t.strictSame(
      (await postgres.query("SELECT run_id FROM runs")).rows,
      responses.map((response) => ({ run_id: response.json().run_id })),
    );
    // Otherwise the run would keep calling an upstream that does not exist.
    await end();
  });

  await t.test("a write that is being committed when the time is up returns its result", async (t) => {
    await postgres.query(waiting("tags", "AFTER INSERT ON tags DEFERRABLE INITIALLY DEFERRED", "CONSTRAINT"));
    const status = await held(HOLD, async (release) => {
      const late = send(writes[0]);
      const committing = `SELECT count(*) AS n ${others} AND query = 'COMMIT' AND wait_event_type = 'Lock'`;
      await eventually("it commits", async () => (await count(committing)) === 1);
      await timeIsUp(t);
      await release();
      return (await late).statusCode;
    });
    t.equal(status, 201);
    t.strictSame(await writtenTags(stores, "acme"), [...before, `${ids[0]} team=new 0`].sort());
    t.strictSame(await miscounted(stores), []);
  });
});

const LEASES = "SELECT count(*) AS n FROM leases WHERE expires_at > now()";
const HOLD = "SELECT pg_advisory_xact_lock(4711)";

/** A trigger that waits for the session that holds HOLD. */
function waiting(table: string, when: string, kind = ""): string {
  return `CREATE FUNCTION wait_of_${table}() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NEW; END';
    CREATE ${kind} TRIGGER wait_of_${table} ${when} FOR EACH ROW EXECUTE FUNCTION wait_of_${table}()`;
}

function codes(responses: readonly { statusCode: number; body: string }[]): string[] {
  return responses.map(({ statusCode, body }) => `${statusCode} ${body === "" ? "" : JSON.parse(body).code}`);
}
