/** Streams the ids of dimensions that have chargeback rows under the filters, ascending. */
import type { ClickHouseClient } from "@clickhouse/client";
import { type Statement, streamRows } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import { dimensionFields } from "../../domain/dimension-id.js";
import { collidedSql, dimensionIdSql } from "./dimension-id.js";
import { type ChargebackFilters, filtered, rowsInWindow, withNames } from "./scan.js";

const fieldsButIdentity = dimensionFields.filter((field) => field !== "identity_id").join(", ");

/** Selects dimension_id. Groups the identities by line first, so that only distinct dimensions are hashed. */
export function matchingDimensions(window: InstantRange, filters: ChargebackFilters): Statement {
  const { condition, params } = rowsInWindow(window);
  const { names, condition: filter, params: values } = filtered(filters);
  return {
    query: `
${withNames(collidedSql, ...names)}SELECT ${dimensionIdSql()} AS dimension_id
FROM (
  SELECT ${fieldsButIdentity}, arrayJoin(identities) AS identity_id
  FROM (
    SELECT ${fieldsButIdentity}, groupUniqArray(identity_id) AS identities
    FROM chargebacks
    WHERE ${condition}${filter}
    GROUP BY ${fieldsButIdentity}
  )
)
ORDER BY dimension_id`,
    params: { ...params, ...values },
  };
}

/** Yields batches of up to `batch` ids. */
export async function* streamDimensionIds(
  client: ClickHouseClient,
  statement: Statement,
  { batch, signal }: { batch: number; signal: AbortSignal },
): AsyncGenerator<number[]> {
  let ids: number[] = [];
  for await (const rows of streamRows<{ dimension_id: number }>(client, statement, signal)) {
    for (const { dimension_id } of rows) {
      ids.push(dimension_id);
      if (ids.length < batch) continue;
      yield ids;
      ids = [];
    }
  }
  if (ids.length > 0) yield ids;
}
