import { setTimeout as delay } from "node:timers/promises";
import { anySignal } from "any-signal";
import type { Logger } from "pino";
import type { DueTenant } from "./sql/due-tenants.js";

/** The most milliseconds until due tenants are queried again, and until a run that could not start is tried again. */
const POLL_MS = 5_000;

export interface Schedule {
  /** Due tenants, the one that has waited longest first. */
  readonly due: () => Promise<readonly DueTenant[]>;
  /** Number of tenants that this process can start now. */
  readonly free: () => number;
  /** Runs a tenant to the end. Returns false if no run took place. Never rejects. */
  readonly run: (tenant: DueTenant) => Promise<boolean>;
  /** Begins to watch for tenants that become due earlier than expected. `wake` ends the pause. */
  readonly watch?: (wake: () => void) => void;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly pollMs?: number;
}

/**
 * Runs tenants as they become due until the signal aborts, and returns after the current runs. The due times are in
 * Postgres, so several workers share the tenants. A tenant that takes long does not delay others while there are free
 * slots. While Postgres is unreachable no run starts; afterwards it continues.
 */
export async function repeatDue(schedule: Schedule): Promise<void> {
  const { signal, logger, pollMs = POLL_MS } = schedule;
  const underWay = new Map<string, Promise<void>>();
  /** Tenants whose run could not start, with the time of the next attempt. */
  const notBefore = new Map<string, number>();
  let isUnreachable = false;
  let allSuspended = false;
  let woken = new AbortController();
  schedule.watch?.(() => woken.abort());
  while (!signal.aborted) {
    woken = new AbortController();
    const tenants = await schedule.due().catch((error: unknown) => {
      if (!isUnreachable)
        logger.error(
          { err: error },
          "cannot read from Postgres which tenants are due; no run begins until it is available again",
        );
      return undefined;
    });
    isUnreachable = tenants === undefined;
    if (tenants !== undefined) alertWhenAllSuspended(tenants);
    const pause = Math.min(pollMs, ...(tenants ?? []).flatMap(begin));
    const either = anySignal([signal, woken.signal]);
    const timer = delay(pause, undefined, { signal: either });
    await Promise.race([timer.catch(() => undefined), ...underWay.values()]);
    woken.abort();
    either.clear();
  }
  await Promise.all(underWay.values());

  /** Starts a run if it is due and there is a free slot. Otherwise returns how long to wait for it. */
  function begin(tenant: DueTenant): number[] {
    const { tenant_name: name, due_in, suspended } = tenant;
    if (suspended || underWay.has(name) || signal.aborted) return [];
    const wait = Math.max(due_in * 1000, (notBefore.get(name) ?? 0) - performance.now());
    if (wait > 0) return [wait];
    if (schedule.free() <= 0) return [];
    notBefore.delete(name);
    const running = schedule.run(tenant).then((hasRun) => {
      underWay.delete(name);
      if (!hasRun) notBefore.set(name, performance.now() + pollMs);
    });
    underWay.set(name, running);
    return [];
  }

  function alertWhenAllSuspended(tenants: readonly DueTenant[]): void {
    const all = tenants.length > 0 && tenants.every(({ suspended }) => suspended);
    if (all && !allSuspended)
      logger.fatal(`ALERT: All ${tenants.length} tenant(s) have been permanently suspended`);
    allSuspended = all;
  }
}
