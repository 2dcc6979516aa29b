/** Equal requests that arrive together are answered by one statement. */
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import { createSingleFlight } from "../../src/common/single-flight.js";
import { createServiceMetrics } from "../../src/http/metrics.js";
import { insertChargebacks, startService } from "./service.js";
import { clickHouseReads, eventually } from "./store-processes.js";

const NEVER = new AbortController().signal;

t.test(
  "who comes while the work is in progress gets its result, and who comes later begins anew",
  async (t) => {
    const flights = createSingleFlight<number>();
    const begun: Resolvers<number>[] = [];
    const work = () => {
      const each = withResolvers<number>();
      begun.push(each);
      return each.promise;
    };
    const together = [
      flights.of("a", NEVER, work),
      flights.of("a", NEVER, work),
      flights.of("b", NEVER, work),
    ];
    t.equal(begun.length, 2, "one for each key");
    begun[0]?.resolve(1);
    begun[1]?.resolve(2);
    t.strictSame(await Promise.all(together), [1, 1, 2]);
    const later = flights.of("a", NEVER, work);
    t.equal(begun.length, 3);
    begun[2]?.resolve(3);
    t.equal(await later, 3);
  },
);

t.test("an error reaches those who wait, and the next request begins anew", async (t) => {
  const flights = createSingleFlight<number>();
  const failing = withResolvers<number>();
  const together = [1, 2].map(() => flights.of("a", NEVER, () => failing.promise));
  failing.reject(new Error("broken"));
  t.strictSame(
    (await Promise.allSettled(together)).map((each) => each.status === "rejected" && String(each.reason)),
    ["Error: broken", "Error: broken"],
  );
  t.equal(await flights.of("a", NEVER, async () => 5), 5);
});

t.test("work goes on while anybody waits, and stops with the last one", async (t) => {
  const flights = createSingleFlight<number>();
  const [first, second] = [new AbortController(), new AbortController()];
  const slow = withResolvers<number>();
  let signalOfWork = NEVER;
  const work = (signal: AbortSignal) => {
    signalOfWork = signal;
    return slow.promise;
  };
  const outcomes = Promise.allSettled([
    flights.of("a", first.signal, work),
    flights.of("a", second.signal, work),
  ]);
  first.abort(new Error("first left"));
  await turn();
  t.equal(
    await flights.of("a", NEVER, async () => 6),
    6,
    "no further request joins work that somebody gave up",
  );
  t.equal(signalOfWork.aborted, false);
  second.abort(new Error("second left"));
  t.strictSame(
    (await outcomes).map((each) => each.status === "rejected" && String(each.reason)),
    ["Error: first left", "Error: second left"],
  );
  t.equal(String(signalOfWork.reason), "Error: second left");
  slow.reject(new Error("stopped"));
});

t.test("over HTTP, one statement answers equal requests, also if the first client leaves", async (t) => {
  const service = await startService(t);
  const { stores } = service;
  const metrics = createServiceMetrics();
  const app = await service.build({ metrics });
  const url = `${await app.listen({ host: "127.0.0.1", port: 0 })}/api/v1/tenants/acme/chargebacks`;
  const { client } = await stores.tenant("acme");
  await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1.5" }]);
  await stores.postgres.query(
    "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only') ON CONFLICT DO NOTHING",
  );
  await stores.postgres.query(
    "INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, published_hash) VALUES ('acme', '2026-03-01', true, 'a')",
  );
  const hide = () => client.command({ query: "RENAME TABLE chargebacks TO chargebacks_stored" });
  const show = async () => {
    await client.command({ query: "DROP VIEW IF EXISTS chargebacks" });
    await client.command({ query: "RENAME TABLE chargebacks_stored TO chargebacks" });
  };
  const path = `${url}/aggregate?group_by=identity_id&group_by=product_type&group_by=cost_type`;
  const running = async () =>
    (await metrics.heavyReads.get()).values.find(({ labels }) => labels.state === "running")?.value;
  await t.test("the first client leaves", async (t) => {
    await hide();
    await client.command({
      query: `CREATE VIEW chargebacks AS SELECT c.* FROM (SELECT number FROM system.numbers WHERE sleep(0.1) = 0 LIMIT 30 SETTINGS max_block_size = 1) AS n
        CROSS JOIN chargebacks_stored AS c WHERE n.number = 0`,
    });
    const gone = new AbortController();
    const first = fetch(path, { signal: gone.signal });
    await eventually("a statement runs", async () => (await clickHouseReads(client, "chargebacks")) > 0);
    const others = [fetch(path), fetch(path), fetch(path)];
    const different = fetch(`${path}&cost_type=usage`);
    await eventually("two run", async () => (await clickHouseReads(client, "chargebacks")) === 2);
    t.equal(await running(), 2, "one for the first and its equals");
    gone.abort();
    await t.rejects(first, { name: "AbortError" });
    const bodies = await Promise.all(
      [...others, different].map(async (each) => (await (await each).json()) as Record<string, unknown>),
    );
    t.strictSame(
      bodies.map(({ total_amount, total_rows }) => [total_amount, total_rows]),
      bodies.map(() => ["1.5", 1]),
    );
    await show();
  });
  await t.test("an error is not cached", async (t) => {
    await hide();
    const other = `${path}&identity_id=sa-1`;
    const failed = await Promise.all([fetch(other), fetch(other)]);
    t.strictSame(
      failed.map(({ status }) => status),
      [500, 500],
    );
    const ids = await Promise.all(
      failed.map(async (each) => ((await each.json()) as { error_id: string }).error_id),
    );
    t.equal(new Set(ids).size, 2, "each response names its own line of the log");
    await show();
    t.equal((await fetch(other)).status, 200);
  });
});

interface Resolvers<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: Error) => void;
}

/** Node 20 has no `Promise.withResolvers`. */
function withResolvers<Value>(): Resolvers<Value> {
  let [resolve, reject]: [(value: Value) => void, (reason: Error) => void] = [
    () => undefined,
    () => undefined,
  ];
  const promise = new Promise<Value>((...both) => {
    [resolve, reject] = both;
  });
  return { promise, resolve, reject };
}
