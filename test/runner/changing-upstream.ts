import { daysBefore } from "./runs.js";
import { scriptedUpstream } from "./scripted-upstream.js";
import { usualTopicRules, withTopicsOf } from "./topic-upstream.js";

/** Days with a bill, by their age. */
const ages = Array.from({ length: 8 }, (_, i) => i + 2);

/** One day in seven is not billed, a different one in each version. */
const isBilled = (age: number, version: number) => (age + version) % 7 !== 0;

/** Cents of a day's two larger lines, which change in each version on every day. */
const centsOf = (age: number, version: number) => 10_001 + ((age + version) % 3) * 100;

/** The bill of a version: the sum of each day's lines. */
export function billOf(version: number): Record<string, string> {
  const sum = (age: number) => ((2 * centsOf(age, version) * 10_000 + 333_333) / 1e6).toFixed(6);
  return Object.fromEntries(
    ages.filter((age) => isBilled(age, version)).map((age) => [daysBefore(age), sum(age)]),
  );
}

/** Days that a version bills and the version before did not. Their metrics never arrive. */
export function daysWithoutMetrics(version: number): string[] {
  const isNew = (age: number) => isBilled(age, version) && !isBilled(age, version - 1);
  return ages.filter(isNew).map(daysBefore).sort();
}

/**
 * An upstream whose bill and usage differ on every day from the version before. A day that was not billed before has no
 * metrics.
 */
export function changingUpstream(version: number) {
  const { upstream, ecosystems } = scriptedUpstream({ crowd: 300 });
  for (const age of ages.filter((each) => isBilled(each, version))) {
    const cost = (centsOf(age, version) / 100).toFixed(2);
    upstream.bill.set(daysBefore(age), { "r-1": cost, "r-2": "0.333333", "metered-1": cost });
  }
  for (const day of daysWithoutMetrics(version)) upstream.gaps.add(day);
  const topics = { orders: 1, users: version % 4, idle: 0 };
  const topicGaps = new Map([...upstream.gaps].map((day) => [day, ["topic_bytes_in"] as const]));
  return withTopicsOf(
    { topics, topicGaps, topicRules: usualTopicRules, onTopics: () => undefined },
    ecosystems,
  );
}
