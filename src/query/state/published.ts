/**
 * A short form of what a tenant has published: as long as it is the same, every read returns the same response. Postgres returns
 * it in a millisecond, whatever the read itself would cost.
 *
 * Nothing is returned while it may be changing: between a publish's intent and its result, while retention is about to drop days,
 * and while written tags are not yet visible. Intents are committed before the store changes, and results after it. If two states
 * that were read are equal, nothing changed in between, and everything that was read in between shows the same.
 */
import type { Pool } from "pg";
import { type LedgerName, ledgers } from "../../store/ledger.js";
import { readPostgres, type Statement } from "../../store/postgres/statement.js";
import type { DateWindow } from "../time/date-window.js";

export interface PublishedStateInput {
  readonly tenantName: string;
  /** Only rows of chargebacks show tags. */
  readonly ledger: LedgerName;
  /** The days that are read; all when undefined. */
  readonly window?: Pick<DateWindow, "from" | "to"> | undefined;
  /** Days before this date (UTC) are dropped, or about to be. */
  readonly keepFrom: string;
}

/** A day is published again with the hash it had before, or one it had long before: the time of its calculation tells these apart. */
const DAY = "concat_ws(' ', published_hash, extract(epoch FROM calculated_at))";
const ALL_DAYS = `md5(coalesce(string_agg(tracking_date || ' ' || ${DAY}, ',' ORDER BY tracking_date), ''))`;
const EACH_DAY = `coalesce(jsonb_object_agg(tracking_date, ${DAY}), '{}')`;

/**
 * One row `{changing, published, anything, days, tags, names}`. The mirror of the tags has a version of its own each time it changes,
 * and so has the copy of the inventory's names.
 */
function publishedState(
  { tenantName, ledger, window, keepFrom }: PublishedStateInput,
  days: string,
): Statement {
  const tagged = ledger === "chargebacks";
  return {
    query: `
SELECT
  coalesce(bool_or(publishing_hash IS NOT NULL OR tracking_date < $4::date), false)
    ${tagged ? "OR EXISTS (SELECT FROM tag_outbox WHERE tenant_name = $1)" : ""} AS changing,
  count(published_hash)::int AS published,
  EXISTS (SELECT FROM ${ledgers[ledger].state} WHERE tenant_name = $1 AND published_hash IS NOT NULL) AS anything,
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
  /** Equal for equal data. */
  readonly name: string;
  /** Days that are published. */
  readonly days: number;
}

/** What is published of each day, and what its rows show besides. Equal for equal data. */
export interface PublishedDays {
  /** By day; those that were never gathered are left out. */
  readonly days: ReadonlyMap<string, string>;
  /** Of tags and of names of the inventory. */
  readonly names: string;
}

/** Undefined while the data may be changing. */
export async function readPublishedState(
  pool: Pool,
  input: PublishedStateInput,
  signal?: AbortSignal,
): Promise<PublishedState | undefined> {
  const row = await readSteady<string>(pool, publishedState(input, ALL_DAYS), signal);
  return row && { name: `${row.days} ${namesOf(row)} ${row.control ?? ""}`, days: row.published };
}

/**
 * Undefined while the data may be changing, and where nothing of the tenant is published: then Postgres may have been lost, and not the store.
 */
export async function readPublishedDays(
  pool: Pool,
  input: PublishedStateInput,
  signal?: AbortSignal,
): Promise<PublishedDays | undefined> {
  const row = await readSteady<Record<string, string>>(pool, publishedState(input, EACH_DAY), signal);
  if (row === undefined || !row.anything) return undefined;
  return { days: new Map(Object.entries(row.days)), names: namesOf(row) };
}

interface StateRow<Days> {
  readonly changing: boolean;
  /** Days of the window. */
  readonly published: number;
  /** Whether any day of the tenant is. */
  readonly anything: boolean;
  readonly days: Days;
  readonly tags: string | null;
  readonly names: number | null;
  /** When control totals were recorded last. */
  readonly control: string | null;
}

async function readSteady<Days>(pool: Pool, statement: Statement, signal: AbortSignal | undefined) {
  const [row] = await readPostgres<StateRow<Days>>(pool, statement, signal);
  return row?.changing ? undefined : row;
}

const namesOf = ({ tags, names }: Pick<StateRow<unknown>, "tags" | "names">) => `${tags ?? ""} ${names ?? 0}`;
