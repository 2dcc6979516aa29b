/** Keys that amounts can be grouped and filtered by: those of the tenant's tags, and those of the bill's lines. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { readRows } from "../../store/clickhouse/statement.js";
import { readPostgres } from "../../store/postgres/statement.js";
import { rowsInWindow } from "../chargebacks/scan.js";
import type { DateWindow } from "../time/date-window.js";
import { isLineTagColumn, LINE_TAG_PREFIX } from "./filter.js";

/** Of each kind. */
export const MOST_LISTED_KEYS = 1000;

/** Ascending, by code points. */
export interface TagKeys {
  readonly tag_keys: string[];
  readonly line_tag_keys: string[];
}

export async function readTagKeys(
  stores: { readonly postgres: Pool; readonly client: ClickHouseClient },
  input: { readonly tenantName: string; readonly window: Pick<DateWindow, "from" | "to"> },
  signal?: AbortSignal,
): Promise<TagKeys> {
  const [ofTags, ofLines] = await Promise.all([
    readPostgres<{ tag_key: string }>(stores.postgres, keysOfTags(input.tenantName), signal),
    readRows<{ tag_key: string }>(stores.client, keysOfLines(input.window), signal),
  ]);
  const keys = (rows: readonly { readonly tag_key: string }[]) => rows.map(({ tag_key: key }) => key);
  // A bill may have keys that are no names of columns: with control characters.
  const nameable = keys(ofLines).filter((key) => isLineTagColumn(`${LINE_TAG_PREFIX}${key}`));
  return { tag_keys: keys(ofTags), line_tag_keys: nameable };
}

/** Labels are looked at, as there are fewer of them than tags. */
function keysOfTags(tenantName: string) {
  return {
    query: `SELECT DISTINCT tag_key FROM tag_labels WHERE tenant_name = $1 AND tag_count > 0 ORDER BY tag_key LIMIT ${MOST_LISTED_KEYS}`,
    params: [tenantName],
  };
}

/** Of the bill, which has fewer rows than chargebacks; lines with the same keys together first. */
function keysOfLines(window: Pick<DateWindow, "from" | "to">) {
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
