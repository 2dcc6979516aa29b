/** The names of the tags that hang on dimensions, for reading beside chargeback rows. */
import type { ClickHouseClient } from "@clickhouse/client";
import { type ClickHouseRead, readRows } from "./clickhouse-read.js";

/** Whether the tenant has any tag at all. Answered from metadata; also true while removed tags are not yet cleaned up. */
export function tagPresence(): ClickHouseRead {
  return { query: "SELECT count() > 0 AS tagged FROM dimension_tags", params: {} };
}

export async function hasTags(client: ClickHouseClient, signal?: AbortSignal): Promise<boolean> {
  const [row] = await readRows<{ tagged: number }>(client, tagPresence(), signal);
  return row?.tagged === 1;
}

/** Display names by dimension, in the order of tag_id. */
export function tagNames(dimensionIds: readonly number[]): ClickHouseRead {
  return {
    query: `
SELECT dimension_id, arrayMap(tag -> tag.2, arraySort(groupArray((tag_id, display_name)))) AS names
FROM dimension_tags FINAL
WHERE dimension_id IN {dimension_ids:Array(UInt64)}
GROUP BY dimension_id`,
    params: { dimension_ids: dimensionIds },
  };
}

export async function readTagNames(
  client: ClickHouseClient,
  dimensionIds: readonly number[],
  signal?: AbortSignal,
): Promise<Map<number, string[]>> {
  const read = tagNames([...new Set(dimensionIds)]);
  const rows = await readRows<{ dimension_id: string; names: string[] }>(client, read, signal);
  return new Map(rows.map(({ dimension_id, names }) => [Number(dimension_id), names]));
}
