/** What the sources have: their bills, and the tags of the first lines of the newest one. */
import { errorText } from "../../../../store/clickhouse/error-text.js";
import type { Probe } from "../../../reports.js";
import type { CostColumn } from "../load/landing-columns.js";
import { sampleTags } from "../load/sample-tags.js";
import type { BillSource, Delivery } from "./delivery.js";

const counted = (count: number, what: string) => ({ [count === 1 ? what : `${what}s`]: count });

/** A source, and each bill of it that waits. */
export async function probeSources(
  sources: readonly BillSource[],
  cost: CostColumn,
  signal: AbortSignal,
): Promise<Probe[]> {
  const probes: Probe[] = [];
  for (const source of sources) {
    const name = `source ${source.name}`;
    try {
      const { deliveries, waiting, remarks, nothing } = await source.list(signal);
      const files = deliveries.reduce((sum, delivery) => sum + delivery.files.length, 0);
      const found = { ...counted(deliveries.length, "bill"), ...counted(files, "file") };
      if (nothing !== undefined) probes.push({ name, remark: `${nothing}: check \`location\`` });
      else if (deliveries.length > 0) {
        const tags = await tagsOf(deliveries.at(-1), cost, signal);
        probes.push({ name, found, ...(tags && { tags }) });
      }
      probes.push(...remarks.map((remark) => ({ name, remark })));
      probes.push(...waiting.map(({ name: bill, reason }) => ({ name, failure: `${bill}: ${reason}` })));
    } catch (error) {
      signal.throwIfAborted();
      probes.push({ name, failure: errorText(error) });
    }
  }
  return probes;
}

/** Of the newest bill. Why it cannot be read is for the run to say. */
async function tagsOf(delivery: Delivery | undefined, cost: CostColumn, signal: AbortSignal) {
  const [file] = delivery?.files ?? [];
  try {
    return file === undefined ? undefined : await sampleTags(file, cost, signal);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
