/**
 * Handles charges that a source delivers in another way than before: in files of months instead of one without a month,
 * as snapshots instead of additions, or as an addition under another name. A delivery replaces the one of its scope;
 * here the scopes differ, so both would count.
 *
 * The old deliveries are retired in the same transaction in which their replacements begin to count. An old delivery
 * that shares no day with the new ones stays: that it is no longer delivered does not mean that it was not charged.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../../../clickhouse/statement.js";
import { LeaseLostError } from "../../../../common/lease-lost.js";
import { type PgStatement, runStatement } from "../../../../postgres/statement.js";
import { withTransaction } from "../../../../postgres/transaction.js";
import { lastDay } from "../lines/charge-days.js";
import { isCounted } from "../lines/counted.js";
import { sumsByCurrency } from "../load/summary.js";
import type { Delivery, SourceListing } from "../sources/delivery.js";
import type { DeliveryStore, LoadSettings } from "./delivery-store.js";
import { dropDelivery } from "./partitions.js";
import { type RecordedDelivery, recordedDeliveries, scopeOf } from "./records.js";
import { shrinkage, withCountedSums } from "./shrinkage.js";

/**
 * Why a delivery waits whose charges are also in deliveries of other scopes, until all deliveries of the source are
 * read.
 */
export const NOT_ALL_READ =
  "its source delivers charges in another way than before, and not all of them have been read";

export function isRecordOf(record: RecordedDelivery, delivery: Delivery, settingsHash: string): boolean {
  return (
    record.scope === scopeOf(delivery) &&
    record.content_id === delivery.id &&
    record.settings_hash === settingsHash
  );
}

/** Returns records of a kind that the source no longer delivers. A source that lists no bill shows no kind. */
export function relocatedRecords(
  records: readonly RecordedDelivery[],
  { deliveries, pending }: SourceListing,
): RecordedDelivery[] {
  if (deliveries.length === 0) return [];
  const bills = [...deliveries, ...pending];
  const kinds = new Set(bills.map(({ kind }) => kind));
  const dated = bills.some((bill) => bill.kind === "snapshot" && bill.billing_period !== undefined);
  const undated = bills.some((bill) => bill.kind === "snapshot" && bill.billing_period === undefined);
  const additions = deliveries.filter(({ kind }) => kind === "additive");
  const names = new Set(additions.map(scopeOf));
  const versions = new Set(additions.map(({ files }) => files[0]?.version));
  return records.filter(({ state, kind, scope, version }) => {
    if (state === "expired") return false;
    if (!kinds.has(kind)) return true;
    if (kind === "additive") return !names.has(scope) && version !== null && versions.has(version);
    return scope === "" ? dated && !undated : undated && !dated;
  });
}

export interface SharedDays {
  /** Id of the delivery. */
  readonly delivery: string;
  /**
   * Number of its charged days that the other deliveries have no charge on, and the first of them. Days outside of the
   * retention are ignored.
   */
  readonly lacking: number;
  readonly first: string;
}

/** Returns those of `moved` that have charges on the same days as the deliveries `now`. */
export async function sharedDays(
  client: ClickHouseClient,
  moved: readonly RecordedDelivery[],
  now: readonly string[],
  { keepFrom, spread }: Pick<LoadSettings, "keepFrom" | "spread">,
  signal: AbortSignal,
): Promise<SharedDays[]> {
  if (moved.length === 0 || now.length === 0) return [];
  const days = (name: string) =>
    `SELECT DISTINCT charge_day FROM focus_lines WHERE delivery IN {${name}:Array(UInt64)} AND charge_day > toDate(0)`;
  const query = `SELECT toString(delivery) AS delivery, toUInt32(countIf(NOT shared AND kept)) AS lacking,
      toString(minIf(charge_day, NOT shared AND kept)) AS first
    FROM (SELECT delivery, charge_day, charge_day IN (${days("now")}) AS shared, max(${lastDay(spread)}) >= {keepFrom:Date} AS kept FROM focus_lines
      WHERE delivery IN {moved:Array(UInt64)} AND charge_day > toDate(0) AND ${isCounted(moved)} GROUP BY delivery, charge_day)
    GROUP BY delivery HAVING countIf(shared) > 0 ORDER BY delivery`;
  const numbers = (ids: readonly string[]) => ids.map(Number);
  const params = { moved: numbers(moved.map(({ delivery_id }) => delivery_id)), now: numbers(now), keepFrom };
  return await readRows<SharedDays>(client, { query, params }, signal);
}

/** Makes the replacements of relocated records count, or returns why not. */
export async function applyRelocations(
  store: DeliveryStore,
  source: string,
  listing: SourceListing,
  settings: LoadSettings,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { client, postgres, backupLock, tenantName, epoch } = store;
  const records = (await recordedDeliveries(store)).filter((each) => each.source === source);
  const listed = listing.deliveries.flatMap(
    (delivery) => records.findLast((each) => isRecordOf(each, delivery, settings.hash)) ?? [],
  );
  const counting = listed.filter(({ state }) => state === "current");
  const held = listed.filter(
    ({ state, replaces }) => state === "waiting_for_acceptance" && replaces.length > 0,
  );
  const expired = listed.filter(({ state }) => state === "expired");
  const moved = relocatedRecords(records, listing).filter((each) => !listed.includes(each));
  const current = moved.filter(({ state }) => state === "current");
  const shared = await sharedDays(client, current, idsOf([...counting, ...held]), settings, signal);
  const retired = current.filter(({ delivery_id }) => shared.some((each) => each.delivery === delivery_id));
  if (retired.length + held.length === 0) return undefined;
  const scopes = new Set(held.map(({ scope }) => scope));
  const replaced = records.filter(({ state, scope }) => state === "current" && scopes.has(scope));
  const old = await withCountedSums(client, [...retired, ...replaced], signal);
  const others = listed.filter(({ state }) => state === "no_bill");
  const settled = counting.length + held.length + expired.length + others.length;
  const isWhole = listing.pending.length === 0 && settled === listing.deliveries.length;
  const problem =
    retired.length === 0
      ? undefined
      : relocationProblem({ retired, shared, old, counting, held, expired, isWhole }, settings);
  const ids = idsOf(held);
  if (problem !== undefined) {
    await runStatement(postgres, holdRelocated(tenantName, ids, problem));
    return problem;
  }
  const waiting = moved.filter(({ state }) => state !== "current");
  const replacement = { tenantName, source, epoch, held: ids, retired: idsOf([...retired, ...waiting]) };
  await backupLock.shared(async () => {
    await withTransaction(postgres, async (on) => {
      const [lease, ...changes] = applyRelocation(replacement);
      if (lease === undefined || (await runStatement(on, lease)).rowCount !== 1)
        throw new LeaseLostError(epoch);
      for (const statement of changes) await runStatement(on, statement);
    });
    for (const { delivery_id } of [...old, ...waiting]) await dropDelivery(client, delivery_id);
  }, signal);
  return undefined;
}

