/**
 * Runs of three ecosystems through a network that resets, truncates, duplicates, stalls and falsifies responses.
 * Everything that is published meanwhile matches the vendor's charges, and after the network has recovered, the ledgers
 * are as they would be without faults.
 */
import t from "tap";
import fc from "../property.js";
import { reconciled, runRecords, runRows } from "../runner/runs.js";
import { faultKinds, oddities, startFaultyProxy } from "./faulty-proxy.js";
import { charged, days, type SimulatedService, startSimulatedService, truth } from "./simulated-cloud.js";

const ROUNDS = 4;
/** Share of requests with a fault in each round. */
const SHARES = [0.5, 0.2, 0.08, 0.03];

/** All chargebacks, without times and ids, which differ from run to run. */
async function ledgerOf({ stores }: SimulatedService, tenantName: string): Promise<string[]> {
  const rows = await runRows<{ row: string }>(
    stores,
    tenantName,
    `SELECT toJSONString((day, timestamp, resource_id, product_type, identity_id, cost_type, allocation_method, allocation_detail, currency, toString(amount), provisional)) AS row
     FROM chargebacks ORDER BY row`,
  );
  return rows.map(({ row }) => row);
}

t.test("three ecosystems publish correct days through a failing network", async (t) => {
  const calm = await startSimulatedService(t);
  for (const tenant of calm.tenants) t.strictSame((await calm.run(tenant)).errors, []);

  await t.test(
    "owners of keys that become known one run later also get the costs of the first days",
    async (t) => {
      const service = await startSimulatedService(t);
      const [cloud] = service.tenants;
      service.cloud.setFaults([{ kind: "status", status: 503, match: "/api-keys" }]);
      await service.run();
      const unowned = async () => {
        const parts = "countIf(allocation_detail = 'owner_unknown') AS n FROM chargebacks";
        return Number((await runRows<{ n: string }>(service.stores, cloud, `SELECT ${parts}`))[0]?.n);
      };
      const before = await unowned();
      service.cloud.setFaults([]);
      await service.run();
      t.ok((await unowned()) < before, "some unallocated parts have an owner now");
      t.strictSame(
        await ledgerOf(service, cloud),
        await ledgerOf(calm, cloud),
        "the ledger is as without faults",
      );
    },
  );

  let share = 0;
  const [seed] = fc.sample(fc.integer({ min: 1, max: 2 ** 31 - 1 }), 1);
  const random = randomOf(seed ?? 1);
  const hit = new Map<string, number>();
  const drawn = { faults: 0, oddities: 0 };
  const draw = () => {
    const isHit = random() < share;
    const kind = isHit
      ? faultKinds[drawn.faults++ % faultKinds.length]
      : random() < 0.1
        ? oddities[drawn.oddities++ % oddities.length]
        : undefined;
    if (kind !== undefined) hit.set(kind, (hit.get(kind) ?? 0) + 1);
    return kind;
  };
  const service = await startSimulatedService(t, {
    through: (url) => startFaultyProxy(t, url, draw),
    settings: {
      allocation_retry_limit: 10,
      topic_attribution_retry_limit: 10,
      gather_failure_threshold: 100,
    },
  });
  const [cloud] = service.tenants;

  let failures = 0;
  for (let round = 0; round < ROUNDS; round++) {
    share = SHARES[round] ?? 0;
    await t.test(`round ${round + 1}: ${share * 100} % of the requests fail`, async (t) => {
      for (const tenant of service.tenants) {
        const { errors } = await service.run(tenant);
        failures += errors.length;
        const { off, staged } = await reconciled(service.stores, tenant);
        t.strictSame({ off, staged }, { off: [], staged: 0 }, `${tenant} adds up`);
      }
      const wanted = truth(service.cloud);
      const billed = await charged(service.stores, cloud, "billing");
      const published = new Set([...billed.keys()].map((key) => key.slice(0, 10)));
      const ofPublished = new Map([...wanted].filter(([key]) => published.has(key.slice(0, 10))));
      t.strictSame(billed, ofPublished, "each published day has its complete bill");
      t.strictSame(
        await charged(service.stores, cloud, "chargebacks"),
        ofPublished,
        "each published day is charged completely",
      );
    });
  }
  t.ok(failures > 0, `${failures} errors were recorded, seed ${seed}`);
  t.strictSame(
    [...faultKinds, ...oddities].filter((kind) => !hit.has(kind)),
    [],
    "every kind of fault occurred",
  );

  await t.test("after the network has recovered, the ledgers are as without faults", async (t) => {
    share = 0;
    for (const tenant of service.tenants) {
      const { errors, status } = await service.run(tenant);
      t.strictSame({ errors, status }, { errors: [], status: "completed" }, tenant);
      t.strictSame(await ledgerOf(service, tenant), await ledgerOf(calm, tenant), `the ledger of ${tenant}`);
      const records = await runRecords(service.stores, tenant);
      t.ok(
        records.every(({ ended_at }) => ended_at !== null),
        "all runs have ended",
      );
    }
    t.equal(new Set((await ledgerOf(service, cloud)).map((row) => row.slice(2, 12))).size, days.length);
  });
});

/** Returns pseudorandom numbers from 0 to 1 that depend only on the seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
