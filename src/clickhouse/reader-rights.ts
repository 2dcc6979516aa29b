/**
 * Statements that create a user of a ClickHouse server who can only read one tenant: a role with the views, limits, and
 * a quota. All statements can be repeated.
 */
import { sumTables } from "../domain/sum-tables.js";
import { identifier, literal } from "./sql-text.js";

/** Views for BI, as documented in `docs/reference/tables.md`. */
const VIEWS = [
  "daily_cost_by_team",
  "daily_cost_by_identity",
  "daily_cost_by_resource",
  "daily_cost_by_tag",
  "daily_cost_by_topic",
  "chargeback_details",
  "topic_attribution_details",
  "billing_line_items",
  "published_billing",
  "usage_quantities",
  "identities",
  "resources",
  "tags",
  "provisional_days",
  "daily_reconciliation",
  "switched_days",
  ...sumTables.map((table) => `published_${table}` as const),
] as const;

/** Tables that the views read, with the rights of the user. */
const TABLES_OF_VIEWS = [
  "billing",
  "next_billing",
  "chargebacks",
  "usage",
  "topic_attributions",
  "publishing_days",
  ...sumTables,
  "dimensions",
  "dimension_collisions",
  "dimension_tags",
  "inventory_names",
  "inventory_generations",
] as const;

export const READABLE: readonly string[] = [...VIEWS, ...TABLES_OF_VIEWS];

export interface ReaderLimits {
  readonly max_seconds: number;
  readonly max_result_rows: number;
  readonly max_result_mib: number;
  readonly max_running: number;
  readonly max_per_minute: number;
}

const MIB = 1024 * 1024;

export const readerName = (database: string) => `${database}_bi`;

/** The tenant's database. Users on a cluster are local to each server, so each server runs the statements. */
export interface ReadDatabase {
  readonly database: string;
  readonly cluster?: string | undefined;
}

/** Statements for the role, its limits and its quota. */
export function roleStatements(read: ReadDatabase, limits: ReaderLimits): string[] {
  const { database } = read;
  const role = roleOf(database);
  const everywhere = onCluster(read);
  const rights = READABLE.map((name) => `SELECT ON ${identifier(database)}.${identifier(name)}`);
  // 0 would mean unlimited, and is less than any maximum, so the minimum is 1.
  const atMost = (setting: string, limit: number) => `${setting} = ${limit} MIN 1 MAX ${limit}`;
  const settings = [
    // 2 lets drivers change settings that are not constrained. This one is constrained.
    "readonly = 2 CONST",
    atMost("max_execution_time", limits.max_seconds),
    atMost("max_result_rows", limits.max_result_rows),
    atMost("max_result_bytes", limits.max_result_mib * MIB),
    `max_concurrent_queries_for_user = ${limits.max_running} CONST`,
  ];
  return [
    `CREATE ROLE IF NOT EXISTS ${role}${everywhere}`,
    // In one step: rights on views that no longer exist are revoked, and readers are not interrupted.
    `GRANT${everywhere} ${rights.join(", ")} TO ${role} WITH REPLACE OPTION`,
    `CREATE SETTINGS PROFILE IF NOT EXISTS ${role}${everywhere}`,
    `ALTER SETTINGS PROFILE ${role}${everywhere} SETTINGS ${settings.join(", ")}`,
    `CREATE QUOTA IF NOT EXISTS ${role}${everywhere}`,
    `ALTER QUOTA ${role}${everywhere} KEYED BY user_name FOR INTERVAL 1 minute MAX queries = ${limits.max_per_minute} TO ${role}`,
  ];
}

/** @param sha256 SHA-256 of the password, in hexadecimal */
export function createReader(read: ReadDatabase, sha256: string): string {
  return `CREATE USER IF NOT EXISTS ${userOf(read.database)}${onCluster(read)} IDENTIFIED WITH ${hashed(sha256)}`;
}

export function changePassword(read: ReadDatabase, sha256: string): string {
  return `ALTER USER ${userOf(read.database)}${onCluster(read)} IDENTIFIED WITH ${hashed(sha256)}`;
}

/** Statements that give the user the role, its limits, and the tenant's database as default. */
export function readerStatements(read: ReadDatabase): string[] {
  const { database } = read;
  const [role, user, everywhere] = [roleOf(database), userOf(database), onCluster(read)];
  return [
    `GRANT${everywhere} ${role} TO ${user}`,
    `ALTER USER ${user}${everywhere} DEFAULT DATABASE ${identifier(database)} DEFAULT ROLE ${role} SETTINGS PROFILE ${role}`,
  ];
}

const onCluster = ({ cluster }: ReadDatabase) =>
  cluster === undefined ? "" : ` ON CLUSTER ${identifier(cluster)}`;
const userOf = (database: string) => identifier(readerName(database));
/** Name of the role, the settings profile and the quota. */
const roleOf = (database: string) => identifier(`chargehouse_${database}_reader`);
const hashed = (sha256: string) => `sha256_hash BY ${literal(sha256)}`;
