/** Reports what the sources have: their bills, and the tags of the first lines of the newest one. */
import { addDays, type DayRange, lastOfMonth } from "../../../../common/days.js";
import { errorText } from "../../../../stores/error-text.js";
import type { Probe } from "../../../reports.js";
import type { CostColumn } from "../load/landing-columns.js";
import { sampleTags } from "../load/sample-tags.js";
import type { BillSource, Delivery, SupersededRuns } from "./delivery.js";

const counted = (count: number, what: string) => ({ [count === 1 ? what : `${what}s`]: count });

/** Returns one probe for each source, and one for each bill of it that waits. */
export async function probeSources(
  sources: readonly BillSource[],
  { cost, window }: { readonly cost: CostColumn; readonly window: DayRange },
  signal: AbortSignal,
): Promise<Probe[]> {
  const probes: Probe[] = [];
  for (const source of sources) {
    const name = `source ${source.name}`;
    try {
      const { deliveries, waiting, remarks, superseded = [], nothing } = await source.list(signal);
      const files = deliveries.reduce((sum, delivery) => sum + delivery.files.length, 0);
      const found = { ...counted(deliveries.length, "bill"), ...counted(files, "file") };
      if (nothing !== undefined) probes.push({ name, remark: `${nothing}: check \`location\`` });
      else if (deliveries.length > 0) {
        const tags = await tagsOf(deliveries.at(-1), cost, signal);
        probes.push({ name, found, period: periodOf(deliveries, window), ...(tags && { tags }) });
        probes.push(...beforeLookback(deliveries, window).map((remark) => ({ name, remark })));
      }
      probes.push(...superseded.map((runs) => ({ name, ...supersededRuns(runs) })));
      probes.push(...remarks.map((remark) => ({ name, remark })));
      probes.push(...waiting.map(({ name: bill, reason }) => ({ name, failure: `${bill}: ${reason}` })));
    } catch (error) {
      signal.throwIfAborted();
      probes.push({ name, failure: errorText(error) });
    }
  }
  return probes;
}

/** Names the months that there are bills of, and the days that every run charges. */
function periodOf(deliveries: readonly Delivery[], { start, end }: DayRange): string {
  const months = monthsOf(deliveries);
  const bills = months.length === 0 ? "no month in the paths" : spanOf(months);
  return `${bills}; charged: ${start} to ${addDays(end, -1)}`;
}

/** Returns a sentence about bills whose charges all begin before the window. */
function beforeLookback(deliveries: readonly Delivery[], { start }: DayRange): string[] {
  const older = monthsOf(deliveries).filter((month) => lastOfMonth(`${month}-01`) < start);
  if (older.length === 0) return [];
  const bills =
    older.length === 1 ? `the bill of ${spanOf(older)} lies` : `the bills of ${spanOf(older)} lie`;
  return [
    `${bills} before ${start} (lookback_days) and will not be charged: \`run --from DAY --to DAY\` charges older days`,
  ];
}

/** Reports older runs as an observation only: a daily export leaves some thirty runs a month, which is normal. */
function supersededRuns({ billing_period, runs, rows, by }: SupersededRuns): Pick<Probe, "found" | "period"> {
  return {
    found: { ...counted(runs, "older run"), ...(rows !== undefined && counted(rows, "row")) },
    period: `of ${billing_period}, superseded by ${by}`,
  };
}

/** Months that the paths or manifests name, ascending. */
function monthsOf(deliveries: readonly Delivery[]): string[] {
  return [...new Set(deliveries.flatMap(({ billing_period: month }) => month ?? []))].sort();
}

function spanOf(months: readonly string[]): string {
  const [first = "", last = ""] = [months[0], months.at(-1)];
  return first === last ? first : `${first} to ${last}`;
}

/** Samples the newest bill. If it cannot be read, the run reports the reason. */
async function tagsOf(delivery: Delivery | undefined, cost: CostColumn, signal: AbortSignal) {
  const [file] = delivery?.files ?? [];
  try {
    return file === undefined ? undefined : await sampleTags(file, cost, signal);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
