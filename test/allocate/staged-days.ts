import type { ClickHouseClient } from "@clickhouse/client";
import { buildRuleSet, type RuleSet } from "../../src/allocate/rules.js";
import { stagedTable } from "../../src/clickhouse/staging.js";
import type { AllocationRule } from "../../src/domain/allocation-rule.js";
import { type OtherCost, otherCosts } from "../../src/domain/other-costs.js";
import type { RefereeInput, RefereeLine, RefereeRow } from "./referee.js";

/** Writes the reference's input to the staging tables, and reads the allocated rows in the reference's form. */

export const unit = 10n ** 12n;

/** Formats 1e-12 units as a plain decimal. */
export function scaledText(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(13, "0");
  return `${units < 0n ? "-" : ""}${digits.slice(0, -12)}.${digits.slice(-12)}`;
}

/** Converts a plain decimal to 1e-12 units. */
export function decimalUnits(text: string): bigint {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  const units = BigInt(whole) * unit + BigInt(fraction.padEnd(12, "0"));
  return text.startsWith("-") ? -units : units;
}

/** Parses `10.5 EUR, 3 USD` to units by currency. */
export function amountsOf(text: string): [currency: string, units: bigint][] {
  if (text === "") return [];
  return text.split(", ").map((each) => {
    const [amount = "", currency = ""] = each.split(" ");
    return [currency, decimalUnits(amount)];
  });
}

/** By currency, ascending. */
export function sums(amounts: readonly (readonly [currency: string, units: bigint])[]): string[] {
  const found = new Map<string, bigint>();
  for (const [currency, units] of amounts) found.set(currency, (found.get(currency) ?? 0n) + units);
  return [...found].map(([currency, units]) => `${currency} ${scaledText(units)}`).sort();
}

/** Rules with every kind of tier, two components, and a set of two metrics. */
const variedRules: readonly AllocationRule[] = [
  {
    product_type: "NETWORK",
    components: [
      {
        ratio: "1",
        tiers: [
          { kind: "usage", metrics: ["bytes_in"], detail: "usage_ratio_allocation" },
          {
            kind: "even",
            scopes: ["resource_active", "metrics_derived"],
            of: "resource",
            detail: "no_metrics_located",
          },
          { kind: "even", scopes: ["tenant_period"], of: "tenant", detail: "no_active_identities_located" },
          { kind: "terminal", detail: "no_identities_located" },
        ],
      },
    ],
  },
  {
    product_type: "CKU",
    components: [
      {
        ratio: "0.7",
        tiers: [
          { kind: "usage", metrics: ["bytes_in", "bytes_out"], detail: "usage_ratio_allocation" },
          {
            kind: "even",
            scopes: ["resource_active"],
            of: "resource",
            detail: "no_usage_for_active_identities",
          },
          { kind: "terminal", detail: "no_identities_located" },
        ],
      },
      {
        ratio: "0.3",
        tiers: [
          { kind: "even", scopes: ["resource_active"], of: "resource", detail: "shared_by_design" },
          { kind: "terminal", detail: "no_identities_located" },
        ],
      },
    ],
  },
  {
    product_type: "CONNECTOR",
    components: [
      {
        ratio: "1",
        tiers: [
          { kind: "owner", detail: "direct_owner_allocation" },
          { kind: "terminal", detail: "owner_unknown" },
        ],
      },
    ],
  },
];

export const variedRuleSet: RuleSet = buildRuleSet(variedRules);

type StagedInput = Omit<RefereeInput, "rules" | "decimalPlaces" | "lines"> & {
  readonly lines: readonly (RefereeLine & {
    readonly tags?: Readonly<Record<string, string>>;
  })[];
};

