/**
 * Gives the usage of a day one unit for each metric and resource, because weights are sums of it. Measured usage nearly
 * always has one already. It does not if a response came in pieces, if uploaded rows differ in their digits, or if a
 * part of the day is kept as it was published. Metrics that a rule uses together also get one unit.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { isoDay } from "../../clickhouse/sql-text.js";
import { rewriteStagedDays, stagedTable } from "../../clickhouse/staging.js";
import { readRows } from "../../clickhouse/statement.js";
import type { Ledger } from "../../domain/ledger.js";
import type { StagedDays } from "./measured-facts.js";

/** No weight is scaled above 10^24, which would need wider and slower integers. */
const MOST_DIGITS = 24;

/** `rulesHash`: the rules that the days are calculated by. */
export async function alignScales(
  client: ClickHouseClient,
  { epoch, days }: StagedDays,
  { ledger, rulesHash }: { readonly ledger: Ledger; readonly rulesHash: string },
  signal: AbortSignal,
): Promise<void> {
  if (days.length === 0) return;
  const staged = stagedTable(ledger.usage, epoch);
  const scaled = await readRows<{ day: string }>(
    client,
    {
      query: `SELECT DISTINCT day FROM ${staged} WHERE day IN {days:Array(Date)} AND scale != 0 ORDER BY day`,
      params: { days: days.map(isoDay) },
    },
    signal,
  );
  if (scaled.length === 0) return;
  const families = familiesOf(await combinedMetrics(client, rulesHash, signal));
  const params = {
    days: scaled.map(({ day }) => isoDay(day)),
    members: [...families.keys()],
    families: [...families.values()],
  };
  const unaligned = unalignedGroups(staged);
  const unalignedDays = await readRows<{ day: string }>(
    client,
    { query: `SELECT DISTINCT day FROM (${unaligned}) ORDER BY day`, params },
    signal,
  );
  await rewriteStagedDays(client, {
    table: ledger.usage,
    epoch,
    signal,
    params,
    where: "true",
    days: unalignedDays.map(({ day }) => day),
    select: `day, timestamp, metric, resource_id, ${ledger.recipient},
      multiIf(target < 0, micro_units, raised >= 0, micro_units * power, intDiv(micro_units + intDiv(power, 2), power)),
      if(target < 0, scale, toUInt8(target))`,
    from: `(
      SELECT facts.*, if(unaligned.family = '', -1, unaligned.target) AS target, toInt16(target) - scale AS raised,
        ${powers}[1 + least(38, abs(raised))] AS power
      FROM ${staged} AS facts
      LEFT JOIN (${unaligned}) AS unaligned
        ON unaligned.day = facts.day AND unaligned.resource_id = facts.resource_id AND unaligned.family = ${family("facts.metric")}
    )`,
  });
}

const powers = `[${Array.from({ length: 39 }, (_, exponent) => `toInt128('1${"0".repeat(exponent)}')`).join(", ")}]`;

const family = (metric: string) =>
  `transform(toString(${metric}), {members:Array(String)}, {families:Array(String)}, toString(${metric}))`;

/**
 * Selects rows `{day, resource_id, family, target}` of groups that have more than one unit, or a unit that is too fine.
 */
function unalignedGroups(staged: string): string {
  return `
    SELECT day, resource_id, ${family("metric")} AS family,
      max(toFloat64(micro_units) / exp10(scale)) AS largest,
      toInt16(least(max(scale), greatest(0, 3 * floor((${MOST_DIGITS} - if(largest > 0, log10(largest), 0)) / 3)))) AS target
    FROM ${staged} WHERE day IN {days:Array(Date)}
    GROUP BY day, resource_id, family
    HAVING min(scale) != target OR max(scale) != target`;
}

/** Sets of metrics that rules use together as weights. */
async function combinedMetrics(
  client: ClickHouseClient,
  rulesHash: string,
  signal: AbortSignal,
): Promise<(readonly string[])[]> {
  const read = {
    query: `SELECT DISTINCT arrayMap(s -> toString(s), sources) AS metrics FROM allocation_rules
      WHERE rules_hash = {rules_hash:String} AND kind = 'usage' AND length(sources) > 1 ORDER BY metrics`,
    params: { rules_hash: rulesHash },
  };
  const unalignedDays = await readRows<{ metrics: readonly string[] }>(client, read, signal);
  return unalignedDays.map(({ metrics }) => metrics);
}

/**
 * Metric → name of the group of metrics that share a unit with it, directly or through a third one. Metrics without a
 * group are left out.
 */
export function familiesOf(sets: readonly (readonly string[])[]): Map<string, string> {
  const families = new Map<string, string>();
  for (const metrics of sets) {
    const merged = new Set(metrics.flatMap((metric) => families.get(metric) ?? []));
    const name = metrics[0] ?? "";
    for (const metric of metrics) families.set(metric, name);
    for (const [metric, group] of families) if (merged.has(group)) families.set(metric, name);
  }
  return families;
}
