/**
 * Confluent Cloud from the vendor's bill to the ledgers, with a self-managed cluster and a metered system: every amount
 * is compared with what the simulated vendor charges.
 */
import t from "tap";
import { twinned } from "../../src/clickhouse/staging.js";
import { decimalText } from "../../src/common/exact-decimal.js";
import { malformedKinds } from "../../src/simulator/confluent/malformed.js";
import { holds } from "../holds.js";
import { reconciled, runRows, type Test } from "../runner/runs.js";
import {
  changedDays,
  charged,
  days,
  fingerprint,
  type SimulatedService,
  settleParts,
  stagingTables,
  startSimulatedService,
  truth,
} from "./simulated-cloud.js";

const DOLLAR = 1_000_000_000_000n;

/** Product types that are attributed to topics by default. */
const ATTRIBUTED: ReadonlySet<string> = new Set([
  "KAFKA_NETWORK_READ",
  "KAFKA_NETWORK_WRITE",
  "KAFKA_NUM_CKUS",
  "KAFKA_STORAGE",
  "KAFKA_PARTITION",
  "KAFKA_BASE",
]);

const total = (amounts: ReadonlyMap<string, bigint>) => [...amounts.values()].reduce((a, b) => a + b, 0n);

/** Bill, chargebacks and attributions match the vendor's charges on every day and for every resource. */
async function conserves(t: Test, { cloud, stores, tenants: [name] }: SimulatedService): Promise<void> {
  const wanted = truth(cloud);
  t.same(await charged(stores, name, "billing"), wanted, "the bill");
  t.same(await charged(stores, name, "chargebacks"), wanted, "chargebacks");
  const ofTopics = truth(cloud, (type) => ATTRIBUTED.has(type));
  t.same(await charged(stores, name, "topic_attributions"), ofTopics, "attributions to topics");
  holds(t, await reconciled(stores, name), { off: [], staged: 0 });
}

