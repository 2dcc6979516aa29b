/**
 * The system tables as SQL clients see them: views with the columns that tools request, in a separate database that
 * replaces `system` in their statements. None of them contains paths or other facts about the machine, and a system
 * table without a view here does not exist for clients. The user's role and the engine's `additional_table_filters`
 * restrict rows to databases that the user may read.
 */
import { identifier, literal } from "../../../clickhouse/sql-text.js";
import type { Engine } from "../engine.js";
import { PROTOCOL_PARAMETERS } from "../protocol-parameters.js";
import { ADMITTED_SETTINGS, LOWERABLE_SETTINGS } from "./admitted-settings.js";

/** No tenant's database can have this name, because their names contain no hyphens. */
export const CATALOG = "sql-port";

/** The engine's own views of system tables. They contain no paths, and the filters apply to them. */
export const INFORMATION_SCHEMA: {
  readonly databases: readonly string[];
  readonly tables: readonly string[];
} = {
  databases: ["information_schema", "INFORMATION_SCHEMA"],
  tables: [
    "schemata",
    "tables",
    "views",
    "columns",
    "key_column_usage",
    "referential_constraints",
    "statistics",
  ],
};

const COLUMNS = {
  databases: "name, engine, uuid, engine_full, comment",
  tables: `
    database, name, uuid, engine, is_temporary, metadata_modification_time, dependencies_database, dependencies_table,
    create_table_query, engine_full, as_select, partition_key, sorting_key, primary_key, sampling_key, storage_policy,
    total_rows, total_bytes, lifetime_rows, lifetime_bytes, comment, has_own_data, "table"`,
  columns: `
    database, "table", name, type, position, default_kind, default_expression, data_compressed_bytes, data_uncompressed_bytes,
    marks_bytes, comment, is_in_partition_key, is_in_sorting_key, is_in_primary_key, is_in_sampling_key, compression_codec,
    character_octet_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision`,
  functions:
    "name, is_aggregate, case_insensitive, alias_to, create_query, origin, description, syntax, categories",
  table_functions: "name, description",
  table_engines: "name, supports_settings, supports_skipping_indices, supports_sort_order, supports_ttl",
  data_type_families: "name, case_insensitive, alias_to",
  aggregate_function_combinators: "name, is_internal",
  formats: "name, is_input, is_output, content_type",
  collations: "name, language",
  keywords: "keyword",
  time_zones: "time_zone",
  current_roles: "role_name, with_admin_option, is_default",
  enabled_roles: "role_name, with_admin_option, is_current, is_default",
  numbers: "number",
  one: "dummy",
} as const;

const FILTERED = { databases: "name", tables: "database", columns: "database" } as const;

/** Recreates the views, so that no definition of an earlier version remains. */
export async function createCatalog(engine: Engine): Promise<void> {
  const session = engine.open();
  try {
    await session.run(`CREATE DATABASE IF NOT EXISTS ${identifier(CATALOG)}`);
    for (const [name, columns] of Object.entries(COLUMNS)) {
      await session.run(`CREATE OR REPLACE VIEW ${view(name)} AS SELECT ${columns} FROM system.${name}`);
    }
    await session.run(`CREATE OR REPLACE VIEW ${view("settings")} AS ${settingsQuery()}`);
  } finally {
    session.close();
  }
}

/**
 * Filters that hide other databases, including this one, in the system tables, also from statements such as SHOW
 * TABLES.
 */
export function catalogFilters(databases: readonly string[]): readonly (readonly [string, string])[] {
  const list = databases.map(literal).join(", ");
  return Object.entries(FILTERED).map(([table, column]) => [`system.${table}`, `${column} IN (${list})`]);
}

/** Clients send only settings that are not `readonly` here, and some clients refuse others before they send them. */
function settingsQuery(): string {
  const names = [...ADMITTED_SETTINGS, ...LOWERABLE_SETTINGS, ...PROTOCOL_PARAMETERS];
  const writable = `name IN (${names.map(literal).join(", ")})`;
  return `SELECT name, value, changed, description, min, max, toUInt8(NOT ${writable}) AS readonly, type, "default", alias_for, is_obsolete, tier FROM system.settings`;
}

function view(name: string): string {
  return `${identifier(CATALOG)}.${identifier(name)}`;
}
