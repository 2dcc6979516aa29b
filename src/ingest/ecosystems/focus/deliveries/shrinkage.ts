/** Detects deliveries with so much less than what they replace that a person should look. */
import type { ClickHouseClient } from "@clickhouse/client";
import { type DeliveryToRetire, replacesWhole } from "../../../../postgres/retirement.js";
import { isCounted } from "../lines/counted.js";
import {
  type LoadedLines,
  type PeriodLines,
  periodsOf,
  summarisedLines,
  sumsByCurrency,
} from "../load/summary.js";
import type { RecordedDelivery } from "./records.js";

export interface Replacement {
  readonly old: Pick<RecordedDelivery, "billing_period" | "last_day" | "lines" | "sums">;
  readonly loaded: Pick<LoadedLines, "lines" | "sums">;
  /** The largest share that may be missing: 0.5 is half. */
  readonly limit: number;
  /** Today, in UTC. */
  readonly today: string;
}

/**
 * Returns the records with the lines and sums that they are charged with. A draft that never counted is no loss when it
 * goes.
 */
export async function withCountedSums(
  client: ClickHouseClient,
  records: readonly RecordedDelivery[],
  signal: AbortSignal,
): Promise<RecordedDelivery[]> {
  return await Promise.all(
    records.map(async (record) => {
      const { delivery_id, retired, superseded } = record;
      if (retired.length + superseded.length === 0) return record;
      const found = await periodsOf(client, [delivery_id], signal, isCounted([record]));
      const periods = found.get(delivery_id) ?? [];
      const sums = sumsByCurrency(periods.flatMap((each) => each.sums));
      return { ...record, periods, sums, lines: String(summarisedLines(sums)) };
    }),
  );
}

/**
 * Returns a sentence if the delivery must not replace the old one, else undefined. Bills of a month that is not over
 * may shrink, because they are estimates.
 */
export function shrinkage({ old, loaded, limit, today }: Replacement): string | undefined {
  if (!isOver(old, today)) return undefined;
  const required = 1 - limit;
  const percent = (now: number, was: number) => `${Math.round((1 - now / was) * 100)} %`;
  const was = Number(old.lines ?? 0);
  if (was > 0 && loaded.lines < was * required)
    return `it has ${percent(loaded.lines, was)} fewer lines than the bill it would replace (${loaded.lines} instead of ${was})`;
  for (const { currency, effective_cost, billed_cost } of old.sums) {
    const now = loaded.sums.find((each) => each.currency === currency);
    for (const [name, before] of Object.entries({ billed_cost, effective_cost })) {
      // A float is exact enough for a comparison of shares.
      const amount = Math.abs(Number(before));
      const remaining = Math.abs(Number(now?.[name as "billed_cost" | "effective_cost"] ?? 0));
      if (amount > 0 && remaining < amount * required)
        return `its ${name} in ${currency} is ${percent(remaining, amount)} less than that of the bill it would replace`;
    }
  }
  return undefined;
}

function isOver({ billing_period, last_day }: Replacement["old"], today: string): boolean {
  const month = billing_period ?? last_day?.slice(0, 7);
  return month !== undefined && month < today.slice(0, 7);
}

/** Compares a delivery with what it replaces: the whole scope, or each period whose days it covers. */
export function shrinkageOf(
  old: readonly RecordedDelivery[],
  newer: DeliveryToRetire & Replacement["loaded"] & { readonly periods: readonly PeriodLines[] },
  { limit, today }: Pick<Replacement, "limit" | "today">,
): string | undefined {
  if (replacesWhole(newer) || old.some(({ periods }) => periods === null)) {
    const [last] = [...old].sort((a, b) => ((a.last_day ?? "") < (b.last_day ?? "") ? 1 : -1));
    if (last === undefined) return undefined;
    const parts = old.flatMap(({ periods, retired, sums }) =>
      periods === null ? sums : periods.filter(isWholeIn(retired)).flatMap((part) => part.sums),
    );
    const sums = sumsByCurrency(parts);
    return shrinkage({
      old: { ...last, sums, lines: String(summarisedLines(sums)) },
      loaded: newer,
      limit,
      today,
    });
  }
  for (const { account, period, first_day, last_day, sums } of newer.periods) {
    const parts = old.flatMap(({ periods, retired }) =>
      (periods ?? []).filter(
        (part) =>
          isWholeIn(retired)(part) &&
          part.account === account &&
          part.period === period &&
          (first_day === null || (part.first_day !== null && first_day <= part.first_day)) &&
          (last_day === null || (part.last_day !== null && last_day >= part.last_day)),
      ),
    );
    const before = sumsByCurrency(parts.flatMap((part) => part.sums));
    if (before.length === 0) continue;
    const problem = shrinkage({
      old: { billing_period: period, last_day: null, sums: before, lines: String(summarisedLines(before)) },
      loaded: { sums, lines: summarisedLines(sums) },
      limit,
      today,
    });
    if (problem !== undefined) return `${period}: ${problem}`;
  }
  return undefined;
}

const isWholeIn = (retired: RecordedDelivery["retired"]) => (part: PeriodLines) =>
  !retired.some(({ account, period }) => account === part.account && period === part.period);
