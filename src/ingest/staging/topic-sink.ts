/**
 * The sink for usage of topics, as strict as the sink of a bill. A fact that cannot be stored makes a gap of its
 * metric, cluster and day, so that attribution knows that its weights are incomplete.
 */
import type { TopicSink, UsageGap } from "../ecosystem.js";
import { quotedValue, refuser, rowText } from "./staged-row.js";
import type { StagingWriter } from "./staging-writer.js";

export interface CountingTopicSink extends TopicSink {
  /** Records that were not taken, by reason. */
  readonly dropped: Record<string, number>;
}

const refuseFact = refuser("topic_usage");
const usageRow = rowText("topic_usage");
const gapRow = rowText("topic_usage_gaps");

/**
 * `billed`: cluster → days on which it has lines that are attributed. A cluster that was created or deleted within the
 * window has no lines on the other days. Their gaps are not stored, because they would make the attributions
 * provisional.
 */
export function createTopicSink(
  days: ReadonlySet<string>,
  billed: ReadonlyMap<string, ReadonlySet<string>>,
  writer: StagingWriter,
): CountingTopicSink {
  const dropped: Record<string, number> = {};
  const drop = (reason: string) => {
    dropped[reason] = (dropped[reason] ?? 0) + 1;
    return false;
  };
  const reportedGaps = new Set<string>();
  const isBilled = ({ day, resource_id }: UsageGap) => billed.get(resource_id)?.has(day) === true;
  return {
    dropped,
    async usage(batch) {
      const gaps: UsageGap[] = [];
      const accepted = batch.filter((fact) => {
        const day = fact.timestamp.slice(0, 10);
        if (!days.has(day)) return drop("outside_window");
        const refusal = refuseFact(fact);
        if (refusal === undefined) return true;
        const { metric, resource_id } = fact;
        const key = JSON.stringify([day, metric, resource_id]);
        if (!reportedGaps.has(key)) {
          const reason = `usage of topic ${quotedValue(fact.topic_name)} cannot be stored: ${refusal}`;
          gaps.push({ day, metric, resource_id, reason });
        }
        reportedGaps.add(key);
        return drop("malformed");
      });
      await writer.add("topic_usage", accepted.map(usageRow));
      await writer.add("topic_usage_gaps", gaps.filter(isBilled).map(gapRow));
    },
    async usageGaps(batch) {
      const accepted = batch.filter((gap) => days.has(gap.day) || drop("outside_window"));
      await writer.add("topic_usage_gaps", accepted.filter(isBilled).map(gapRow));
    },
  };
}
