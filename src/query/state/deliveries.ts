/** Bills as they were delivered: the contents and findings of each, and which of them count. */
import type { Pool } from "pg";
import { bindings } from "../../postgres/bindings.js";
import { instantText } from "../../postgres/instant-text.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";
import { type CursorKey, cursorFingerprint, cursorOf, cutPage, encodeCursor } from "../page/cursor.js";
import type { PageRequest } from "../page/position.js";
import type { ClassSums } from "./control-totals.js";

export const deliveryStates = [
  "loading",
  "current",
  "replaced",
  "waiting_for_acceptance",
  "refused",
  "expired",
  "no_bill",
  "superseded",
] as const;
export type DeliveryState = (typeof deliveryStates)[number];

export interface ListedFile {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** Changes with the content. */
  readonly version: string;
  readonly format: "CSV" | "Parquet";
  /** Null if the columns fit several versions. */
  readonly focus_version: string | null;
  /** The kind of file if it is not a bill; null for a bill. */
  readonly dataset: string | null;
}

export interface DeliverySums {
  readonly currency: string;
  readonly lines: number;
  readonly billed_cost: string;
  readonly effective_cost: string;
  readonly contracted_cost: string;
  readonly list_cost: string;
}

export interface DeliveryClass extends ClassSums {
  readonly currency: string;
}

export interface DeliveryFinding {
  readonly id: string;
  readonly what: string;
  readonly lines: number;
  readonly examples: string[];
}

/** A file that was not loaded, because another file with the same bytes counts. */
export interface ListedDuplicate {
  readonly name: string;
  readonly size: number;
  readonly same_as: string;
  readonly same_as_source: string;
}

/** Charges that another bill has as well. */
export interface DeliveryOverlap {
  readonly name: string;
  readonly other_delivery_id: number;
  readonly other_name: string;
  readonly account_id: string;
  readonly billing_period: string;
  readonly days: string[];
  readonly amounts: { readonly currency: string; readonly amount: string }[];
}

/** What a delivery changed when its days were published. */
export interface DeliveryChange {
  /** Days whose first published bill it was. */
  readonly first_days: string[];
  /** Days that were published before. The other fields are about these. */
  readonly changed_days: string[];
  readonly lines_new: number;
  readonly lines_changed: number;
  readonly lines_gone: number;
  /** Differences by currency; null if they are unknown. */
  readonly sums: { readonly currency: string; readonly amount: string }[] | null;
  /** Other deliveries that changed some of the days together with it. */
  readonly together_with: number[];
  readonly has_other_causes: boolean;
}

/** Instants are `2026-01-01T00:00:00Z`, amounts plain decimals. Null means unknown until the bill is loaded. */
export interface ListedDelivery {
  readonly delivery_id: number;
  readonly source: string;
  /** `YYYY-MM`; null if only the lines have the period. */
  readonly billing_period: string | null;
  readonly kind: "snapshot" | "additive";
  readonly state: DeliveryState;
  /** Why it is refused, waits, has expired, is superseded or is not a bill. */
  readonly problem: string | null;
  /** The first files, by name. */
  readonly files: ListedFile[];
  readonly file_count: number;
  /** The first duplicates, by name. */
  readonly duplicates: ListedDuplicate[];
  readonly overlaps: DeliveryOverlap[];
  readonly lines: number | null;
  readonly sums: DeliverySums[];
  readonly change: DeliveryChange;
  /** Classes of its lines, by currency; empty before a run has counted them. */
  readonly classes: DeliveryClass[];
  readonly findings: DeliveryFinding[];
  readonly remarks: string[];
  readonly first_day: string | null;
  readonly last_day: string | null;
  readonly started_at: string;
  readonly loaded_at: string | null;
  readonly accepted_at: string | null;
  readonly replaced_at: string | null;
  readonly expired_at: string | null;
}

const MOST_FILES = 100;

/** A sum as a plain decimal without trailing zeros. */
const plain = (column: string) => `trim_scale(sum(${column}))::text AS ${column}`;

/** `page` is the delivery. */
const CHANGE = `json_build_object(
    'first_days', (SELECT coalesce(json_agg(tracking_date::text ORDER BY tracking_date), '[]') FROM tracking_dates
      WHERE tracking_dates.tenant_name = page.tenant_name AND first_deliveries @> ARRAY[page.delivery_id]),
    'changed_days', (SELECT coalesce(json_agg(DISTINCT day::text), '[]') FROM changes CROSS JOIN unnest(days) AS day),
    'lines_new', (SELECT coalesce(sum(lines_new), 0)::bigint FROM changes),
    'lines_changed', (SELECT coalesce(sum(lines_changed), 0)::bigint FROM changes),
    'lines_gone', (SELECT coalesce(sum(lines_gone), 0)::bigint FROM changes),
    'sums', CASE WHEN NOT EXISTS (SELECT FROM changes WHERE sums IS NULL) THEN (SELECT coalesce(json_agg(summed ORDER BY summed.currency), '[]') FROM (
      SELECT currency, ${plain("amount")} FROM changes CROSS JOIN jsonb_to_recordset(sums) AS sum (currency text, amount numeric)
      GROUP BY currency) AS summed) END,
    'together_with', (SELECT coalesce(json_agg(DISTINCT other), '[]') FROM changes CROSS JOIN unnest(deliveries) AS other WHERE other <> page.delivery_id),
    'has_other_causes', EXISTS (SELECT FROM changes WHERE is_mixed))`;

