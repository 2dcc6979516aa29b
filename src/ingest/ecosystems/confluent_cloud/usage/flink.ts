/**
 * CFUs of every billed compute pool, by the owner of the statement that used them. The vendor's second metric is
 * requested only for days and pools without data of the first. If neither has data, the statements that ran stand in
 * with equal weights, as a metric of its own, so that it is not mistaken for measured usage.
 */
import { UNALLOCATED } from "../../../../domain/allocation-rule.js";
import type { UsageFact, UsageGap } from "../../../ecosystem.js";
import { spanOfDay } from "../lifetimes.js";
import { FLINK_CFU, FLINK_CFU_MINUTES, FLINK_STATEMENTS } from "../rules.js";
import { type Statements, statementOwner } from "../statements.js";
import { readMetric, type UsageGathering, type Wanted } from "./gathering.js";
import { POOL, STATEMENT_NAME, STATEMENT_UID } from "./queries.js";

/** Returns the gaps, and the days and pools that nothing was measured of. */
export async function gatherFlinkUsage(
  gathering: UsageGathering,
  wanted: Wanted,
  statements: Statements,
): Promise<{ readonly gaps: readonly UsageGap[]; readonly unmeasured: Wanted }> {
  const ownerOf = (labels: Readonly<Record<string, string>>) => {
    const uid = labels[STATEMENT_UID] || undefined;
    const name = labels[STATEMENT_NAME] || undefined;
    if (uid === undefined && name === undefined) return () => null;
    const statement = { pool: labels[POOL] ?? "", uid, name };
    return (from: number) =>
      statements.ownerOf(statement, { start: from * 1000, end: (from + gathering.stepSeconds) * 1000 });
  };
  const gaps: UsageGap[] = [];
  let unmeasured = wanted;
  for (const metric of [FLINK_CFU, FLINK_CFU_MINUTES] as const) {
    const used = new Set<string>();
    const onUsed = (day: string, pool: string) => void used.add(`${day} ${pool}`);
    gaps.push(
      ...(await readMetric(gathering, {
        metric,
        wanted: unmeasured,
        ownerOf,
        unnamed: "beside_others",
        keepsZeros: false,
        onUsed,
      })),
    );
    unmeasured = without(unmeasured, used);
  }
  return { gaps, unmeasured };
}

/** Yields a fact for each owner and day: a million micro-units for each of its statements that ran. */
export function* runningStatements(unmeasured: Wanted, statements: Statements): Generator<UsageFact> {
  for (const [day, pools] of unmeasured) {
    for (const resource_id of pools) {
      const counts = new Map<string, number>();
      for (const statement of statements.runningIn(resource_id, spanOfDay(day))) {
        const owner = statementOwner(statement) ?? UNALLOCATED;
        counts.set(owner, (counts.get(owner) ?? 0) + 1);
      }
      for (const [identity_id, count] of counts) {
        const micro_units = String(count * 1_000_000);
        yield {
          timestamp: `${day}T00:00:00Z`,
          metric: FLINK_STATEMENTS,
          resource_id,
          identity_id,
          micro_units,
        };
      }
    }
  }
}

function without(wanted: Wanted, used: ReadonlySet<string>): Wanted {
  const parts = [...wanted].map(
    ([day, pools]) => [day, new Set([...pools].filter((pool) => !used.has(`${day} ${pool}`)))] as const,
  );
  return new Map(parts.filter(([, pools]) => pools.size > 0));
}
