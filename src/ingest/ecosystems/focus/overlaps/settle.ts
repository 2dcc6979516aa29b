/** Applies the decisions on overlapping bills: a bill begins to count, waits, or counts in part. */
import { LeaseLostError } from "../../../../common/lease-lost.js";
import { retireDelivery, retirementsOf, type UncountedLines } from "../../../../postgres/retirement.js";
import { type PgStatement, runStatement } from "../../../../postgres/statement.js";
import { withTransaction } from "../../../../postgres/transaction.js";
import type { DeliveryStore } from "../deliveries/delivery-store.js";
import { dropDelivery } from "../deliveries/partitions.js";
import { type RecordedDelivery, recordedDeliveries } from "../deliveries/records.js";
import type { Overlap } from "./compare.js";
import { type Contender, type Decision, decide, type OverlapSettings, overlapProblem } from "./decide.js";

export interface OverlapReport {
  /** Sentences: overlaps that hold a bill, or with only one side charged until somebody decides. */
  readonly errors: readonly string[];
  /** Sentences: bills that count in others, because a setting or a person decided so. */
  readonly notes: readonly string[];
  /** All deliveries of the tenant, as they are now. */
  readonly recorded: readonly RecordedDelivery[];
}

export interface BillsOfRun {
  /** Names of the configured sources. */
  readonly configured: readonly string[];
  /** Ids of the deliveries that counted when the run began. */
  readonly counted: ReadonlySet<string>;
  /** Source and scope of these deliveries. */
  readonly scopes: ReadonlySet<string>;
  /** Scope and content id of each listed delivery, by source. Undefined for a source that could not be listed. */
  readonly listed: ReadonlyMap<string, ReadonlySet<string> | undefined>;
}

export const scopeKey = ({ source, scope }: Pick<RecordedDelivery, "source" | "scope">) =>
  JSON.stringify([source, scope]);
export const contentKey = ({ scope, content_id }: Pick<RecordedDelivery, "scope" | "content_id">) =>
  JSON.stringify([scope, content_id]);

export async function settleOverlaps(
  store: DeliveryStore,
  run: BillsOfRun,
  settings: OverlapSettings,
  signal: AbortSignal,
): Promise<OverlapReport> {
  // A bill that begins to count replaces others, and their overlaps end. So decide again until nothing changes.
  for (let pass = 1; ; pass++) {
    const recorded = await recordedDeliveries(store);
    const records = recorded.filter((each) => takesPart(each, run));
    const contenders = records.map((each) => contenderOf(each, run));
    const decisions = decide(contenders, settings);
    const changes = records.flatMap(
      (record) => changeOf(record, decisions.get(record.delivery_id), records) ?? [],
    );
    if (changes.length === 0 || pass === MOST_PASSES) return { ...reportOf(records, decisions), recorded };
    // A bill that another one replaces in this pass stays replaced, so its own change is left out.
    const replaced = new Set(changes.flatMap(({ drop }) => drop));
    await apply(
      store,
      changes.filter(({ delivery }) => !replaced.has(delivery)),
      signal,
    );
  }
}

const MOST_PASSES = 5;

function reportOf(
  records: readonly RecordedDelivery[],
  decisions: ReadonlyMap<string, Decision>,
): Pick<OverlapReport, "errors" | "notes"> {
  const sourceOf = sourcesOf(records);
  const errors = new Set<string>();
  const notes: string[] = [];
  for (const record of records) {
    const { held, undecided, superseded } = decisions.get(record.delivery_id) ?? NO_OVERLAPS;
    for (const each of held) errors.add(overlapProblem(each, sourceOf, waitingText(each, records)));
    for (const each of undecided)
      errors.add(overlapProblem(each, sourceOf, `${JSON.stringify(each.other.name)} alone is charged`));
    if (held.length === 0 && undecided.length === 0 && superseded.length > 0)
      notes.push(`${titleOf(record)}: ${supersededText(superseded)}`);
  }
  return { errors: [...errors], notes };
}

const NO_OVERLAPS: Decision = { held: [], superseded: [], undecided: [] };

/** Returns true for bills with lines that count or may count. A waiting bill that is no longer delivered is ignored. */
function takesPart(record: RecordedDelivery, { configured, listed }: BillsOfRun): boolean {
  const { source, state, waits_for, lines } = record;
  if (!configured.includes(source) || Number(lines ?? 0) === 0) return false;
  if (state === "current" || state === "superseded") return true;
  if (state !== "waiting_for_acceptance" || waits_for === "moved") return false;
  return listed.get(source)?.has(contentKey(record)) ?? true;
}

function contenderOf(record: RecordedDelivery, { counted, scopes }: BillsOfRun): Contender {
  const { delivery_id, source, state, accepted_at, shared_charges, replaces } = record;
  const follows = counted.has(delivery_id) || scopes.has(scopeKey(record)) || replaces.length > 0;
  return {
    delivery_id,
    source,
    accepted: accepted_at ?? undefined,
    overlaps: shared_charges ?? [],
    standing: !follows ? "new" : state === "waiting_for_acceptance" ? "follows" : "charged",
  };
}

