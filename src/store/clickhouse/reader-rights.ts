/**
 * A user of a ClickHouse server who reads one tenant and nothing else: a role with the views, limits, and a quota. Every statement can
 * be repeated.
 */
import { sumTables } from "../sum-tables.js";
import { identifier, literal } from "./sql-text.js";

/** Views for BI, as `docs/reference/tables.md` has them. */
const VIEWS = [
  ...["daily_cost_by_team", "daily_cost_by_identity", "daily_cost_by_resource", "daily_cost_by_tag"],
  ...["daily_cost_by_topic", "chargeback_details", "topic_attribution_details", "billing_line_items"],
  ...["published_billing", "usage_quantities", "identities", "resources", "tags", "provisional_days"],
  ...["daily_reconciliation", "switched_days"],
  ...sumTables.map((table) => `published_${table}` as const),
] as const;

/** What the views read: they do so with the rights of whoever asks. */
const TABLES_OF_VIEWS = [
  ...["billing", "next_billing", "chargebacks", "usage", "topic_attributions", "publishing_days"],
  ...sumTables,
  ...["dimensions", "dimension_collisions", "dimension_tags", "inventory_names", "inventory_generations"],
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

/** The tenant's database. On a cluster each server has users of its own, so that each carries the statements out. */
export interface ReadDatabase {
  readonly database: string;
  readonly cluster?: string | undefined;
}

/** The role, its limits and its quota. */
export function roleStatements(read: ReadDatabase, limits: ReaderLimits): string[] {
  const { database } = read;
  const role = roleOf(database);
  const everywhere = onCluster(read);
  const rights = READABLE.map((name) => `SELECT ON ${identifier(database)}.${identifier(name)}`);
  // 0 would be without a limit, and is below every one.
  const atMost = (setting: string, most: number) => `${setting} = ${most} MIN 1 MAX ${most}`;
  const settings = [
    // 2: drivers may set what is not constrained, and this is.
    "readonly = 2 CONST",
    atMost("max_execution_time", limits.max_seconds),
    atMost("max_result_rows", limits.max_result_rows),
    atMost("max_result_bytes", limits.max_result_mib * MIB),
    `max_concurrent_queries_for_user = ${limits.max_running} CONST`,
  ];
  return [
    `CREATE ROLE IF NOT EXISTS ${role}${everywhere}`,
    // In one step: a view that is not there any more is no right any more, and readers notice nothing.
    `GRANT${everywhere} ${rights.join(", ")} TO ${role} WITH REPLACE OPTION`,
    `CREATE SETTINGS PROFILE IF NOT EXISTS ${role}${everywhere}`,
    `ALTER SETTINGS PROFILE ${role}${everywhere} SETTINGS ${settings.join(", ")}`,
    `CREATE QUOTA IF NOT EXISTS ${role}${everywhere}`,
    `ALTER QUOTA ${role}${everywhere} KEYED BY user_name FOR INTERVAL 1 minute MAX queries = ${limits.max_per_minute} TO ${role}`,
  ];
}

/** @param sha256 of the password, in hexadecimal */
export function createReader(read: ReadDatabase, sha256: string): string {
  return `CREATE USER IF NOT EXISTS ${userOf(read.database)}${onCluster(read)} IDENTIFIED WITH ${hashed(sha256)}`;
}

export function changePassword(read: ReadDatabase, sha256: string): string {
  return `ALTER USER ${userOf(read.database)}${onCluster(read)} IDENTIFIED WITH ${hashed(sha256)}`;
}

/** Gives the user the role, its limits, and the tenant's database to begin in. */
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
/** Of the role, the settings profile and the quota. */
const roleOf = (database: string) => identifier(`chargehouse_${database}_reader`);
const hashed = (sha256: string) => `sha256_hash BY ${literal(sha256)}`;
