/**
 * A fingerprint of what a tenant has published. While it stays the same, every read returns the same response. Postgres
 * returns it in a millisecond, whatever the read itself would cost.
 *
 * The functions return undefined while published data may be changing: between a publish's intent and its result, while
 * retention is about to drop days, and while written tags are not visible yet. Intents are committed before the store
 * changes, and results after it. So if two fingerprints are equal, nothing changed between them, and all reads in
 * between show the same data.
 */
import type { Pool } from "pg";
import type { InstantRange } from "../../common/days.js";
import { type LedgerName, ledgers } from "../../domain/ledger.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";

export interface PublishedStateInput {
  readonly tenantName: string;
  /** Only chargeback rows show tags. */
  readonly ledger: LedgerName;
  /** The days to read; all if undefined. */
  readonly window?: InstantRange | undefined;
  /** Days before this date (UTC) are dropped, or about to be. */
  readonly keepFrom: string;
}

/**
 * A day may be published with the same hash as before, or with an earlier one. The time of its calculation
 * distinguishes these.
 */
const DAY = "concat_ws(' ', published_hash, extract(epoch FROM calculated_at))";
const ALL_DAYS = `md5(coalesce(string_agg(tracking_date || ' ' || ${DAY}, ',' ORDER BY tracking_date), ''))`;
const EACH_DAY = `coalesce(jsonb_object_agg(tracking_date, ${DAY}), '{}')`;

/**
 * Selects one `StateRow`. The mirror of the tags gets a new version with each change, and so does the copy of the
 * inventory's names.
 */
function publishedState(
  { tenantName, ledger, window, keepFrom }: PublishedStateInput,
  days: string,
): PgStatement {
  const tagged = ledger === "chargebacks";
  return {
    query: `
SELECT
  coalesce(bool_or(publishing_hash IS NOT NULL OR tracking_date < $4::date), false)
    ${tagged ? "OR EXISTS (SELECT FROM tag_outbox WHERE tenant_name = $1)" : ""} AS changing,
  count(published_hash)::int AS published,
  EXISTS (SELECT FROM ${ledgers[ledger].state} WHERE tenant_name = $1 AND published_hash IS NOT NULL) AS "hasAnyPublishedDay",
  ${days} AS days,
  ${tagged ? "(SELECT concat_ws(' ', mirror_id, version) FROM tag_mirrors WHERE tenant_name = $1)" : "''"} AS tags,
  (SELECT inventory_generation FROM tenants WHERE tenant_name = $1) AS names,
  (SELECT control_report->>'recorded_at' FROM tenants WHERE tenant_name = $1) AS control
FROM ${ledgers[ledger].state}
WHERE tenant_name = $1
  AND ($2::float8 IS NULL OR (tracking_date >= (to_timestamp($2) AT TIME ZONE 'UTC')::date AND tracking_date < to_timestamp($3) AT TIME ZONE 'UTC'))`,
    params: [tenantName, window?.from ?? null, window?.to ?? null, keepFrom],
  };
}

export interface PublishedState {
  /** Equal for equal data, including control totals. */
  readonly fingerprint: string;
  /** Number of published days. */
  readonly days: number;
}

/** The published state of each day, and of the names that rows show. Equal for equal data. */
export interface PublishedDays {
  /** By day, without days that were never gathered. */
  readonly days: ReadonlyMap<string, string>;
  /** Versions of tags and of the inventory's names. */
  readonly nameVersions: string;
}

/** Returns undefined while the data may be changing. */
export async function readPublishedState(
  pool: Pool,
  input: PublishedStateInput,
  signal?: AbortSignal,
): Promise<PublishedState | undefined> {
  const row = await readUnlessChanging<string>(pool, publishedState(input, ALL_DAYS), signal);
  return row && { fingerprint: `${row.days} ${versionsOf(row)} ${row.control ?? ""}`, days: row.published };
}

/**
 * Returns undefined while the data may be changing, and if the tenant has nothing published: Postgres may have been
 * lost then, while the store still has data.
 */
export async function readPublishedDays(
  pool: Pool,
  input: PublishedStateInput,
  signal?: AbortSignal,
): Promise<PublishedDays | undefined> {
  const row = await readUnlessChanging<Record<string, string>>(pool, publishedState(input, EACH_DAY), signal);
  if (row === undefined || !row.hasAnyPublishedDay) return undefined;
  return { days: new Map(Object.entries(row.days)), nameVersions: versionsOf(row) };
}

interface StateRow<Days> {
  readonly changing: boolean;
  /** Number of published days in the window. */
  readonly published: number;
  /** True if the tenant has any published day. */
  readonly hasAnyPublishedDay: boolean;
  readonly days: Days;
  /** Version of the mirror of the tags. */
  readonly tags: string | null;
  /** Version of the inventory's names. */
  readonly names: number | null;
  /** Time when control totals were last recorded. */
  readonly control: string | null;
}

async function readUnlessChanging<Days>(pool: Pool, statement: PgStatement, signal: AbortSignal | undefined) {
  const [row] = await readPostgres<StateRow<Days>>(pool, statement, signal);
  return row?.changing ? undefined : row;
}

const versionsOf = ({ tags, names }: Pick<StateRow<unknown>, "tags" | "names">) =>
  `${tags ?? ""} ${names ?? 0}`;
