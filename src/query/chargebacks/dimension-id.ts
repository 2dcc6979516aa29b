/** SQL for the id of a chargeback row's dimension: the plain hash, unless that dimension was given another id. */
import { fingerprintSql, plainDimensionIdSql } from "../../domain/dimension-id.js";

/**
 * An expression over the columns of a row. Collisions, of which there are almost none, come as two constant arrays.
 * There is no join, so a streaming read keeps its order.
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