const SHOWN = `delivery_id, source, billing_period, kind, state, problem,
  (SELECT coalesce(json_agg(json_build_object('name', file->>'name', 'size', file->'size', 'version', file->>'version', 'format', file->>'format',
      'focus_version', file->>'focus_version',
      'dataset', file->>'dataset') ORDER BY place), '[]')
    FROM jsonb_array_elements(files) WITH ORDINALITY AS each (file, place) WHERE place <= ${MOST_FILES}) AS files,
  jsonb_array_length(files) AS file_count,
  (SELECT coalesce(json_agg(json_build_object('name', twin->>'name', 'size', twin->'size', 'same_as', twin->>'same_as',
      'same_as_source', twin->>'same_as_source') ORDER BY place), '[]')
    FROM jsonb_array_elements(duplicates) WITH ORDINALITY AS each (twin, place) WHERE place <= ${MOST_FILES}) AS duplicates,
  (SELECT coalesce(json_agg(json_build_object('name', pair->'side'->>'name', 'other_delivery_id', (pair->'other'->>'delivery')::bigint,
      'other_name', pair->'other'->>'name', 'account_id', pair->>'account', 'billing_period', pair->>'period', 'days', pair->'days',
      'amounts', pair->'amounts') ORDER BY place), '[]')
    FROM jsonb_array_elements(coalesce(shared_charges, '[]')) WITH ORDINALITY AS each (pair, place) WHERE place <= ${MOST_FILES}) AS overlaps, lines, sums,
  (SELECT coalesce(json_agg(counted ORDER BY counted.currency, counted.class, counted.reason), '[]') FROM (
    SELECT currency, class, reason, sum(rows)::bigint AS rows, ${plain("cost")}, ${plain("billed")}, ${plain("effective")}
    FROM control_totals WHERE control_totals.tenant_name = page.tenant_name AND control_totals.delivery_id = page.delivery_id AND class <> 'delivered'
    GROUP BY currency, class, reason) AS counted) AS classes,
  (WITH changes AS (SELECT days, deliveries, lines_new, lines_changed, lines_gone, sums, is_mixed FROM delivery_changes
      WHERE delivery_changes.tenant_name = page.tenant_name AND is_published AND deliveries @> ARRAY[page.delivery_id]) SELECT ${CHANGE}) AS change, findings, remarks, first_day::text AS first_day, last_day::text AS last_day,
  ${instantText("started_at")} AS started_at, ${instantText("loaded_at")} AS loaded_at, ${instantText("accepted_at")} AS accepted_at,
  ${instantText("replaced_at")} AS replaced_at, ${instantText("expired_at")} AS expired_at`;

/**
 * Selects `{total, delivery}`, newest first: one row more than a page if more follow; for an empty page, one row
 * without a delivery.
 */
function deliveryPage(
  tenantName: string,
  { page, page_size, state }: PageRequest & { readonly state?: DeliveryState | undefined },
  after: CursorKey | undefined,
): PgStatement {
  const { bind, params } = bindings();
  const tenant = bind(tenantName);
  const wanted = `tenant_name = ${tenant}${state === undefined ? "" : ` AND state = ${bind(state)}`}`;
  const afterCursor = after ? `delivery_id < ${bind(after[0])}::bigint` : "true";
  return {
    query: `
SELECT total, CASE WHEN delivery_id IS NOT NULL THEN (SELECT row_to_json(shown) FROM (SELECT ${SHOWN}) AS shown) END AS delivery
FROM (SELECT count(*) AS total FROM deliveries WHERE ${wanted}) AS counted
LEFT JOIN (
  SELECT * FROM deliveries WHERE ${wanted} AND ${afterCursor}
  ORDER BY delivery_id DESC
  LIMIT ${bind(page_size + 1)} OFFSET ${bind((page - 1) * page_size)}
) AS page ON true
ORDER BY delivery_id DESC`,
    params,
  };
}

/** Throws InvalidParameterError for an invalid cursor. */
export async function readDeliveries(
  pool: Pool,
  tenantName: string,
  input: PageRequest & { readonly state?: DeliveryState | undefined; readonly cursor?: string | undefined },
  signal?: AbortSignal,
): Promise<{ items: ListedDelivery[]; total: number; next_cursor: string | null }> {
  const fingerprint = cursorFingerprint({ tenantName, state: input.state });
  const after = cursorOf(input, "deliveries", fingerprint, ["integer"]);
  const read = deliveryPage(tenantName, input, after);
  const rows = await readPostgres<{ total: number; delivery: ListedDelivery | null }>(pool, read, signal);
  const found = rows.flatMap(({ delivery }) => delivery ?? []);
  const cursor = ({ delivery_id }: ListedDelivery) => encodeCursor("deliveries", fingerprint, [delivery_id]);
  return { ...cutPage(found, input.page_size, cursor), total: rows[0]?.total ?? 0 };
}

/** Returns undefined if the tenant has no such delivery. */
export async function readDelivery(
  pool: Pool,
  tenantName: string,
  deliveryId: number,
  signal?: AbortSignal,
): Promise<ListedDelivery | undefined> {
  const query = `SELECT (SELECT row_to_json(shown) FROM (SELECT ${SHOWN}) AS shown) AS delivery
FROM deliveries AS page WHERE tenant_name = $1 AND delivery_id = $2`;
  const read = { query, params: [tenantName, deliveryId] };
  const [row] = await readPostgres<{ delivery: ListedDelivery }>(pool, read, signal);
  return row?.delivery;
}