interface Candidates {
  readonly retired: readonly RecordedDelivery[];
  readonly shared: readonly SharedDays[];
  /** The retired deliveries, and those that count in the scopes of `held`. */
  readonly old: readonly RecordedDelivery[];
  readonly counting: readonly RecordedDelivery[];
  readonly held: readonly RecordedDelivery[];
  readonly expired: readonly RecordedDelivery[];
  /** True if everything that the source lists is among the three. */
  readonly isWhole: boolean;
}

/** Returns why the new deliveries must not replace the old ones, as a sentence that names both. */
function relocationProblem(
  { retired, shared, old, counting, held, expired, isWhole }: Candidates,
  { shrinkLimit: limit, today }: LoadSettings,
): string | undefined {
  const lacking = shared.reduce((sum, each) => sum + each.lacking, 0);
  const first = shared
    .filter((each) => each.lacking > 0)
    .map((each) => each.first)
    .sort()[0];
  const loaded = totalOf([...counting, ...held, ...expired]);
  const [newest] = [...old].sort((a, b) => ((a.last_day ?? "") < (b.last_day ?? "") ? 1 : -1));
  const before = totalOf(old);
  const shrunk =
    newest === undefined
      ? undefined
      : shrinkage({
          old: { ...newest, billing_period: null, ...before, lines: String(before.lines) },
          loaded,
          limit,
          today,
        });
  const reason = !isWhole
    ? "not all bills of the source are ready"
    : lacking > 0
      ? `${lacking === 1 ? "1 day" : `${lacking} days`} of what is there now would be lost, from ${first} on`
      : shrunk;
  if (reason === undefined) return undefined;
  return `${namesOf(held.length > 0 ? held : counting)} would take the place of ${namesOf(retired)}, because the source delivers in another way now; but ${reason}`;
}

function totalOf(records: readonly RecordedDelivery[]) {
  const lines = records.reduce((total, record) => total + Number(record.lines ?? 0), 0);
  return { lines, sums: sumsByCurrency(records.flatMap((record) => record.sums)) };
}

const MOST_NAMED = 3;

function namesOf(records: readonly RecordedDelivery[]): string {
  const names = records.map(({ kind, scope }) => {
    if (kind === "additive") return `the addition ${scope}`;
    return scope === "" ? "the bill without a month" : `the bill of ${scope}`;
  });
  const more = names.length > MOST_NAMED ? [`${names.length - MOST_NAMED} more`] : [];
  const shown = [...names.slice(0, MOST_NAMED), ...more];
  return shown.length === 1 ? (shown[0] ?? "") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

function idsOf(records: readonly RecordedDelivery[]): string[] {
  return records.map(({ delivery_id }) => delivery_id);
}

interface Relocation {
  readonly tenantName: string;
  readonly source: string;
  readonly epoch: number;
  /** Ids of deliveries that no longer count. */
  readonly retired: readonly string[];
  /** Ids of deliveries that wait, and from now on count in place of those of their scopes. */
  readonly held: readonly string[];
}

/** Run these in one transaction, in this order. The first one returns no row if the lease is lost; then roll back. */
function applyRelocation({ tenantName, source, epoch, retired, held }: Relocation): PgStatement[] {
  return [
    {
      query: "SELECT epoch FROM leases WHERE tenant_name = $1 AND epoch = $2",
      params: [tenantName, epoch],
    },
    {
      query: `UPDATE deliveries AS old SET state = 'replaced', replaced_at = now(), problem = NULL, loaded_at = coalesce(old.loaded_at, now())
        WHERE tenant_name = $1 AND source = $2 AND (delivery_id = ANY ($3::bigint[]) OR (state IN ('current', 'expired') AND scope IN (
          SELECT scope FROM deliveries WHERE tenant_name = $1 AND source = $2 AND delivery_id = ANY ($4::bigint[]))))`,
      params: [tenantName, source, retired, held],
    },
    {
      query:
        "UPDATE deliveries SET state = 'current', problem = NULL, waits_for = NULL WHERE tenant_name = $1 AND delivery_id = ANY ($2::bigint[])",
      params: [tenantName, held],
    },
  ];
}

/** Records why deliveries still wait. */
function holdRelocated(tenantName: string, held: readonly string[], problem: string): PgStatement {
  return {
    query: `UPDATE deliveries SET problem = $3
      WHERE tenant_name = $1 AND delivery_id = ANY ($2::bigint[]) AND state = 'waiting_for_acceptance'`,
    params: [tenantName, held, problem],
  };
}
