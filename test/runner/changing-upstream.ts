import { daysBefore } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";
import { usualTopicRules, withTopicsOf } from "./topic-upstream.js";

/** Days back that the bill has. */
export const billedDays = 25;

/** A bill of 25 days, in which each version differs: two thirds of the days in their amounts, some in whether they exist. */
export function changingUpstream(version: number) {
  const { upstream, ecosystems } = scriptedUpstream({ crowd: 300 });
  for (let age = 2; age < 2 + billedDays; age += 1) {
    if ((age + version) % 7 === 0) continue;
    const cost = `${100 + ((age * version) % 3)}.01`;
    upstream.bill.set(daysBefore(age), { "r-1": cost, "r-2": "0.333333", "metered-1": cost });
  }
  const topics = { orders: 1, users: version % 4, idle: 0 };
  const topicGaps = new Map([[daysBefore(3 + (version % 5)), ["topic_bytes_in"] as const]]);
  return withTopicsOf(
    { topics, topicGaps, topicRules: usualTopicRules, onTopics: () => undefined },
    ecosystems,
  );
}