t.test("the ledgers of three ecosystems match their bills", async (t) => {
  const service = await startSimulatedService(t);
  const { cloud, stores, run, tenants } = service;
  const [name, ...others] = tenants;
  const { bill } = cloud;
  // The bill is requested with two queries. The third day is the first one of the second query.
  const [, old = "", third = "", , late = "", newest = ""] = days;
  const line = (day: string, lineType: string) => {
    const row = bill.rows(day).find(({ charge }) => charge.lineType === lineType);
    const resource = row?.charge.resource?.id;
    if (resource === undefined) throw new Error(`nothing is billed as ${lineType} on ${day}`);
    return { day, lineType, resource };
  };

  await t.test("429s, truncated responses and broken connections do no harm", async (t) => {
    cloud.setFaults([
      { kind: "rate_limited", match: "/billing/", times: 1, header: "x-ratelimit-reset", seconds: 0 },
      { kind: "truncated", match: "/billing/", times: 1, after: 1 },
      { kind: "reset", midway: true, match: "/api-keys", times: 1 },
      { kind: "status", status: 503, match: "/connect/", times: 2 },
      { kind: "rate_limited", match: "/sql/", times: 1, seconds: 0 },
    ]);
    cloud.metrics.setFaults([
      { kind: "truncated", match: "request_bytes", times: 1 },
      { kind: "status", status: 429, match: "num_cfu", times: 1, headers: { "retry-after": "0" } },
    ]);
    t.same(await run(), { status: "completed", errors: [], published: days });
    cloud.setFaults([]);
    cloud.metrics.setFaults([]);
  });

  await t.test("every day of every tenant adds up to the last digit", async (t) => {
    t.ok(total(truth(cloud)) > 1000n * DOLLAR);
    await conserves(t, service);
    for (const other of others) {
      t.same(await run(other), { status: "completed", errors: [], published: days });
      holds(t, await reconciled(stores, other), { days: days.length, off: [], staged: 0 });
    }
  });

  await t.test("three refreshes of an unchanged upstream change nothing", async (t) => {
    const before = new Map<string, ReadonlyMap<string, string>>();
    for (const tenant of tenants) {
      await settleParts(stores, tenant);
      before.set(tenant, await fingerprint(stores, tenant));
    }
    const untouched = await stagingTables(stores, name);
    t.equal(new Set(untouched).size, twinned.length);
    for (let refresh = 1; refresh <= 3; refresh += 1) {
      const outcomes = await Promise.all(tenants.map(run));
      t.same(
        outcomes,
        tenants.map(() => ({ status: "completed", errors: [], published: [] })),
      );
    }
    for (const tenant of tenants) {
      t.ok((before.get(tenant)?.size ?? 0) >= 5 * days.length);
      t.same(await fingerprint(stores, tenant), before.get(tenant), tenant);
    }
    t.same(await stagingTables(stores, name), untouched, "nothing of an unchanged bill was staged");
  });

  await t.test(
    "a revised old line changes exactly its day, while other days wait for a failing endpoint",
    async (t) => {
      const before = await fingerprint(stores, name);
      const gone = line(late, "KAFKA_STORAGE");
      bill.setCorrections([
        { ...line(old, "KAFKA_NETWORK_WRITE"), kind: "revised", percent: 250 },
        { ...gone, kind: "withdrawn" },
        { day: newest, kind: "withdrawn" },
      ]);
      cloud.setFaults([{ kind: "status", status: 503, match: `start_date=${third}` }]);
      const outcome = await run();
      t.same(outcome.published, [old]);
      holds(t, outcome.errors, [/^costs of .*503/]);
      t.same(changedDays(before, await fingerprint(stores, name)), [old]);

      cloud.setFaults([{ kind: "status", status: 503, match: "/connect/" }]);
      const incomplete = await run();
      t.same(incomplete.published, [late], "a failing list does not delay a day");
      holds(t, incomplete.errors, [
        /^connectors/,
        /^the bill has lost most of its amount for \S+: the bill/,
        /^the chargebacks are provisional: the inventory is incomplete: connectors: 10 failures, the first: .*503/,
      ]);
      const { billing, chargebacks } = await publishedOn(newest);
      t.ok(billing > 0 && chargebacks > 0, "a waiting day is served unchanged");
      t.same(
        await Promise.all(others.map(run)),
        others.map(() => ({ status: "completed", errors: [], published: [] })),
      );

      cloud.setFaults([]);
      const settled = { status: "completed", errors: [], published: [late, newest] };
      t.same(await run(), settled, "both days are final");
      t.same(changedDays(before, await fingerprint(stores, name)), [old, late, newest]);
      t.notOk(truth(cloud, (type) => type === gone.lineType).has(`${late} ${gone.resource}`));
      t.same(await publishedOn(newest), { billing: 0, chargebacks: 0 }, "a day without lines is removed");
      await conserves(t, service);
    },
  );

  async function publishedOn(day: string): Promise<{ billing: number; chargebacks: number }> {
    const count = async (table: string) =>
      (await runRows(stores, name, `SELECT 1 FROM ${table} WHERE day = '${day}'`)).length;
    return { billing: await count("billing"), chargebacks: await count("chargebacks") };
  }

  await t.test(
    "a list that the upstream always rejects causes no work once the days are final",
    async (t) => {
      cloud.setFaults([{ kind: "status", status: 403, match: "/connect/" }]);
      bill.setCorrections([{ ...line(old, "KAFKA_NETWORK_WRITE"), kind: "revised", percent: 300 }]);
      const published = [];
      for (let attempt = 1; attempt <= 3; attempt += 1) published.push((await run()).published);
      const changed = [old, late, newest];
      t.same(
        published,
        [changed, [], changed],
        "days are provisional at first, and final with the last attempt",
      );
      const [before, untouched] = [await fingerprint(stores, name), await stagingTables(stores, name)];
      const { status, errors, published: none } = await run();
      t.same([status, none], ["completed_with_errors", []]);
      holds(t, errors, [/^connectors: 10 failures, the first: .*403/]);
      t.same(await fingerprint(stores, name), before);
      t.same(await stagingTables(stores, name), untouched, "nothing was staged");
      cloud.setFaults([]);
    },
  );

  await t.test("unreadable rows are stored, and charged to UNALLOCATED", async (t) => {
    bill.setCorrections([]);
    bill.setMalformed(malformedKinds);
    t.same(await run(), { status: "completed", errors: [], published: days });
    const malformed = "product_type = 'MALFORMED'";
    const reasons = await runRows<{ why: string }>(
      stores,
      name,
      `SELECT DISTINCT JSONExtractString(metadata, 'parse_error') AS why FROM billing WHERE ${malformed} ORDER BY why`,
    );
    t.same(
      reasons.map(({ why }) => why),
      [
        "amount is not a number; start_date is missing; start_date is not a date",
        "environment is not an object",
        "resource is not an object",
        "the row is not an object",
      ],
    );
    const charges = await runRows(
      stores,
      name,
      `SELECT identity_id AS who, allocation_detail AS why, toString(sum(amount)) AS amount
       FROM chargebacks WHERE ${malformed} GROUP BY ALL`,
    );
    // Seven malformed kinds have a readable cost of 1.25 each. Three more kinds are unusual, but valid.
    const dollars = (kinds: number) => (BigInt(kinds * days.length) * DOLLAR * 5n) / 4n;
    t.same(charges, [{ who: "UNALLOCATED", why: "allocation_failed", amount: decimalText(dollars(7), 12) }]);
    t.equal(total(await charged(stores, name, "chargebacks")), total(truth(cloud)) + dollars(10));
    holds(t, await reconciled(stores, name), { days: days.length, off: [], staged: 0 });
  });

  await t.test("deleting objects today does not change earlier days", async (t) => {
    await settleParts(stores, name);
    const before = await fingerprint(stores, name);
    const { clusters, connectors, identities, keys, pools, ksqldb } = cloud.organisation;
    const things = [
      clusters[0],
      connectors[0],
      connectors[1],
      identities[0],
      identities[3],
      keys[0],
      pools[0],
      ksqldb[0],
    ];
    const statements = pools[1]?.statements.map(({ uid }) => uid) ?? [];
    const ids = [...things.map((thing) => thing?.id ?? ""), ...statements];
    cloud.setGone(ids);
    t.same(await run(), { status: "completed", errors: [], published: [] });
    const { rows } = await stores.postgres.query<{ id: string }>(
      `SELECT resource_id AS id FROM resources WHERE tenant_name = $1 AND deleted_at > now() - interval '1 day'
       UNION SELECT identity_id FROM identities WHERE tenant_name = $1 AND deleted_at > now() - interval '1 day'`,
      [name],
    );
    const known = new Set(rows.map(({ id }) => id));
    t.same(
      ids.filter((id) => !known.has(id)),
      [],
      "all of them are recorded as deleted",
    );
    t.same(await fingerprint(stores, name), before);
  });
});
