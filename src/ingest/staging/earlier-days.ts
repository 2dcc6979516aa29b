/**
 * A rule with `of: allocated, over: month` weighs by what earlier days of the month were allocated. So a day with lines of
 * such a rule depends on the input of those days: its hash contains their hashes, and it is provisional while one of them
 * is.
 */
import type { Pool } from "pg";
import { literal } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import { readRows } from "../../clickhouse/statement.js";
import { digestOf } from "../../common/digest.js";
import type { AllocationPlan } from "../../config/allocation/plan.js";
import { inputHashOf } from "../../domain/provisional-hash.js";
import { runStatement } from "../../postgres/statement.js";
import type { TenantStore } from "../../stores/stores.js";
import { type DayContent, EMPTY_DAY_HASH } from "./content-hash.js";

/** A row of `tracking_dates`. */
interface RecordedDay {
  readonly day: string;
  readonly hash: string;
  /** False once the day is final, even if some of its data is missing. */
  readonly provisional: boolean;
  /** Nothing of the day is staged. */
  readonly isPublishedOnly: boolean;
}

/** Adds the hashes of the month's earlier days to the hash of each day that depends on them. */
export async function withEarlierDays(
  contents: readonly DayContent[],
  {
    store,
    postgres,
    epoch,
    allocation,
    signal,
  }: {
    readonly store: TenantStore;
    readonly postgres: Pool;
    readonly epoch: number;
    readonly allocation?: AllocationPlan | undefined;
    readonly signal: AbortSignal;
  },
): Promise<readonly DayContent[]> {
  const monthlyWeights =
    allocation?.costs.filter(({ stage, over }) => stage !== undefined && over === "month") ?? [];
  if (monthlyWeights.length === 0 || contents.length === 0) return contents;
  const rules = [...new Set(monthlyWeights.flatMap((each) => each.rules ?? []))];
  // A step of `pass_on` needs the weights on every day.
  const isMatched = monthlyWeights.some((each) => each.rules === undefined)
    ? ""
    : ` AND rule IN (${rules.map(literal).join(", ")})`;
  const read = {
    query: `SELECT DISTINCT toString(day) AS staged_day FROM ${stagedTable("billing", epoch)}
      WHERE day IN {days:Array(Date)}${isMatched}`,
    params: { days: contents.map(({ day }) => day) },
  };
  const dependent = await readRows<{ staged_day: string }>(store.client, read, signal);
  if (dependent.length === 0) return contents;
  const days = contents.map(({ day }) => day).sort();
  const { rows: recorded } = await runStatement<RecordedDay>(postgres, {
    query: `
      SELECT tracking_date AS day, ${inputHashOf("coalesce(staged_hash, publishing_hash, published_hash)")} AS hash,
             provisional, published_hash IS NOT NULL AND staged_hash IS NULL AS "isPublishedOnly"
      FROM tracking_dates
      WHERE tenant_name = $1 AND tracking_date BETWEEN date_trunc('month', $2::date)::date AND $3::date
        AND coalesce(staged_hash, publishing_hash, published_hash) IS NOT NULL`,
    params: [store.tenantName, days[0], days.at(-1)],
  });
  return chainMonths(contents, new Set(dependent.map(({ staged_day }) => staged_day)), recorded);
}

/**
 * Returns the contents by day, ascending.
 *
 * @param dependent days with lines of rules that weigh by allocated costs of the month
 */
function chainMonths(
  contents: readonly DayContent[],
  dependent: ReadonlySet<string>,
  recorded: readonly RecordedDay[],
): DayContent[] {
  const recordedDays = new Map(recorded.map((each) => [each.day, each]));
  const known = new Map<string, KnownDay>(recordedDays);
  return [...contents].sort(byDay).map((content) => {
    const { day } = content;
    const isDependent = dependent.has(day) && content.hash !== EMPTY_DAY_HASH;
    const result = isDependent ? withMonth(content, earlierDays(known, day)) : content;
    const before = recordedDays.get(day);
    // A day that was published as final with the same input stays final, whatever it lacks.
    const isFinal = before?.isPublishedOnly && !before.provisional && before.hash === result.hash;
    known.set(day, { day, hash: result.hash, provisional: result.lacks.length > 0 && !isFinal });
    return result;
  });
}

type KnownDay = Pick<RecordedDay, "day" | "hash" | "provisional">;

/** Returns the days of the month before a day that have a bill, ascending. */
function earlierDays(known: ReadonlyMap<string, KnownDay>, day: string): KnownDay[] {
  const month = day.slice(0, 7);
  return [...known.values()]
    .filter((each) => each.day < day && each.day.startsWith(month) && each.hash !== EMPTY_DAY_HASH)
    .sort(byDay);
}

function withMonth(content: DayContent, earlier: readonly KnownDay[]): DayContent {
  const provisionalDays = earlier.filter(({ provisional }) => provisional).map(({ day }) => day);
  return {
    ...content,
    hash: digestOf([content.hash, earlier.map(({ day, hash }) => [day, hash])]),
    lacks:
      provisionalDays.length === 0
        ? content.lacks
        : [...content.lacks, `costs of the month are provisional on ${provisionalDays.join(", ")}`],
  };
}

function byDay(a: { readonly day: string }, b: { readonly day: string }): number {
  return a.day < b.day ? -1 : 1;
}
