/** The tags of dimensions, for reading together with chargeback rows. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";

/** Whether the tenant has any tag at all. Answered from metadata; also true while removed tags are not yet cleaned up. */
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

/** `team=Platform`. A key may hold `=` itself: it ends at the first one that no backslash escapes. */
export function tagPair({ tag_key, display_name }: DimensionTag): string {
  return `${tag_key.replace(/[\\=]/g, "\\$&")}=${display_name}`;
}
