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

/** Keys and display names by dimension, in the order of tag_id. */
export function dimensionTags(dimensionIds: readonly number[]): Statement {
  return {
    query: `
SELECT dimension_id, arrayMap(tag -> (tag.2, tag.3), arraySort(groupArray((tag_id, toString(tag_key), display_name)))) AS tags
FROM dimension_tags FINAL
WHERE dimension_id IN {dimension_ids:Array(UInt64)}
GROUP BY dimension_id`,
    params: { dimension_ids: dimensionIds },
  };
}

export async function readDimensionTags(
  client: ClickHouseClient,
  dimensionIds: readonly number[],
  signal?: AbortSignal,
): Promise<Map<number, DimensionTag[]>> {
  const read = dimensionTags([...new Set(dimensionIds)]);
  const rows = await readRows<{ dimension_id: number; tags: [key: string, name: string][] }>(
    client,
    read,
    signal,
  );
  return new Map(
    rows.map(({ dimension_id, tags }) => [
      dimension_id,
      tags.map(([tag_key, display_name]) => ({ tag_key, display_name })),
    ]),
  );
}
