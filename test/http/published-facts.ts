/** Publishes facts as a run would: the real engine allocates them. */
import { calculateDays, unallocate } from "../../src/allocate/calculate.js";
import { chargebackLedger } from "../../src/allocate/ledger.js";
import { type RuleSet, storeRuleSet } from "../../src/allocate/rules.js";
import { claimStaging, stagedTable } from "../../src/clickhouse/staging.js";
import type { FactTable } from "../../src/domain/fact-tables.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import type { RefereeInput } from "../allocate/referee.js";
import { stageInput, variedRuleSet } from "../allocate/staged-days.js";
import { sumUp } from "../sum-up.js";
import { recordTestDimensions } from "../tags/tagging.js";

const shown: readonly FactTable[] = ["billing", "usage", "identity_sets", "usage_gaps", "chargebacks"];

export interface PublishedFacts extends Omit<RefereeInput, "rules"> {
  readonly provisional?: readonly string[];
  /** Marks days as given up, as if their calculation had failed too often. */
  readonly givenUp?: boolean;
  /** Columns that `staged-days.ts` does not have. */
  readonly rules?: RuleSet;
}

/** Replaces the rows of the tenant. */
export async function publishFacts(
  stores: OpenedStores,
  tenant: string,
  epoch: number,
  { provisional = [], givenUp = false, rules = variedRuleSet, ...input }: PublishedFacts,
): Promise<void> {
  const { client } = await stores.tenant(tenant);
  await claimStaging(client, epoch);
  // A day that is not in the input may be staged from an earlier call.
  for (const table of shown) await client.command({ query: `TRUNCATE TABLE ${stagedTable(table, epoch)}` });
  await storeRuleSet(client, rules);
  await stageInput(client, epoch, input);
  const calculate = givenUp ? unallocate : calculateDays;
  await calculate(
    {
      ledger: chargebackLedger,
      client,
      epoch,
      rules,
      decimalPlaces: input.decimalPlaces,
      marks: new Map(provisional.map((day) => [day, { provisional: true, revision: "" }])),
      signal: new AbortController().signal,
      maxMemoryBytes: 2 ** 30,
    },
    [...new Set(input.lines.map(({ day }) => day))],
  );
  for (const table of shown) {
    await client.command({ query: `TRUNCATE TABLE ${table}` });
    await client.command({ query: `INSERT INTO ${table} SELECT * FROM ${stagedTable(table, epoch)}` });
  }
  await sumUp(client);
  await recordTestDimensions(stores, tenant);
}

/** Inserts a row for each split with the path of its explanation, whatever its identity is. */
export interface PublishedSplit {
  readonly name: string;
  readonly path: string;
  readonly method: string;
}

export async function splitRows(
  stores: OpenedStores,
  tenant: string,
  onePer = "day, resource_id, product_type, timestamp, component, currency",
): Promise<PublishedSplit[]> {
  const { client } = await stores.tenant(tenant);
  const found = await client.query({
    query: `
SELECT toString(dimension_id) AS id, toString(day) AS day, formatDateTime(timestamp, '%FT%TZ', 'UTC') AS timestamp, component, currency,
  allocation_method AS method, concat_ws(' ', product_type, method, allocation_detail, toString(amount), day, resource_id) AS name
FROM chargebacks INNER JOIN dimensions USING (ecosystem, tenant_id, env_id, resource_id, product_category, product_type, identity_id, cost_type)
ORDER BY cityHash64(identity_id, resource_id, day) LIMIT 1 BY ${onePer}`,
    format: "JSONEachRow",
  });
  const rows =
    await found.json<
      Record<"id" | "day" | "timestamp" | "component" | "currency" | "method" | "name", string>
    >();
  return rows.map(({ id, day, timestamp, component, currency, method, name }) => ({
    name,
    method,
    path: `/api/v1/tenants/${tenant}/chargebacks/${id}/explain?date=${day}&timestamp=${timestamp}&component=${component}&currency=${currency}`,
  }));
}
