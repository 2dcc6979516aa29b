/** Statements on the records of deliveries in Postgres. */
import type { Pool } from "pg";
import type { DayRange } from "../../../../common/days.js";
import { type Retirement, retireDelivery, type UncountedLines } from "../../../../postgres/retirement.js";
import { type PgStatement, runStatement } from "../../../../postgres/statement.js";
import { NO_CHARGE_DATE } from "../load/findings.js";
import type { LoadedFile } from "../load/load-file.js";
import { type FileLines, type LoadedLines, NO_LINES } from "../load/summary.js";
import type { Comparable, Overlap } from "../overlaps/compare.js";
import type { Delivery } from "../sources/delivery.js";
import { MANIFEST_TOTALS } from "./manifest-totals.js";

/** A file that was not loaded because another file with the same bytes counts, with the sums of that file. */
export interface DuplicateFile extends FileLines {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly same_as: string;
  readonly same_as_source: string;
}

/**
 * A delivery whose lines are in the store, or which was refused, has expired, is not a bill, or whose charges count in
 * others.
 */
export interface RecordedDelivery {
  readonly delivery_id: string;
  readonly source: string;
  readonly scope: string;
  readonly kind: Delivery["kind"];
  /** Version of its first file. */
  readonly version: string | null;
  readonly content_id: string;
  readonly settings_hash: string;
  readonly billing_period: string | null;
  readonly state: "current" | "waiting_for_acceptance" | "refused" | "expired" | "no_bill" | "superseded";
  readonly lines: string | null;
  readonly sums: LoadedLines["sums"];
  readonly month_sums: LoadedLines["month_sums"];
  readonly duplicates: readonly DuplicateFile[];
  /** Null if it was loaded by a version that did not record it. */
  readonly periods: LoadedLines["periods"] | null;
  /** Parts that newer deliveries of its scope have replaced. */
  readonly retired: readonly UncountedLines[];
  /** Parts that count in another file or delivery. */
  readonly superseded: readonly UncountedLines[];
  /** In the order of their numbers. */
  readonly files: Comparable["files"];
  /**
   * Charges that its bills share with each other and with deliveries that were there when it was loaded. Null if they
   * were never compared.
   */
  readonly shared_charges: readonly Overlap[] | null;
  readonly waits_for: "shrunk" | "moved" | "overlap" | null;
  /** When a person accepted it, in milliseconds since 1970. */
  readonly accepted_at: number | null;
  readonly first_day: string | null;
  /** Also null if it was loaded by a version that did not record it. */
  readonly last_start_day: string | null;
  readonly last_day: string | null;
  readonly has_undated_lines: boolean;
  /** Sentences about totals that a manifest states but its files do not have. */
  readonly manifest_problems: readonly string[];
  readonly problem: string | null;
  /** Ids of deliveries of other scopes that it replaces. */
  readonly replaces: readonly string[];
}

/**
 * Returns true if its charges, from the first that begins to the last that ends, reach into the window. Charges without
 * a readable date are ignored.
 */
export function isChargedIn(
  { first_day, last_day }: Pick<RecordedDelivery, "first_day" | "last_day">,
  { start, end }: DayRange,
): boolean {
  return first_day !== null && last_day !== null && first_day < end && last_day >= start;
}

/** Returns the scope, which a newer delivery replaces: the month of a snapshot, or the file name of an addition. */
export function scopeOf({ kind, billing_period, files }: Delivery): string {
  return kind === "additive" ? (files[0]?.name ?? "") : (billing_period ?? "");
}

/** Reads all deliveries that count, wait, were refused, have expired, are superseded or are not bills, oldest first. */
function readDeliveries(tenantName: string): PgStatement {
  return {
    query: `SELECT delivery_id::text, source, scope, kind, files->0->>'version' AS version, content_id, settings_hash, billing_period, state,
        lines::text, sums, month_sums, duplicates, periods, retired, superseded, shared_charges, waits_for,
        (extract(epoch FROM accepted_at) * 1000)::float8 AS accepted_at,
        (SELECT coalesce(json_agg(json_build_object('name', file->>'name', 'unit', file->>'unit', 'sha256', file->>'sha256', 'periods',
            coalesce(file->'periods', (SELECT json_agg(json_build_array(part->>'account', part->>'period')) FROM jsonb_array_elements(periods) AS part)::jsonb, '[]'))
            ORDER BY ordinal), '[]') FROM jsonb_array_elements(files) WITH ORDINALITY AS each (file, ordinal)) AS files, first_day::text, last_start_day::text, last_day::text, findings @> $2::jsonb AS has_undated_lines,
        (SELECT coalesce(json_agg(finding->>'what' ORDER BY ordinal), '[]') FROM jsonb_array_elements(findings) WITH ORDINALITY AS each (finding, ordinal)
          WHERE finding->>'id' = '${MANIFEST_TOTALS}') AS manifest_problems, problem,
        replaces::text[]
      FROM deliveries WHERE tenant_name = $1 AND state IN ('current', 'waiting_for_acceptance', 'refused', 'expired', 'no_bill', 'superseded')
      ORDER BY delivery_id`,
    params: [tenantName, JSON.stringify([{ id: NO_CHARGE_DATE }])],
  };
}

export async function recordedDeliveries({
  postgres,
  tenantName,
}: {
  readonly postgres: Pool;
  readonly tenantName: string;
}): Promise<RecordedDelivery[]> {
  return (await runStatement<RecordedDelivery>(postgres, readDeliveries(tenantName))).rows;
}

