/** Ids of dimensions: as SQL, and the ids of all dimensions that have chargeback rows under the filters. */
import type { ClickHouseClient } from "@clickhouse/client";
import { type Statement, streamRows } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import { dimensionFields, fingerprintSql, plainDimensionIdSql } from "../../domain/dimension-id.js";
import { type ChargebackFilters, filtered, rowsInWindow, withClause } from "./scan.js";

/**
 * Returns an expression over the columns of a row: the plain hash, unless that dimension was given another id.
 * Collisions, of which there are almost none, come as two constant arrays. There is no join, so a streaming read keeps
 * its order.
 */
export function dimensionIdSql(prefix = ""): string {
  const fingerprint = fingerprintSql(prefix);
  const plain = plainDimensionIdSql(fingerprint);
  const other = `collided.2[indexOf(collided.1, ${fingerprint})]`;
  return `if(notEmpty(collided.1) AND has(collided.1, ${fingerprint}), ${other}, ${plain})`;
}

/** Named expression that `dimensionIdSql` needs after WITH. */
export const collidedSql =
  "(SELECT (groupArray(fingerprint), groupArray(dimension_id)) FROM dimension_collisions FINAL) AS collided";

const fieldsButIdentity = dimensionFields.filter((field) => field !== "identity_id").join(", ");

/**
 * Selects dimension_id, ascending. Groups the identities by line first, so that only distinct dimensions are hashed.
 */
export function matchingDimensions(window: InstantRange, filters: ChargebackFilters): Statement {
  const { condition, params } = rowsInWindow(window);
  const { withClauses: names, condition: filter, params: values } = filtered(filters);
  return {
    query: `
${withClause(collidedSql, ...names)}SELECT ${dimensionIdSql()} AS dimension_id
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
