/**
 * Parts of a tenant's facts whose bytes are not those that were written, as after a flipped bit on the disk. ClickHouse checks a block against
 * its checksum only when a query reads it, so damage in old days would stay unseen for months.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { identifier } from "../clickhouse/sql-text.js";
import { readRows } from "../clickhouse/statement.js";
import { factTables } from "../fact-tables.js";
import { sumTables } from "../sum-tables.js";

export interface Damage {
  readonly table: string;
  /** `2026-01-31`, or `2026-01` of a table that has a partition a month. */
  readonly period: string;
}

/** Reads every byte of the tables once. Periods are in order, those of one table together. */
export async function findDamage(client: ClickHouseClient, signal?: AbortSignal): Promise<Damage[]> {
  const found: Damage[] = [];
  for (const table of [...factTables, ...sumTables]) {
    const parts = await readRows<{ part_path: string; is_passed: number }>(
      client,
      { query: `CHECK TABLE ${identifier(table)}`, params: {} },
      signal,
      { check_query_single_value_result: 0 },
    );
    const periods = parts.flatMap(({ part_path, is_passed }) =>
      is_passed === 1 ? [] : [periodOf(part_path)],
    );
    found.push(...[...new Set(periods)].sort().map((period) => ({ table, period })));
  }
  return found;
}

/** The partition of a part: `20260131_1_1_0`, or `202601_1_1_0`. */
function periodOf(part: string): string {
  const partition = part.split("_")[0] ?? part;
  return partition.replace(/^(\d{4})(\d\d)(\d\d)?$/, (_, year, month, day) =>
    [year, month, day].filter(Boolean).join("-"),
  );
}

/** What to say of it, without the period. */
export function damageText({ table }: Damage): string {
  return `the stored files of ${table} are damaged: they do not have the checksums that were written with them`;
}
