/** Hazards of sums and of unlimited requests: figures that disagree, and a request that blocks all others. */
import t from "tap";
import { holds } from "../holds.js";
import { get, insertChargebacks, type Service, startService } from "../http/service.js";
import fc, { seedOf } from "../property.js";
import { recordTestDimensions, sendTagRequest } from "../tags/tagging.js";

const rows = "/api/v1/tenants/acme/chargebacks";
const groups = [
  "identity_id",
  "resource_id",
  "product_type",
  "product_category",
  "cost_type",
  "allocation_method",
  "environment_id",
];
const TICK = 10n ** 12n;

/** A decimal as text in units of 1e-12. */
function units(text: string): bigint {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  const size = BigInt(whole) * TICK + BigInt(fraction.padEnd(12, "0"));
  return text.startsWith("-") ? -size : size;
}

const sum = (amounts: readonly string[]) => amounts.reduce((total, amount) => total + units(amount), 0n);

t.test("all figures about the same rows agree", async (t) => {
  const service = await startService(t);
  const { app } = service;
  await fill(service, 400);

  await t.test(
    "totals, buckets and listed rows have the same sum, whatever the filters, the grouping and the time zone",
    async (t) => {
      const filter = fc.record(
        {
          identity_id: fc.constantFrom("sa-0", "sa-1", "nobody"),
          resource_id: fc.constantFrom("r-0", "r-1"),
          product_type: fc.constantFrom("STORAGE", "NETWORK"),
          cost_type: fc.constantFrom("usage", "shared"),
          timezone: fc.constantFrom("America/Denver", "Asia/Kathmandu", "Pacific/Kiritimati"),
          start_date: fc.constantFrom("2026-03-01", "2026-03-07"),
          end_date: fc.constantFrom("2026-03-08", "2026-03-09"),
        },
        { requiredKeys: [] },
      );
      const grouping = fc.subarray(groups, { minLength: 1 });
      const bucket = fc.constantFrom("hour", "day", "week", "month");
      await fc.assert(
        fc.asyncProperty(filter, grouping, bucket, async (filters, group_by, time_bucket) => {
          const query = new URLSearchParams(filters);
          const list = (await get(app, `${rows}?page_size=1000&${query}`)).body;
          for (const column of group_by) query.append("group_by", column);
          const sums = (await get(app, `${rows}/aggregate?time_bucket=${time_bucket}&${query}`)).body;
          const items: { amount: string; cost_type: string }[] = list.items;
          const amounts = (type?: string) =>
            items.filter((item) => type === undefined || item.cost_type === type).map(({ amount }) => amount);
          t.equal(sums.total_rows, list.total);
          for (const [field, listed] of [
            ["total_amount", amounts()],
            ["usage_amount", amounts("usage")],
            ["shared_amount", amounts("shared")],
            ["passed_amount", amounts("passed")],
          ] as const) {
            t.equal(units(sums[field]), sum(listed), field);
            t.equal(
              sum(sums.buckets.map((each: Record<string, string>) => each[field])),
              sum(listed),
              `${field} of the buckets`,
            );
          }
          t.equal(
            sums.buckets.reduce((total: number, each: { row_count: number }) => total + each.row_count, 0),
            list.total,
          );
        }),
        { numRuns: 40, seed: seedOf(t, 20260310) },
      );
    },
  );

  await t.test("an aggregation of no rows by several columns is empty", async (t) => {
    for (const query of groups.map(
      (column) => `group_by=${column}&group_by=resource_id&group_by=identity_id`,
    )) {
      const { status, body } = await get(
        app,
        `/api/v1/tenants/globex/chargebacks/aggregate?time_bucket=hour&${query}`,
      );
      holds(t, [status, body], [200, { buckets: [], total_amount: "0", total_rows: 0 }], query);
    }
  });
});

t.test("tagging everything does not block other requests", async (t) => {
  const service = await startService(t);
  const { app } = service;
  const MANY = 12_000;
  await fill(service, MANY, MANY);
  await recordTestDimensions(service.stores, "acme");

  await t.test(
    "one request tags more dimensions than a page or a list of ids can have, and other requests are served meanwhile",
    async (t) => {
      let responded = 0;
      let done = false;
      const tagging = sendTagRequest(app, "POST", "acme/tags/bulk-by-filter", {
        tag_key: "all",
        display_name: "All",
        created_by: "ada",
      }).finally(() => {
        done = true;
      });
      while (!done) {
        t.equal((await get(app, "/health")).status, 200);
        if (!done) responded += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
      t.same((await tagging).body, { created_count: MANY, updated_count: 0, skipped_count: 0, errors: [] });
      t.ok(responded > 10, `${responded} requests got a response while it ran`);
    },
  );
});

/** Rows of `count` identities on nine days, with amounts from 1e-12 to 1e9. */
async function fill({ stores }: Service, count: number, identities = 3): Promise<void> {
  const all = Array.from({ length: count }, (_, index) => ({
    timestamp: `2026-03-0${1 + (index % 9)}T${String(index % 24).padStart(2, "0")}:30:00Z`,
    amount: `${index % 4 === 0 ? "-" : ""}${10 ** (index % 10)}.${String(index * 7919).padStart(12, "0")}`,
    identity_id: `sa-${index % identities}`,
    resource_id: `r-${index % 4}`,
    env_id: index % 5 === 0 ? "" : `env-${index % 2}`,
    product_type: index % 3 === 0 ? "NETWORK" : "STORAGE",
    cost_type: index % 7 < 3 ? ("shared" as const) : ("usage" as const),
  }));
  await insertChargebacks(stores, "acme", all);
}
