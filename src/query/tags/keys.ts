/** Tag keys that amounts can be grouped and filtered by: of the tenant's tags and of the billing lines; and columns. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { readRows } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import { COLUMN_PREFIX } from "../../domain/rule-columns.js";
import { readPostgres } from "../../postgres/statement.js";
import { rowsInWindow } from "../chargebacks/scan.js";
import { isLineTagColumn, LINE_TAG_PREFIX } from "./filter.js";

/** Per kind. */
export const MOST_LISTED_KEYS = 1000;

/** Ascending, by code points. */
export interface TagKeys {
  readonly tag_keys: string[];
  readonly line_tag_keys: string[];
  /** Names of the declared columns that lines of the bill have. */
  readonly columns: string[];
}

export async function readTagKeys(
  stores: { readonly postgres: Pool; readonly client: ClickHouseClient },
  input: { readonly tenantName: string; readonly window: InstantRange },
  signal?: AbortSignal,
): Promise<TagKeys> {
  const [tagRows, lineTagRows] = await Promise.all([
    readPostgres<{ tag_key: string }>(stores.postgres, selectTagKeys(input.tenantName), signal),
    readRows<{ tag_key: string }>(stores.client, selectLineTagKeys(input.window), signal),
  ]);
  const keys = (rows: readonly { readonly tag_key: string }[]) => rows.map(({ tag_key: key }) => key);
  const [columns, lineTagKeys] = splitKeys(keys(lineTagRows));
  return { tag_keys: keys(tagRows), line_tag_keys: lineTagKeys, columns };
}

/** Splits the stored keys into names of columns and keys of tags. */
function splitKeys(keys: readonly string[]): [columns: string[], tags: string[]] {
  const isColumn = (key: string) => key.startsWith(COLUMN_PREFIX) && isLineTagColumn(key);
  // A bill may have keys with control characters. They cannot be column names.
  const isTag = (key: string) => !isColumn(key) && isLineTagColumn(`${LINE_TAG_PREFIX}${key}`);
  return [keys.filter(isColumn).map((key) => key.slice(COLUMN_PREFIX.length)), keys.filter(isTag)];
}

/** Reads labels, because there are fewer labels than tags. */
function selectTagKeys(tenantName: string) {
  return {
    query: `SELECT DISTINCT tag_key FROM tag_labels WHERE tenant_name = $1 AND tag_count > 0 ORDER BY tag_key LIMIT ${MOST_LISTED_KEYS}`,
    params: [tenantName],
  };
}

/** Reads the bill, because it has fewer rows than chargebacks. Lines with the same keys are merged first. */
function selectLineTagKeys(window: InstantRange) {
  const { condition, params } = rowsInWindow(window);
  return {
    query: `
SELECT DISTINCT toString(arrayJoin(keys)) AS tag_key
FROM (SELECT DISTINCT mapKeys(line_tags) AS keys FROM published_billing WHERE ${condition})
ORDER BY tag_key
LIMIT ${MOST_LISTED_KEYS}`,
    params,
  };
}
