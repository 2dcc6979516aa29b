/**
 * Days whose rules weigh by allocated costs of the month depend on what the earlier days of the month were allocated, and
 * so on the input of these days. The hash of such a day contains their hashes, and the day is provisional while one of
 * them is.
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

/** A day as Postgres has it. */
interface RecordedDay {
  readonly day: string;
  readonly hash: string;
  /** False also for a day that became final without some of its data. */
  readonly provisional: boolean;
  readonly published: boolean;
}

/** Adds the earlier days of their months to the contents of days with lines of such rules. */
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
  const costs = allocation?.costs.filter(({ stage, over }) => stage !== undefined && over === "month") ?? [];
  if (costs.length === 0 || contents.length === 0) return contents;
  const rules = [...new Set(costs.flatMap((each) => each.rules))];
  const read = {
    query: `SELECT DISTINCT toString(day) AS staged_day FROM ${stagedTable("billing", epoch)}
      WHERE day IN {days:Array(Date)} AND rule IN (${rules.map(literal).join(", ")})`,
    params: { days: contents.map(({ day }) => day) },
  };
  const dependent = await readRows<{ staged_day: string }>(store.client, read, signal);
  if (dependent.length === 0) return contents;
  const days = contents.map(({ day }) => day).sort();
  const { rows: recorded } = await runStatement<RecordedDay>(postgres, {
    query: `
      SELECT tracking_date AS day, ${inputHashOf("coalesce(staged_hash, publishing_hash, published_hash)")} AS hash,
             provisional, published_hash IS NOT NULL AND staged_hash IS NULL AS published
      FROM tracking_dates
      WHERE tenant_name = $1 AND tracking_date BETWEEN date_trunc('month', $2::date)::date AND $3::date
        AND coalesce(staged_hash, publishing_hash, published_hash) IS NOT NULL`,
    params: [store.tenantName, days[0], days.at(-1)],
  });
  return chainMonths(contents, new Set(dependent.map(({ staged_day }) => staged_day)), recorded);
}

/** @param dependent days with lines of rules that weigh by allocated costs of the month */
function chainMonths(
  contents: readonly DayContent[],
  dependent: ReadonlySet<string>,
  recorded: readonly RecordedDay[],
): DayContent[] {
  const known = new Map(
    recorded.map(({ day, hash, provisional }) => [day, { day, hash, provisional }] as const),
  );
  const isFinal = new Set(
    recorded.filter(({ provisional, published }) => published && !provisional).map(({ day }) => day),
  );
  const chained = [...contents]
    .sort((a, b) => (a.day < b.day ? -1 : 1))
    .map((content) => {
      const { day, lacks } = content;
      const earlier = [...known.values()]
        .filter((each) => each.day < day && each.day.slice(0, 7) === day.slice(0, 7))
        .filter(({ hash }) => hash !== EMPTY_DAY_HASH)
        .sort((a, b) => (a.day < b.day ? -1 : 1));
      const isDependent = dependent.has(day) && content.hash !== EMPTY_DAY_HASH;
      const waiting = earlier.filter(({ provisional }) => provisional).map((each) => each.day);
      const result: DayContent = !isDependent
        ? content
        : {
            ...content,
            hash: digestOf([content.hash, earlier.map(({ day, hash }) => [day, hash])]),
            lacks:
              waiting.length === 0
                ? lacks
                : [...lacks, `costs of the month are provisional on ${waiting.join(", ")}`],
          };
      const provisional =
        result.lacks.length > 0 && !(isFinal.has(day) && known.get(day)?.hash === result.hash);
      known.set(day, { day, hash: result.hash, provisional });
      return result;
    });
  const byDay = new Map(chained.map((content) => [content.day, content]));
  return contents.map((content) => byDay.get(content.day) ?? content);
}
