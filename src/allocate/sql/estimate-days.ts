import { stagedTable } from "../../clickhouse/staging.js";
import type { Statement } from "../../clickhouse/statement.js";
import type { SplitLedger } from "../ledger.js";
import { storedSums, WORTH_SUMMING } from "./usage-sums.js";

/**
 * A line with the columns of a cloud bill takes as much memory as this many facts: 1.1 KiB (measured, with a million
 * lines per batch).
 */
const LINE_WORK = 6;

/**
 * Estimates the work of each day in rows, as a basis for batches: lines, weighed facts and set members, plus resulting
 * rows. For the latter, each line counts with every member of its resource's sets. Without a set, it counts with its
 * resource's facts, and without either, with the largest tenant-wide set.
 *
 * With many samples per sum, sums count instead of samples, because the allocation reads the sums then.
 *
 * The estimate is per resource, because identities are distributed unevenly. Multiplying all lines by the day's largest
 * set would be 60 times too much on 2,000 resources, and would make every day a batch of its own.
 */
export function estimateDays(input: {
  ledger: SplitLedger;
  epoch: number;
  days: readonly string[];
}): Statement {
  const usage = stagedTable(input.ledger.usage, input.epoch);
  return {
    query: `
WITH (SELECT (groupArray(day), groupArray(samples / sums)) FROM ${storedSums(usage)} WHERE samples >= sums * ${WORTH_SUMMING}) AS summed
SELECT toString(day) AS day, ${LINE_WORK} * toFloat64(sum(lines)) + sum(facts) + sum(members) + least(sum(rows_at_most), 1e9) AS work
FROM (
  SELECT day, lines, facts, members,
    toFloat64(lines) * multiIf(members > 0, members, facts > 0, facts, max(if(resource_id = '', members, 0)) OVER (PARTITION BY day)) AS rows_at_most
  FROM (
    SELECT day, resource_id, sum(line) AS lines, sum(fact) AS facts, sum(member) AS members
    FROM (
      SELECT day, resource_id, count() AS line, 0 AS fact, 0 AS member FROM ${stagedTable("billing", input.epoch)}
      WHERE day IN {days:Array(Date)} GROUP BY day, resource_id
      UNION ALL
      SELECT day, resource_id, 0, count() / transform(day, summed.1, summed.2, 1.), 0 FROM ${usage}
      WHERE day IN {days:Array(Date)} GROUP BY day, resource_id
      UNION ALL
      SELECT day, resource_id, 0, 0, count() FROM ${input.ledger.sets(input.epoch)}
      WHERE day IN {days:Array(Date)} GROUP BY day, resource_id
    )
    GROUP BY day, resource_id
  )
)
GROUP BY day ORDER BY day`,
    params: { days: input.days },
  };
}
