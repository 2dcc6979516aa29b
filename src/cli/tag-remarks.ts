/** Finds tags whose key differs only in case between the configuration and the bills. */
import type { Probe } from "../ingest/reports.js";

/** @param tags keys that the configuration reads. @returns the probes, each followed by remarks on its tags */
export function withTagRemarks(probes: readonly Probe[], tags: readonly string[]): Probe[] {
  return probes.flatMap((probe) => [probe, ...tags.flatMap((tag) => remarksOn(probe, tag))]);
}

function remarksOn({ name, tags: sampled }: Probe, tag: string): Probe[] {
  if (sampled === undefined) return [];
  const lowerCaseTag = tag.toLowerCase();
  const sizes = new Map<string, number>();
  let all = 0;
  for (const { keys, size } of sampled.lines) {
    all += size;
    const similar = keys.includes(tag) ? undefined : keys.find((key) => key.toLowerCase() === lowerCaseTag);
    if (similar !== undefined) sizes.set(similar, (sizes.get(similar) ?? 0) + size);
  }
  return [...sizes]
    .filter(([, size]) => size > 0)
    .map(([similar, size]) => ({
      name,
      remark: `${percentOf(size / all)} of the cost (in the first ${sampled.lines.length} lines of ${sampled.file}) has the tag ${JSON.stringify(similar)} instead of ${JSON.stringify(tag)}. Set \`ignore_case: true\` to read both.`,
    }));
}

/** Formats a share from 0 to 1 as a percentage, rounded down. */
export function percentOf(share: number): string {
  const percent = Math.floor(share * 100);
  return percent === 0 ? "less than 1 %" : `${percent} %`;
}
