/** What the sources have, told without reading a bill. */
import { errorText } from "../../../../store/clickhouse/error-text.js";
import type { Probe } from "../../../reports.js";
import type { BillSource } from "./delivery.js";

const counted = (count: number, what: string) => ({ [count === 1 ? what : `${what}s`]: count });

/** A source, and each bill of it that waits. */
export async function probeSources(sources: readonly BillSource[], signal: AbortSignal): Promise<Probe[]> {
  const probes: Probe[] = [];
  for (const source of sources) {
    const name = `source ${source.name}`;
    try {
      const { deliveries, waiting, remarks, nothing } = await source.list(signal);
      const files = deliveries.reduce((sum, delivery) => sum + delivery.files.length, 0);
      const found = { ...counted(deliveries.length, "bill"), ...counted(files, "file") };
      if (nothing !== undefined) probes.push({ name, remark: `${nothing}: check \`location\`` });
      else if (deliveries.length > 0) probes.push({ name, found });
      probes.push(...remarks.map((remark) => ({ name, remark })));
      probes.push(...waiting.map(({ name: bill, reason }) => ({ name, failure: `${bill}: ${reason}` })));
    } catch (error) {
      signal.throwIfAborted();
      probes.push({ name, failure: errorText(error) });
    }
  }
  return probes;
}
