/**
 * The uploaded usage that counts: its facts for the staging tables, and gaps for uploads that are missing from the
 * store.
 */
import { createHash } from "node:crypto";
import { numberedPartitions } from "../../clickhouse/partitions.js";
import type { Statement } from "../../clickhouse/statement.js";
import type { DayRange } from "../../common/days.js";
import { runStatement } from "../../postgres/statement.js";
import type { WindowSink } from "../ecosystem.js";
import { UPLOADS_TABLE, type UploadStore } from "./take-upload.js";

/** The upload that the usage of a day and metric comes from. */
export interface CoveredDay {
  readonly day: string;
  readonly metric: string;
  readonly upload_id: string;
}

/** Returns the covered days of these metrics in a window, ascending. */
export async function uploadedDays(
  { postgres, tenantName }: Pick<UploadStore, "postgres" | "tenantName">,
  { start, end }: DayRange,
  metrics: readonly string[],
): Promise<CoveredDay[]> {
  if (metrics.length === 0) return [];
  const { rows } = await runStatement<CoveredDay>(postgres, {
    query: `SELECT day::text, metric, upload_id::text FROM usage_days
      WHERE tenant_name = $1 AND day >= $2 AND day < $3 AND metric = ANY($4) ORDER BY day, metric`,
    params: [tenantName, start, end, metrics],
  });
  return rows;
}

/** Returns a digest that is equal for equal covered days. */
export function coverDigest(covered: readonly CoveredDay[]): string {
  const text = JSON.stringify(covered.map(({ day, metric, upload_id }) => [day, metric, upload_id]));
  return createHash("sha256").update(text).digest("hex");
}

const GONE = "what was uploaded is not in the store any more: upload it again, under another key";

/** Sends the facts of covered days. Runs after the bill of the window. An upload that the store has lost makes gaps. */
export async function sendUploaded(
  { client }: Pick<UploadStore, "client">,
  covered: readonly CoveredDay[],
  sink: WindowSink,
  signal: AbortSignal,
): Promise<void> {
  if (covered.length === 0) return;
  const stored = new Set(await numberedPartitions(client, UPLOADS_TABLE, signal));
  const found = covered.filter(({ upload_id }) => stored.has(upload_id));
  if (found.length > 0) await sink.usageRows(uploadedFacts(found));
  const lost = covered.filter(({ upload_id }) => !stored.has(upload_id));
  await sink.usageGapsOfBilled(lost.map(({ day, metric }) => ({ day, metric, reason: GONE })));
}

function uploadedFacts(covered: readonly CoveredDay[]): Statement {
  return {
    query: `SELECT timestamp, metric, resource_id, identity_id, micro_units, scale FROM ${UPLOADS_TABLE}
      WHERE upload_id IN {uploads:Array(UInt64)} AND refused = '' AND (day, toString(metric), upload_id) IN (
        SELECT arrayJoin(arrayZip({days:Array(Date)}, {metrics:Array(String)}, {uploads:Array(UInt64)})))`,
    params: {
      uploads: covered.map(({ upload_id }) => Number(upload_id)),
      days: covered.map(({ day }) => day),
      metrics: covered.map(({ metric }) => metric),
    },
  };
}
