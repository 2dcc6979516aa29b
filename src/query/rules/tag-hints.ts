/** Finds tags of the bill whose key differs from a configured one only in case, and may be the one that is meant. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import { rowsInWindow } from "../chargebacks/scan.js";
import { kindsSql } from "./coverage-sql.js";

export interface TagHint {
  readonly currency: string;
  /** Key in the configuration. */
  readonly tag: string;
  /** Key in the bill. */
  readonly similar_tag: string;
  /** Lines with `similar_tag` and without `tag`. */
  readonly line_count: number;
  readonly amount: string;
  /**
   * Share of the bill that these lines are, by amounts without their sign. Between 0 and 1, rounded down to 4 decimal
   * places.
   */
  readonly share: string;
}

const MOST_HINTS = 100;

/** The largest share comes first. */
export async function readTagHints(
  client: ClickHouseClient,
  { window, tags }: { readonly window: InstantRange; readonly tags: readonly string[] },
  signal?: AbortSignal,
): Promise<TagHint[]> {
  if (tags.length === 0) return [];
  const { condition, params } = rowsInWindow(window);
  const share = "floor(toFloat64(sum(size)) / toFloat64(whole) * 10000)";
  const query = `
SELECT currency, tag, similar_tag, toUInt64(sum(n)) AS line_count, toString(sum(cost)) AS amount, toString(toDecimal64(${share} / 10000, 4)) AS share
FROM (
  SELECT *, tag, toString(arrayFirst(k -> lowerUTF8(k) = lowerUTF8(tag), arraySort(keys))) AS similar_tag
  FROM (SELECT *, sum(size) OVER (PARTITION BY currency) AS whole FROM (${kindsSql(condition)}))
  ARRAY JOIN {tags:Array(String)} AS tag
  WHERE NOT has(keys, tag)
)
WHERE similar_tag != '' AND size > 0
GROUP BY currency, tag, similar_tag, whole
ORDER BY toFloat64(sum(size)) / toFloat64(whole) DESC, currency, tag, similar_tag
LIMIT ${MOST_HINTS}`;
  return await readRows<TagHint>(client, { query, params: { ...params, tags } }, signal);
}
