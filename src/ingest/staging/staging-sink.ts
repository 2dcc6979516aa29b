/**
 * The sink that a gatherer fills: it checks every record and hands it to the writer.
 *
 * Nothing vanishes silently. What lies outside the window is counted. A billing line that cannot be stored makes its day
 * incomplete, because a bill without it would be wrong. A usage fact that cannot be stored makes a gap of its metric, resource
 * and day, and a member of an identity set one of its set: the bill stands, and allocation knows that its weights do not.
 */
import { isoTime, midnightSeconds } from "../../time/days.js";
import type { DayWindow, UsageFact, UsageGap, UsageSeries, WindowSink } from "../ecosystem.js";
import type { MicroUnits } from "../micro-units.js";
import { factsOf } from "../usage-series.js";
import { quoted, refuser } from "./refuse.js";
import { rowText } from "./row-text.js";
import { seriesBytes } from "./series-bytes.js";
import type { StagingWriter } from "./staging-writer.js";

export interface SinkFindings {
  /** Records not taken, by reason. */
  readonly dropped: Record<string, number>;
  /** Days that cannot be complete, with the reason. */
  readonly spoiledDays: Map<string, string>;
  readonly counts: { billing: number; usage: number };
}

export interface StagingSink extends WindowSink {
  readonly findings: SinkFindings;
}

export interface SinkOptions {
  readonly window: DayWindow;
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
  const findings: SinkFindings = { dropped: {}, spoiledDays: new Map(), counts: { billing: 0, usage: 0 } };
  const inside = (day: string) => day >= window.start && day < window.end;
  const drop = (reason: string) => {
    findings.dropped[reason] = (findings.dropped[reason] ?? 0) + 1;
    return false;
  };
  /** Every day, when the record does not even say which one it belongs to. */
  const spoil = (timestamp: string, reason: string) => {
    const day = timestamp.slice(0, 10);
    const key = /^\d{4}-\d{2}-\d{2}$/.test(day) && inside(day) ? day : EVERY_DAY;
    if (!findings.spoiledDays.has(key)) findings.spoiledDays.set(key, reason);
    return drop("malformed");
  };
  const gapsFound = new Set<string>();
  /** One for each day, metric and resource. */
  const newGap = (gap: UsageGap): UsageGap[] => {
    const key = JSON.stringify([gap.day, gap.metric, gap.resource_id]);
    if (!inside(gap.day) || gapsFound.has(key)) return [];
    gapsFound.add(key);
    return [gap];
  };

  const [from, to] = [midnightSeconds(window.start), midnightSeconds(window.end)];
  const isInside = (start: number) => start >= from && start < to && Number.isInteger(start);
  /** Whether all facts of a series are such as are taken: of any other, each is looked at for itself. */
  const isStorable = ({ starts, microUnits, scale, ...whose }: UsageSeries) =>
    refuseFact({ ...whose, scale: String(scale), timestamp: isoTime(from), micro_units: "0" }) ===
      undefined &&
    starts.length === microUnits.length &&
    starts.every(isInside) &&
    microUnits.every(isStorableAmount);

  async function usage(batch: readonly UsageFact[]): Promise<void> {
    const gaps: UsageGap[] = [];
    const taken = batch.filter((fact) => {
      const day = fact.timestamp.slice(0, 10);
      const refusal = refuseFact(fact);
      if (refusal === undefined) return inside(day) || drop("outside_window");
      const { metric, resource_id } = fact;
      const reason = `a usage fact of identity ${quoted(fact.identity_id)} cannot be stored: ${refusal}`;
      gaps.push(...newGap({ day, metric, resource_id, reason }));
      return drop("malformed");
    });
    findings.counts.usage += taken.length;
    await writer.add("usage", taken.map(usageRow));
    await writer.add("usage_gaps", gaps.map(gapRow));
  }

  return {
    findings,
    async billing(batch) {
      const taken = batch.filter((line) => {
        const refusal = refuseLine(line);
        if (refusal !== undefined) {
          const name = `${quoted(line.product_type)} of resource ${quoted(line.resource_id)}`;
          return spoil(line.timestamp, `the billing line ${name} cannot be stored: ${refusal}`);
        }
        return inside(line.timestamp.slice(0, 10)) || drop("outside_window");
      });
      findings.counts.billing += taken.length;
      await writer.add("billing", taken.map(lineRow));
    },
    async billingRows(select) {
      findings.counts.billing += await writer.insertLines(select, { ecosystem, tenant_id: tenantId });
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
      const taken = batch.filter((member) => {
        const refusal = refuseMember(member);
        if (refusal === undefined) return inside(member.day) || drop("outside_window");
        const { day, scope, resource_id, identity_id } = member;
        const reason = `its member ${quoted(identity_id)} cannot be stored: ${refusal}`;
        gaps.push(...newGap({ day, metric: scope, resource_id, reason }));
        return drop("malformed");
      });
      await writer.add("identity_sets", taken.map(memberRow));
      await writer.add("usage_gaps", gaps.map(gapRow));
    },
    async usageGaps(batch) {
      const taken = batch.filter((gap) => inside(gap.day) || drop("outside_window"));
      await writer.add("usage_gaps", taken.map(gapRow));
    },
    async usageGapsOfBilled(batch) {
      const taken = batch.filter((gap) => inside(gap.day) || drop("outside_window"));
      if (taken.length > 0) await writer.insertGapsOfBilled(taken);
    },
  };
}

/** Of at most 31 digits, as in a fact. */
const MOST_MICRO_UNITS = 10n ** 31n - 1n;

function isStorableAmount(amount: MicroUnits): boolean {
  return typeof amount === "number"
    ? Number.isSafeInteger(amount) && amount >= 0
    : amount >= 0n && amount <= MOST_MICRO_UNITS;
}

/** Key of a record that no day can be told of: the whole window is then incomplete. */
export const EVERY_DAY = "every day";
