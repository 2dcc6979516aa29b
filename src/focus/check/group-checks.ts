/** Checks between rows: values that must be the same in all rows with the same key. */
import { identifier } from "../../clickhouse/sql-text.js";
import type { Check, GroupsCheck } from "./check.js";
import { isSet, ROWS } from "./sql.js";

/** Finds values of the column `of` with more than one value of `column`. */
function onlyOne(keyColumn: string, column: string): GroupsCheck["groups"] {
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

export const groupChecks: readonly Check[] = [
  {
    id: "service-category",
    level: "error",
    kind: "groups",
    what: "A ServiceName has several values of ServiceCategory.",
    groups: onlyOne("ServiceName", "ServiceCategory"),
  },
  {
    id: "sku-price-sku",
    level: "error",
    kind: "groups",
    what: "A SkuPriceId belongs to several values of SkuId.",
    groups: onlyOne("SkuPriceId", "SkuId"),
  },
  {
    id: "commitment-unit",
    level: "error",
    kind: "groups",
    what: "A CommitmentDiscountId has several values of CommitmentDiscountUnit.",
    groups: onlyOne("CommitmentDiscountId", "CommitmentDiscountUnit"),
  },
];
