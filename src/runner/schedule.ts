import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";

/**
 * Calls `cycle` now and then every `intervalSeconds`, counted from start to start. A cycle that takes longer is not waited for:
 * tenants that are still running are skipped. Starts that were missed, because the machine slept, are not made up for. Ends
 * when the signal aborts, after the cycles under way.
 */
export async function repeatCycles(
  cycle: () => Promise<unknown>,
  options: { intervalSeconds: number; signal: AbortSignal; logger: Logger },
): Promise<void> {
  const interval = options.intervalSeconds * 1000;
  const underWay = new Set<Promise<unknown>>();
  let next = Date.now();
  while (!options.signal.aborted) {
    const running = cycle()
      .catch((error: unknown) => options.logger.error({ err: error }, "a run cycle failed"))
      .finally(() => underWay.delete(running));
    underWay.add(running);
    next += interval * Math.max(1, Math.ceil((Date.now() - next) / interval));
    await delay(Math.max(0, next - Date.now()), undefined, { signal: options.signal }).catch(() => undefined);
  }
  await Promise.allSettled(underWay);
}
