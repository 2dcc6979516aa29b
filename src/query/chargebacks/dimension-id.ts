/** Reads the id of a chargeback row's dimension: the plain hash, unless that dimension was given another id. */
import { fingerprintSql, plainDimensionIdSql } from "../../store/clickhouse/dimension-id.js";

/**
 * An expression over the columns of a row. The collisions, of which there are next to never any, come as two constant arrays:
 * no join, so that the order of a streaming read is kept.
 */
export function dimensionIdSql(prefix = ""): string {
  const fingerprint = fingerprintSql(prefix);
  const plain = plainDimensionIdSql(fingerprint);
  const other = `collided.2[indexOf(collided.1, ${fingerprint})]`;
  return `if(notEmpty(collided.1) AND has(collided.1, ${fingerprint}), ${other}, ${plain})`;
}

/** Stands behind WITH in a statement that uses `dimensionIdSql`. */
export const collidedSql =
  "(SELECT (groupArray(fingerprint), groupArray(dimension_id)) FROM dimension_collisions FINAL) AS collided";
