/**
 * Benchmark of the explanation of a row that 10,000 identities share, compared with the engine's plain read of the
 * facts behind it.
 */
import { calculateDays } from "../src/allocate/calculate.js";
import { chargebackLedger } from "../src/allocate/ledger.js";
import { storeRuleSet } from "../src/allocate/rules.js";
import { claimStaging, stagedTable } from "../src/clickhouse/staging.js";
import { readRows } from "../src/clickhouse/statement.js";
import type { FactTable } from "../src/domain/fact-tables.js";
import type { TenantStore } from "../src/stores/stores.js";
import { recordTestDimensions } from "../test/tags/tagging.js";
import { countRows, settle } from "./dataset.js";
import { readAll } from "./http-client.js";
import { type Figure, medianMs, medianPairMs } from "./measure.js";
import { passingRules } from "./rules.js";
import { startBenchService, WARM_UP } from "./service.js";
import type { TagBench } from "./tags.js";

/** The tenant whose amounts are explained. */
export const explainedTenant = "bench_explain";

const DAY = "2026-01-01";
const IDENTITIES = 10_000;
const HOURS = 24;
const RESOURCES = 10;
/** A step passes its costs on. */
const EMPTIED = `sa-${IDENTITIES - 1}`;
const ASKED = { resource: "lkc-3", product: "PRODUCT_00", metric: "metric_0" } as const;
const TARGET = { at: "most", value: 50 } as const;

/** Reads sums by identity, and their published amounts. */
const plainRead = `
SELECT count(), sum(weight), sum(amount) FROM (
  SELECT identity_id, sum(micro_units) AS weight FROM usage
  WHERE day = '${DAY}' AND metric = '${ASKED.metric}' AND resource_id = '${ASKED.resource}' GROUP BY identity_id
) AS w INNER JOIN (
  SELECT identity_id, amount_hi + amount_lo AS amount FROM chargebacks
  WHERE day = '${DAY}' AND resource_id = '${ASKED.resource}' AND product_type = '${ASKED.product}'
) AS p USING (identity_id)`;

export async function benchExplain({ stores, folder, repeat, say }: TagBench): Promise<Figure[]> {
  const store = await stores.tenant(explainedTenant);
  const { client, tenantName } = store;
  if ((await countRows(client, "chargebacks")) === 0) {
    say("explain: making facts");
    await makeFacts(store);
    await recordTestDimensions(stores, tenantName);
    await settle(client);
  }
  const dimensionsOf = async (condition: string) => {
    const query = `SELECT dimension_id AS id FROM dimensions WHERE resource_id = '${ASKED.resource}' AND ${condition} ORDER BY identity_id = 'sa-5000' DESC, identity_id LIMIT ${1 + WARM_UP}`;
    return await readRows<{ id: number }>(client, { query, params: {} });
  };
  const [dimension, ...others] = await dimensionsOf("cost_type != 'passed'");
  const [passedOn] = await dimensionsOf("cost_type = 'passed'");
  const service = await startBenchService(stores, store, folder);
  try {
    const rowOf = (id: number | undefined) => `${service.url}/api/v1/tenants/${tenantName}/chargebacks/${id}`;
    for (const { id } of others) await readAll(`${rowOf(id)}/explain?date=${DAY}`);
    const row = rowOf(dimension?.id);
    const own = () => readAll(`${row}/explain?date=${DAY}`);
    const [http, plain] = await medianPairMs(repeat, own, () =>
      readRows(client, { query: plainRead, params: {} }),
    );
    const [passed, beside] = await medianPairMs(
      repeat,
      () => readAll(`${rowOf(passedOn?.id)}/explain?date=${DAY}`),
      own,
    );
    const figure = (name: string, value: number, more: Partial<Figure> = {}): Figure => ({
      benchmark: "explain",
      name,
      value,
      unit: "ms",
      ...more,
    });
    return [
      figure("10,000 recipients: HTTP", http, {
        target: TARGET,
        note: `page of 100, after ${WARM_UP} of others`,
      }),
      figure("10,000 recipients: SQL", plain, { note: "weights and published amounts" }),
      figure("10,000 recipients: HTTP / SQL", http / plain, { unit: "ratio" }),
      figure("10,000 recipients, passed on: HTTP", passed),
      figure("passed on / by a rule", passed / beside, {
        unit: "ratio",
        target: { at: "most", value: 1.5 },
        note: "both over HTTP",
      }),
      figure("one dimension: HTTP", await medianMs(repeat, () => readAll(row))),
      figure("SELECT 1", await medianMs(repeat, () => readRows(client, { query: "SELECT 1", params: {} }))),
    ];
  } finally {
    await service.stop();
  }
}

/** Makes one line per resource, and one fact for each of its hours and identities. */
async function makeFacts({ client, tenantId, ecosystem }: TenantStore): Promise<void> {
  const epoch = 1;
  await claimStaging(client, epoch);
  const rules = passingRules(EMPTIED);
  await storeRuleSet(client, rules);
  await client.command({
    query: `
INSERT INTO ${stagedTable("billing", epoch)} (timestamp, ecosystem, tenant_id, resource_id, product_category, product_type, quantity, unit_price,
  total_cost, currency, granularity, metadata)
SELECT toDateTime('${DAY} 00:00:00', 'UTC'), '${ecosystem}', '${tenantId}', concat('lkc-', toString(number)), 'KAFKA', '${ASKED.product}', 1, 1,
  toDecimal128('12345.678901234567', 12), 'USD', 'daily', '{}'
FROM numbers(${RESOURCES})`,
  });
  await client.command({
    query: `
INSERT INTO ${stagedTable("usage", epoch)} (timestamp, metric, resource_id, identity_id, micro_units)
SELECT toDateTime('${DAY} 00:00:00', 'UTC') + INTERVAL number % ${HOURS} HOUR, '${ASKED.metric}', concat('lkc-', toString(intDiv(number, ${HOURS * IDENTITIES}))),
  concat('sa-', toString(intDiv(number, ${HOURS}) % ${IDENTITIES})), 1 + cityHash64(number) % 100000000000
FROM numbers(${RESOURCES * IDENTITIES * HOURS})`,
  });
  const calculation = { ledger: chargebackLedger, client, epoch, rules, decimalPlaces: 4 };
  const limits = { signal: new AbortController().signal, maxMemoryBytes: 2 ** 31 };
  await calculateDays({ ...calculation, ...limits }, [DAY]);
  for (const table of ["billing", "usage", "chargebacks"] as const satisfies FactTable[])
    await client.command({ query: `INSERT INTO ${table} SELECT * FROM ${stagedTable(table, epoch)}` });
}
