/** Identities or teams that pay for something in a period, with their sums. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readTuples, type Statement } from "../../clickhouse/statement.js";
import type { DateWindow } from "../time/date-window.js";
import { withClause } from "./scan.js";
import { aggregateSource, columnKeys, rowsToSum } from "./summed-rows.js";

export const payerColumns = ["identity_id", "team"] as const;
export type PayerColumn = (typeof payerColumns)[number];

export interface Payer {
  readonly id: string;
  /** Empty if none is known, and for teams. */
  readonly name: string;
  /** Plain decimals. */
  readonly amounts: readonly { readonly currency: string; readonly amount: string }[];
}

type StoredSum = readonly [id: string, name: string, currency: string, amount: string];

/** Selects `StoredSum`, ordered by id and currency. */
export function payerSums(window: DateWindow, by: PayerColumn): Statement {
  const source = aggregateSource({ window, filters: {}, groupBy: [by], timeBucket: "day" });
  const { columns } = source;
  const [payer] = columns;
  const name = payer?.name?.("c0") ?? "''";
  return {
    query: `
${withClause(...source.withClauses, ...source.displayNameClauses)}SELECT toString(${payer?.text("c0")}), toString(${name}), toString(c1), toString(sum(hi) + sum(lo))
FROM ${rowsToSum(source, columnKeys(columns))}
GROUP BY c0, c1
ORDER BY c0, c1`,
    params: source.params,
  };
}

export async function readPayers(
  client: ClickHouseClient,
  window: DateWindow,
  by: PayerColumn,
  signal?: AbortSignal,
): Promise<Payer[]> {
  const sums = await readTuples<StoredSum>(client, payerSums(window, by), signal);
  const payers = new Map<string, { id: string; name: string; amounts: Payer["amounts"][number][] }>();
  for (const [id, name, currency, amount] of sums) {
    const payer = payers.get(id) ?? { id, name, amounts: [] };
    payer.amounts.push({ currency, amount });
    payers.set(id, payer);
  }
  return [...payers.values()];
}
