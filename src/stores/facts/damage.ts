/**
 * Finds damaged parts of a tenant's facts: their bytes differ from what was written, such as after a flipped bit on the
 * disk. ClickHouse compares a block with its checksum only when a query reads it, so damage in old days would go
 * unnoticed for months.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { identifier } from "../../clickhouse/sql-text.js";
import { readRows } from "../../clickhouse/statement.js";
import { factTables } from "../../domain/fact-tables.js";
import { sumTables } from "../../domain/sum-tables.js";

export interface Damage {
  readonly table: string;
  /** A day such as `2026-01-31`, or a month such as `2026-01` for a table with a partition per month. */
  readonly period: string;
}

/** Reads every byte of the tables once. Returns damaged periods by table, in order. */
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

/** Returns the period of a part such as `20260131_1_1_0` or `202601_1_1_0`. */
function periodOf(part: string): string {
  const partition = part.split("_")[0] ?? part;
  return partition.replace(/^(\d{4})(\d\d)(\d\d)?$/, (_, year, month, day) =>
    [year, month, day].filter(Boolean).join("-"),
  );
}

/** Returns a description without the period. */
export function damageText({ table }: Damage): string {
  return `the stored files of ${table} are damaged: they do not have the checksums that were written with them`;
}
