/**
 * The sink that a gatherer fills: it checks every record and hands it to the writer.
 *
 * Nothing vanishes silently. What lies outside the window is counted. A billing line that cannot be stored makes its day
 * incomplete, because a bill without it would be wrong. A usage fact that cannot be stored makes a gap of its metric, resource
 * and day: the bill stands, and allocation knows that its weights do not.
 */
import type { DayWindow, UsageGap, WindowSink } from "../ecosystem.js";
import { quoted, refuseBillingLine, refuseMember, refuseUsageFact } from "./refuse.js";
import { billingRow, gapRow, memberRow, usageRow } from "./row-text.js";
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

export function createStagingSink({ window, ecosystem, tenantId, writer }: SinkOptions): StagingSink {
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

  return {
    findings,
    async billing(batch) {
      const taken = batch.filter((line) => {
        const refusal = refuseBillingLine(line);
        if (refusal !== undefined) {
          const name = `${quoted(line.product_type)} of resource ${quoted(line.resource_id)}`;
          return spoil(line.timestamp, `the billing line ${name} cannot be stored: ${refusal}`);
        }
        return inside(line.timestamp.slice(0, 10)) || drop("outside_window");
      });
      findings.counts.billing += taken.length;
      await writer.add(
        "billing",
        taken.map((line) => billingRow(line, ecosystem, tenantId)),
      );
    },
    async usage(batch) {
      const gaps: UsageGap[] = [];
      const taken = batch.filter((fact) => {
        const day = fact.timestamp.slice(0, 10);
        const refusal = refuseUsageFact(fact);
        if (refusal === undefined) return inside(day) || drop("outside_window");
        const { metric, resource_id } = fact;
        const key = JSON.stringify([day, metric, resource_id]);
        if (inside(day) && !gapsFound.has(key)) {
          const reason = `a usage fact of identity ${quoted(fact.identity_id)} cannot be stored: ${refusal}`;
          gapsFound.add(key);
          gaps.push({ day, metric, resource_id, reason });
        }
        return drop("malformed");
      });
      findings.counts.usage += taken.length;
      await writer.add("usage", taken.map(usageRow));
      await writer.add("usage_gaps", gaps.map(gapRow));
    },
    async identitySets(batch) {
      const taken = batch.filter((member) => {
        const refusal = refuseMember(member);
        if (refusal !== undefined)
          return spoil(member.day, `a member of ${member.scope} cannot be stored: ${refusal}`);
        return inside(member.day) || drop("outside_window");
      });
      await writer.add("identity_sets", taken.map(memberRow));
    },
    async usageGaps(batch) {
      const taken = batch.filter((gap) => inside(gap.day) || drop("outside_window"));
      await writer.add("usage_gaps", taken.map(gapRow));
    },
  };
}

/** Key of a record that no day can be told of: the whole window is then incomplete. */
export const EVERY_DAY = "every day";