/** Each weight is measured in `samples` consecutive samples. */
export async function stageInput(
  client: ClickHouseClient,
  epoch: number,
  input: StagedInput,
  { samples = 1 } = {},
) {
  const put = async (table: Parameters<typeof stagedTable>[0], values: Record<string, unknown>[]) => {
    await client.command({ query: `TRUNCATE TABLE ${stagedTable(table, epoch)}` });
    if (values.length > 0)
      await client.insert({ table: stagedTable(table, epoch), values, format: "JSONEachRow" });
  };
  await put(
    "billing",
    input.lines.map((line) => ({
      ...placeOfLine(line),
      ecosystem: "test",
      tenant_id: "t",
      resource_id: line.resource_id,
      product_category: line.product_category ?? "C",
      line_tags: line.tags ?? {},
      product_type: line.product_type,
      quantity: "1",
      unit_price: "1",
      total_cost: scaledText(line.cost),
      ...(line.others && otherTexts(line.others)),
      currency: line.currency,
      granularity: "daily",
      metadata: JSON.stringify({ zone: line.tags?.env ?? "" }),
    })),
  );
  await put(
    "usage",
    input.usage.flatMap(({ day, weight, ...fact }, i) =>
      samplesOf(weight, samples).map((sample, at) => ({
        timestamp: `${day} ${String((i + at) % 24).padStart(2, "0")}:00:00`,
        ...fact,
        micro_units: sample.toString(),
      })),
    ),
  );
  await put("identity_sets", [...input.sets]);
  await put(
    "usage_gaps",
    input.gaps.map((gap) => ({ ...gap, reason: "test" })),
  );
}

function otherTexts(others: Readonly<Record<OtherCost, bigint>>) {
  return Object.fromEntries(otherCosts.map((name) => [name, scaledText(others[name])]));
}

/** Samples are unequal: all of them but the last are small, or zero. */
function samplesOf(weight: bigint, count: number): bigint[] {
  const small = Array.from({ length: count - 1 }, (_, at) => (weight * BigInt(at)) / BigInt(count * count));
  return [...small, weight - small.reduce((sum, each) => sum + each, 0n)];
}

/** A key `name@hour` is a line of that hour; without an hour, of midnight. */
function placeOfLine({ day, key }: { day: string; key: string }) {
  const [env_id, hour = "0"] = key.split("@");
  return { timestamp: `${day} ${hour.padStart(2, "0")}:00:00`, env_id };
}

/** Staged chargebacks as the reference's rows: `env_id` and the hour are the line's key. */
export async function readStaged(client: ClickHouseClient, epoch: number): Promise<RefereeRow[]> {
  const result = await client.query({
    query: `
SELECT concat(env_id, if(toHour(timestamp, 'UTC') = 0, '', concat('@', toString(toHour(timestamp, 'UTC'))))) AS key, toString(currency) AS currency, component, tier, identity_id, allocation_method AS method, allocation_detail AS detail, toString(amount) AS amount,
  ${otherCosts.map((name) => `toString(${name}) AS text_${name}`).join(", ")},
  arrayMap(h -> (toUInt8(h.1), toString(h.2)), passed_path) AS hops, arrayStringConcat(arrayMap(h -> concat(toString(h.1), ' ', h.2), hops), '\n') AS text
FROM ${stagedTable("chargebacks", epoch)} WHERE day = toDate(timestamp, 'UTC')
ORDER BY key, currency, component, CAST(identity_id AS String), text`,
    format: "JSONEachRow",
  });
  type StagedRow = Omit<RefereeRow, "amount" | "path" | OtherCost> & {
    [name in `text_${OtherCost}`]: string | null;
  } & {
    amount: string;
    hops: [number, string][];
    text: string;
  };
  const rows = await result.json<StagedRow>();
  return rows.map(({ hops, text: _, text_billed_cost, text_effective_cost, text_list_cost, ...row }) => ({
    ...row,
    amount: decimalUnits(row.amount),
    ...(text_billed_cost !== null && { billed_cost: decimalUnits(text_billed_cost) }),
    ...(text_effective_cost !== null && { effective_cost: decimalUnits(text_effective_cost) }),
    ...(text_list_cost !== null && { list_cost: decimalUnits(text_list_cost) }),
    path: hops.map(([step, from]) => ({ step, from })),
  }));
}
