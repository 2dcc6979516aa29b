/** Reads the tags of dimensions together with chargeback rows. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../clickhouse/statement.js";

/** Selects whether the tenant has any tag, from metadata alone. It is true until removed tags are cleaned up, too. */
export function tagPresence(): Statement {
  return { query: "SELECT count() > 0 AS tagged FROM dimension_tags", params: {} };
}

export async function hasTags(client: ClickHouseClient, signal?: AbortSignal): Promise<boolean> {
  const [row] = await readRows<{ tagged: number }>(client, tagPresence(), signal);
  return row?.tagged === 1;
}

export interface DimensionTag {
  readonly tag_key: string;
  readonly display_name: string;
}

/**
 * Formats a tag as `team=Platform`. A backslash escapes each `=` and backslash in the key, so the first unescaped `=`
 * ends the key.
 */
export function tagPair({ tag_key, display_name }: DimensionTag): string {
  return `${tag_key.replace(/[\\=]/g, "\\$&")}=${display_name}`;
}
