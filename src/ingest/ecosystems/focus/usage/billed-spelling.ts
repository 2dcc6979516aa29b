/** Maps resource ids of metrics to the spelling of the bill, if they differ only in case. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../../../clickhouse/statement.js";
import type { UsageSeries } from "../../../ecosystem.js";
import { unitsAt } from "../../../micro-units.js";
import { addAmount, noAmounts } from "../../../usage-series.js";
import { billedResource, type LinesRequest, ofWindow } from "../lines/billing-lines.js";

/** Spellings of the bill, ascending, by the id in lower case. */
export type BilledSpellings = ReadonlyMap<string, readonly string[]>;

export type BillOfWindow = Pick<LinesRequest, "deliveries" | "window" | "spread">;

/** Reads the ids of the lines that may be charged in the window. */
export async function billedSpellings(
  client: ClickHouseClient,
  { deliveries, window, spread }: BillOfWindow,
  signal: AbortSignal,
): Promise<BilledSpellings> {
  const rows = await readRows<{ id: string; spellings: string[] }>(
    client,
    {
      query: `SELECT lowerUTF8(resource) AS id, arraySort(groupUniqArray(resource)) AS spellings
        FROM (SELECT DISTINCT ${billedResource} AS resource FROM focus_lines
          WHERE ${ofWindow(spread)})
        GROUP BY id`,
      params: { deliveries, start: window.start, end: window.end },
    },
    signal,
  );
  return new Map(rows.map(({ id, spellings }) => [id, spellings]));
}

/** Returns the bill's spelling of an id that is billed only in another case. Undefined for every other id. */
export function otherSpelling(billed: BilledSpellings, id: string): string | undefined {
  const spellings = billed.get(id.toLowerCase());
  return spellings === undefined || spellings.includes(id) ? undefined : spellings[0];
}

/** Returns the same usage under the ids of the bill. Series that become one and have the same scale are added up. */
export function asBilled(batch: readonly UsageSeries[], billed: BilledSpellings): UsageSeries[] {
  const known = new Map<string, UsageSeries>();
  for (const series of batch) {
    const resource_id = otherSpelling(billed, series.resource_id) ?? series.resource_id;
    const key = JSON.stringify([series.metric, resource_id, series.identity_id, series.scale]);
    const before = known.get(key);
    known.set(key, before === undefined ? { ...series, resource_id } : added(before, series));
  }
  return [...known.values()];
}

/** Both have the same scale, so whole numbers stay whole. */
function added(one: UsageSeries, other: UsageSeries): UsageSeries {
  const sums = noAmounts();
  for (const { starts, microUnits } of [one, other])
    for (const [at, start] of starts.entries()) addAmount(sums, start, microUnits[at] ?? 0);
  return { ...one, starts: sums.starts, microUnits: sums.amounts.map((amount) => unitsAt(amount, 0)) };
}
