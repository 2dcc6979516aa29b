/**
 * The sink that a gatherer fills. It checks every record and passes it to the writer.
 *
 * Nothing disappears silently. Records outside of the window are counted. A billing line that cannot be stored makes
 * its day incomplete, because a bill without it would be wrong. A usage fact that cannot be stored makes a gap of its
 * metric, resource and day if the resource is billed, and a member of an identity set makes a gap of its set: the bill
 * stands, and allocation knows that its weights are incomplete.
 */
import { type DayRange, isoTime, midnightSeconds } from "../../common/days.js";
import type { UsageFact, UsageGap, UsageSeries, WindowSink } from "../ecosystem.js";
import type { MicroUnits } from "../micro-units.js";
import { factsOf } from "../usage-series.js";
import { seriesBytes } from "./series-bytes.js";
import { quotedValue, refuser, rowText } from "./staged-row.js";
import type { StagingWriter } from "./staging-writer.js";

export interface SinkFindings {
  /** Records that were not taken, by reason. */
  readonly dropped: Record<string, number>;
  /** Days that cannot be complete, with the reason. */
  readonly incompleteDays: Map<string, string>;
  /** `selected`: lines of the bill that the engine selected, which have their rule and identity. */
  readonly counts: { billing: number; selected: number; usage: number };
}

export interface StagingSink extends WindowSink {
  readonly findings: SinkFindings;
  /** Sends everything that remains. Called after the gathering. */
  finish(): Promise<void>;
}

export interface SinkOptions {
  readonly window: DayRange;
  readonly ecosystem: string;
  readonly tenantId: string;
  readonly writer: StagingWriter;
}

const refuseLine = refuser("billing");
const refuseFact = refuser("usage");
const refuseMember = refuser("identity_sets");
const usageRow = rowText("usage");
const memberRow = rowText("identity_sets");
const gapRow = rowText("usage_gaps");

export function createStagingSink({ window, ecosystem, tenantId, writer }: SinkOptions): StagingSink {
  const lineRow = rowText("billing", { ecosystem, tenant_id: tenantId });
  const findings: SinkFindings = {
    dropped: {},
    incompleteDays: new Map(),
    counts: { billing: 0, selected: 0, usage: 0 },
  };
  const isInWindow = (day: string) => day >= window.start && day < window.end;
  const drop = (reason: string) => {
    findings.dropped[reason] = (findings.dropped[reason] ?? 0) + 1;
    return false;
  };
  /** Marks the day as incomplete, or every day if the record does not state its day. */
  const markIncomplete = (timestamp: string, reason: string) => {
    const day = timestamp.slice(0, 10);
    const key = /^\d{4}-\d{2}-\d{2}$/.test(day) && isInWindow(day) ? day : EVERY_DAY;
    if (!findings.incompleteDays.has(key)) findings.incompleteDays.set(key, reason);
    return drop("malformed");
  };
  const gapsFound = new Set<string>();
  /** Returns one gap for each day, metric and resource. */
  const newGap = (gap: UsageGap): UsageGap[] => {
    const key = JSON.stringify([gap.day, gap.metric, gap.resource_id]);
    if (!isInWindow(gap.day) || gapsFound.has(key)) return [];
    gapsFound.add(key);
    return [gap];
  };

  const [from, to] = [midnightSeconds(window.start), midnightSeconds(window.end)];
  const isInside = (start: number) => start >= from && start < to && Number.isInteger(start);
  /** Returns true if all facts of a series can be stored. Other series are checked fact by fact. */
  const isStorable = ({ starts, microUnits, scale, ...labels }: UsageSeries) =>
    refuseFact({ ...labels, scale: String(scale), timestamp: isoTime(from), micro_units: "0" }) ===
      undefined &&
    starts.length === microUnits.length &&
    starts.every(isInside) &&
    microUnits.every(isStorableAmount);

  /** Held until the end, when it is known whether their resources are billed. */
  const refusedUsage: UsageGap[] = [];

  async function usage(batch: readonly UsageFact[]): Promise<void> {
    const accepted = batch.filter((fact) => {
      const day = fact.timestamp.slice(0, 10);
      const refusal = refuseFact(fact);
      if (refusal === undefined) return isInWindow(day) || drop("outside_window");
      const { metric, resource_id } = fact;
      const reason = `a usage fact of identity ${quotedValue(fact.identity_id)} cannot be stored: ${refusal}`;
      refusedUsage.push(...newGap({ day, metric, resource_id, reason }));
      return drop("malformed");
    });
    findings.counts.usage += accepted.length;
    await writer.add("usage", accepted.map(usageRow));
  }

  return {
    findings,
    async finish() {
      await writer.finish();
      if (refusedUsage.length > 0) await writer.insertGapsOfBilled(refusedUsage);
    },
    async billing(batch) {
      const accepted = batch.filter((line) => {
        const refusal = refuseLine(line);
        if (refusal !== undefined) {
          const name = `${quotedValue(line.product_type)} of resource ${quotedValue(line.resource_id)}`;
          return markIncomplete(line.timestamp, `the billing line ${name} cannot be stored: ${refusal}`);
        }
        return isInWindow(line.timestamp.slice(0, 10)) || drop("outside_window");
      });
      findings.counts.billing += accepted.length;
      await writer.add("billing", accepted.map(lineRow));
    },
    async billingRows(select) {
      const inserted = await writer.insertLines(select, { ecosystem, tenant_id: tenantId });
      findings.counts.billing += inserted;
      findings.counts.selected += inserted;
    },
    usage,
    async usageRows(select) {
      findings.counts.usage += await writer.insertUsage(select);
    },
    async usageSeries(batch) {
      const whole = batch.filter(isStorable);
      for (const { starts } of whole) findings.counts.usage += starts.length;
      await writer.add("usage_series", whole.flatMap(seriesBytes));
      if (whole.length < batch.length) await usage(factsOf(batch.filter((series) => !isStorable(series))));
    },
    async identitySets(batch) {
      const gaps: UsageGap[] = [];
      const accepted = batch.filter((member) => {
        const refusal = refuseMember(member);
        if (refusal === undefined) return isInWindow(member.day) || drop("outside_window");
        const { day, scope, resource_id, identity_id } = member;
        const reason = `its member ${quotedValue(identity_id)} cannot be stored: ${refusal}`;
        gaps.push(...newGap({ day, metric: scope, resource_id, reason }));
        return drop("malformed");
      });
      await writer.add("identity_sets", accepted.map(memberRow));
      await writer.add("usage_gaps", gaps.map(gapRow));
    },
    async usageGaps(batch) {
      const accepted = batch.filter((gap) => isInWindow(gap.day) || drop("outside_window"));
      await writer.add("usage_gaps", accepted.map(gapRow));
    },
    async usageGapsOfBilled(batch) {
      const accepted = batch.filter((gap) => isInWindow(gap.day) || drop("outside_window"));
      if (accepted.length > 0) await writer.insertGapsOfBilled(accepted);
    },
  };
}

/** At most 31 digits, as in a fact. */
const MOST_MICRO_UNITS = 10n ** 31n - 1n;

function isStorableAmount(amount: MicroUnits): boolean {
  return typeof amount === "number"
    ? Number.isSafeInteger(amount) && amount >= 0
    : amount >= 0n && amount <= MOST_MICRO_UNITS;
}

/** Key of a record without a known day. The whole window is then incomplete. */
export const EVERY_DAY = "every day";
