import { identifier } from "../../clickhouse/sql-text.js";
import type { Check, GroupsCheck } from "./check-types.js";
import { columnChecks } from "./column-checks.js";
import { jsonChecks } from "./json-checks.js";
import { rowChecks } from "./row-checks.js";
import { splitChecks } from "./split-checks.js";
import { isSet, ROWS } from "./sql.js";
import { valueChecks } from "./value-checks.js";

/** Finds values of `keyColumn` that have more than one value in `column`. */
function oneValuePer(keyColumn: string, column: string): GroupsCheck["groups"] {
  const [key, value] = [identifier(keyColumn), identifier(column)];
  return (file) =>
    file.has(keyColumn) && file.has(column)
      ? [
          {
            column,
            query: `SELECT min(row) AS row, concat(${key}, ': ', min(${value}), ' and ', max(${value})) AS value
              FROM ${ROWS} WHERE ${isSet(keyColumn)} AND ${isSet(column)} GROUP BY ${key} HAVING min(${value}) != max(${value})`,
          },
        ]
      : [];
}

const groupChecks: readonly Check[] = [
  {
    id: "service-category",
    level: "error",
    kind: "groups",
    what: "A ServiceName has several values of ServiceCategory.",
    groups: oneValuePer("ServiceName", "ServiceCategory"),
  },
  {
    id: "sku-price-sku",
    level: "error",
    kind: "groups",
    what: "A SkuPriceId belongs to several values of SkuId.",
    groups: oneValuePer("SkuPriceId", "SkuId"),
  },
  {
    id: "commitment-unit",
    level: "error",
    kind: "groups",
    what: "A CommitmentDiscountId has several values of CommitmentDiscountUnit.",
    groups: oneValuePer("CommitmentDiscountId", "CommitmentDiscountUnit"),
  },
];

/** All checks, in the order of the report and of the reference page. */
export const checks: readonly Check[] = [
  ...columnChecks,
  ...valueChecks,
  ...rowChecks,
  ...groupChecks,
  ...jsonChecks,
  ...splitChecks,
];