const sourcesOf = (records: readonly RecordedDelivery[]) => {
  const sources = new Map(records.map(({ delivery_id, source }) => [delivery_id, source]));
  return (delivery: string) => sources.get(delivery) ?? "?";
};

function waitingText({ side, other }: Overlap, records: readonly RecordedDelivery[]): string {
  const current = records.filter(({ state }) => state === "current");
  const charged = [side, other].find(({ delivery }) => current.some((each) => each.delivery_id === delivery));
  if (charged !== undefined) return `what was charged before stays, which is ${JSON.stringify(charged.name)}`;
  const later = records.find(({ delivery_id }) => delivery_id === side.delivery);
  const before = current.some((each) => later !== undefined && scopeKey(each) === scopeKey(later));
  return before ? "what was charged before stays" : "neither is charged";
}

function titleOf({ source, billing_period, scope }: RecordedDelivery): string {
  return [source, billing_period ?? scope].filter((part) => part !== "").join(" ");
}

function supersededText(superseded: readonly UncountedLines[]): string {
  const parts = superseded.map(
    ({ account, period, from, to }) =>
      `${period} of account ${JSON.stringify(account)} from ${from ?? ""} to ${to ?? ""}`,
  );
  return `another bill is charged for ${[...new Set(parts)].join(", ")}`;
}

interface Change {
  /** Id of the delivery that changes. */
  readonly delivery: string;
  readonly statements: readonly PgStatement[];
  /** Ids of deliveries whose lines are dropped. */
  readonly drop: readonly string[];
}

function changeOf(
  record: RecordedDelivery,
  decision: Decision = NO_OVERLAPS,
  records: readonly RecordedDelivery[],
): Change | undefined {
  const { delivery_id: id, state, waits_for } = record;
  // A bill that has shrunk waits for a person, whatever it overlaps with.
  if (state === "waiting_for_acceptance" && waits_for !== "overlap") return undefined;
  const { held, superseded } = decision;
  if (held.length > 0) {
    const problem = overlapProblem(held[0] as Overlap, sourcesOf(records), "it waits");
    if (state === "waiting_for_acceptance" && record.problem === problem) return undefined;
    return {
      delivery: id,
      drop: [],
      statements: [
        {
          query: `UPDATE deliveries SET state = 'waiting_for_acceptance', waits_for = 'overlap', problem = $2, superseded = '[]' WHERE delivery_id = $1`,
          params: [id, problem],
        },
      ],
    };
  }
  const newState = isCovered(record, superseded) ? "superseded" : "current";
  if (state === newState && JSON.stringify(superseded) === JSON.stringify(record.superseded))
    return undefined;
  const settle: PgStatement = {
    query: `UPDATE deliveries SET state = $2, waits_for = NULL, problem = $3, superseded = $4::jsonb WHERE delivery_id = $1`,
    params: [
      id,
      newState,
      newState === "superseded" ? supersededText(superseded) : null,
      JSON.stringify(superseded),
    ],
  };
  const old =
    state === "waiting_for_acceptance"
      ? records.filter(
          (each) => each !== record && each.state === "current" && scopeKey(each) === scopeKey(record),
        )
      : [];
  const retirements = retirementsOf(old, {
    billing_period: record.billing_period,
    periods: record.periods ?? [],
  });
  return {
    delivery: id,
    statements: [...retirements.map(retireDelivery), settle],
    drop: retirements.flatMap(({ delivery_id, retired }) => (retired === undefined ? [delivery_id] : [])),
  };
}

/** Returns true if all of its lines with a date are charged in other bills. */
function isCovered({ periods, files }: RecordedDelivery, superseded: readonly UncountedLines[]): boolean {
  if (superseded.length === 0) return false;
  return (periods ?? []).every(
    ({ account, period, first_day, last_day }) =>
      period === "" ||
      superseded.some(
        (each) =>
          each.account === account &&
          each.period === period &&
          (each.files === null || each.files.length === files.length) &&
          (each.from ?? "") <= (first_day ?? "") &&
          (last_day ?? "") <= (each.to ?? "9"),
      ),
  );
}

async function apply(store: DeliveryStore, changes: readonly Change[], signal: AbortSignal): Promise<void> {
  const { client, postgres, backupLock, tenantName, epoch } = store;
  await backupLock.shared(async () => {
    await withTransaction(postgres, async (on) => {
      const lease = "SELECT epoch FROM leases WHERE tenant_name = $1 AND epoch = $2 FOR SHARE";
      if ((await runStatement(on, { query: lease, params: [tenantName, epoch] })).rowCount !== 1)
        throw new LeaseLostError(epoch);
      for (const statement of changes.flatMap((each) => each.statements)) await runStatement(on, statement);
    });
    for (const id of changes.flatMap((each) => each.drop)) await dropDelivery(client, id);
  }, signal);
}
