import { setTimeout as delay } from "node:timers/promises";
import { anySignal } from "any-signal";
import type { Logger } from "pino";
import type { DueTenant } from "./sql/due-tenants.js";

/** So long at most until it is looked again who is due, and until what could not begin is tried again. Milliseconds. */
const LOOK_AGAIN_MS = 5_000;

export interface Schedule {
  /** The one that has waited longest first. */
  readonly due: () => Promise<readonly DueTenant[]>;
  /** How many more tenants this process may run now. */
  readonly free: () => number;
  /** Runs a tenant to the end. False: no run took place. Never rejects. */
  readonly run: (tenant: DueTenant) => Promise<boolean>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly lookAgainMs?: number;
}

/**
 * Runs tenants as they become due, until the signal aborts, and returns after the runs under way. What is due stands in Postgres, so
 * several workers share the tenants, and a tenant that takes long holds up none that a place is free for. While Postgres is away nothing
 * begins, and it goes on as soon as it is back.
 */
export async function repeatDue(schedule: Schedule): Promise<void> {
  const { signal, logger, lookAgainMs = LOOK_AGAIN_MS } = schedule;
  const underWay = new Map<string, Promise<void>>();
  /** Tenants that could not begin, and when they are tried again. */
  const notBefore = new Map<string, number>();
  let isAway = false;
  let allSuspended = false;
  while (!signal.aborted) {
    const tenants = await schedule.due().catch((error: unknown) => {
      if (!isAway)
        logger.error(
          { err: error },
          "cannot ask Postgres which tenants are due; no run begins until it is back",
        );
      return undefined;
    });
    isAway = tenants === undefined;
    if (tenants !== undefined) alertWhenAllSuspended(tenants);
    const pause = Math.min(lookAgainMs, ...(tenants ?? []).flatMap(begin));
    const woken = new AbortController();
    const either = anySignal([signal, woken.signal]);
    const timer = delay(pause, undefined, { signal: either });
    await Promise.race([timer.catch(() => undefined), ...underWay.values()]);
    woken.abort();
    either.clear();
  }
  await Promise.all(underWay.values());

  /** Begins a run if it is time and there is a place. Returns how long to wait for it, if not. */
  function begin(tenant: DueTenant): number[] {
    const { tenant_name: name, due_in, suspended } = tenant;
    if (suspended || underWay.has(name) || signal.aborted) return [];
    const wait = Math.max(due_in * 1000, (notBefore.get(name) ?? 0) - performance.now());
    if (wait > 0) return [wait];
    if (schedule.free() <= 0) return [];
    notBefore.delete(name);
    const running = schedule.run(tenant).then((hasRun) => {
      underWay.delete(name);
      if (!hasRun) notBefore.set(name, performance.now() + lookAgainMs);
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