/** Deletes records of loads that no lease holder continues. */
export function forgetLoading(tenantName: string, epoch: number): PgStatement {
  return {
    query: "DELETE FROM deliveries WHERE tenant_name = $1 AND state = 'loading' AND epoch <= $2",
    params: [tenantName, epoch],
  };
}

export interface NewDelivery {
  readonly tenantName: string;
  readonly epoch: number;
  readonly delivery: Delivery;
  readonly settingsHash: string;
}

/** Returns the id of the new delivery, or no row if the lease is lost. */
export function beginDelivery({ tenantName, epoch, delivery, settingsHash }: NewDelivery): PgStatement {
  const { source, kind, id, billing_period, remarks } = delivery;
  return {
    query: `INSERT INTO deliveries (tenant_name, epoch, source, scope, kind, content_id, settings_hash, billing_period, remarks, state)
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, 'loading'
      WHERE EXISTS (SELECT FROM leases WHERE tenant_name = $1 AND epoch = $2)
      RETURNING delivery_id::text`,
    params: [
      tenantName,
      epoch,
      source,
      scopeOf(delivery),
      kind,
      id,
      settingsHash,
      billing_period ?? null,
      JSON.stringify(remarks),
    ],
  };
}

/**
 * Records that nothing can be loaded, so that the same content is not tried again. Deletes earlier refusals of the
 * scope.
 */
export function refuseDelivery(
  deliveryId: string,
  state: "refused" | "no_bill",
  problem: string,
): PgStatement[] {
  return [
    {
      query: "UPDATE deliveries SET state = $2, problem = $3 WHERE delivery_id = $1 AND state = 'loading'",
      params: [deliveryId, state, problem],
    },
    {
      query: `DELETE FROM deliveries AS old USING deliveries AS new WHERE new.delivery_id = $1 AND old.state IN ('refused', 'no_bill', 'waiting_for_acceptance')
        AND old.tenant_name = new.tenant_name AND old.source = new.source AND old.scope = new.scope AND old.delivery_id < new.delivery_id`,
      params: [deliveryId],
    },
  ];
}

export interface FinishedDelivery {
  readonly deliveryId: string;
  readonly epoch: number;
  readonly files: readonly LoadedFile[];
  readonly duplicates: readonly DuplicateFile[];
  /** Sentences that loading adds to those of the listing. */
  readonly remarks: readonly string[];
  readonly loaded: LoadedLines;
  /** Why it does not count yet, or no longer counts. */
  readonly outcome:
    | { readonly state: "current" }
    | { readonly state: "expired" | "superseded"; readonly problem: string }
    | {
        readonly state: "waiting_for_acceptance";
        readonly problem: string;
        readonly waits_for: "shrunk" | "moved" | "overlap";
      };
  readonly overlaps: readonly Overlap[];
  /** See `RecordedDelivery.replaces`. */
  readonly replaces: readonly string[];
  /** Parts of its scope that no longer count. Empty while the delivery waits. */
  readonly retirements: readonly Retirement[];
}

/** Run these in one transaction, in this order. The last one returns no row if the lease is lost; then roll back. */
export function finishDelivery({
  deliveryId,
  epoch,
  files,
  duplicates,
  remarks,
  loaded,
  outcome,
  overlaps,
  replaces,
  retirements,
}: FinishedDelivery): PgStatement[] {
  const replaced = `UPDATE deliveries AS old SET state = 'replaced', replaced_at = now(), problem = NULL, loaded_at = coalesce(old.loaded_at, now())
    FROM deliveries AS new WHERE new.delivery_id = $1 AND old.tenant_name = new.tenant_name AND old.source = new.source
      AND old.scope = new.scope AND old.delivery_id <> new.delivery_id AND old.state IN (SELECT unnest($2::text[]))`;
  const { state } = outcome;
  const replaceable = ["waiting_for_acceptance", "refused", "expired", "no_bill", "superseded"];
  return [
    { query: replaced, params: [deliveryId, replaceable] },
    ...retirements.map(retireDelivery),
    {
      query: `UPDATE deliveries SET state = $3, problem = $4, files = $5::jsonb, lines = $6, sums = $7::jsonb, findings = $8::jsonb,
          first_day = $9, last_start_day = $10, last_day = $11, replaces = $12, duplicates = $13::jsonb,
          periods = $14::jsonb, remarks = remarks || $15::jsonb, shared_charges = $16::jsonb, waits_for = $17, month_sums = $18::jsonb, loaded_at = now(),
          expired_at = CASE WHEN $3 = 'expired' THEN now() END
        WHERE delivery_id = $1 AND state = 'loading'
          AND EXISTS (SELECT FROM leases WHERE leases.tenant_name = deliveries.tenant_name AND leases.epoch = $2)
        RETURNING delivery_id`,
      params: [
        deliveryId,
        epoch,
        state,
        state === "current" ? null : outcome.problem,
        JSON.stringify(files.map((file, at) => ({ ...file, ...(loaded.files.get(at) ?? NO_LINES) }))),
        loaded.lines,
        JSON.stringify(loaded.sums),
        JSON.stringify(loaded.findings),
        loaded.first_day ?? null,
        loaded.last_start_day ?? null,
        loaded.last_day ?? null,
        replaces,
        JSON.stringify(duplicates),
        JSON.stringify(loaded.periods),
        JSON.stringify(remarks),
        JSON.stringify(overlaps),
        "waits_for" in outcome ? outcome.waits_for : null,
        JSON.stringify(loaded.month_sums),
      ],
    },
  ];
}
