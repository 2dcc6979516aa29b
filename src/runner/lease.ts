import { hostname } from "node:os";
import pRetry from "p-retry";
import type { Pool } from "pg";
import { LeaseLostError } from "../store/lease-lost.js";
import { runStatement } from "../store/postgres/statement.js";
import {
  type LeaseTiming,
  prolongLease,
  raiseEpoch,
  releaseLease,
  takeLease,
  usualLease,
} from "./sql/leases.js";

/**
 * The right to run a tenant, held by one worker at a time across all processes. The lease is kept by a heartbeat; when it
 * cannot be kept, `lost` aborts and the run stops. Whatever a late run still does is fenced off by the epoch.
 */
export interface Lease {
  readonly epoch: number;
  /**
   * Makes the epoch later than one that the store has seen, for a run: Postgres was set back to a backup. Returns whether the lease was
   * still held; a lease that is not has lost to that later epoch.
   */
  raise(above: number, runId: string): Promise<boolean>;
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  /** Ends the heartbeat in any case; throws when the database cannot be told now, and goes on telling it while the lease may live. */
  release(): Promise<void>;
}

/** How long to wait before a database that is away is told again, in milliseconds. */
const RELEASE_PAUSES = { retries: Number.POSITIVE_INFINITY, minTimeout: 200, maxTimeout: 1_000 } as const;

/** This process, as the holder of leases. */
export function thisHolder(): string {
  return `${hostname()}:${process.pid}`;
}

/** Takes the lease of a tenant, or returns undefined when somebody has it. */
export async function acquireLease(
  pool: Pool,
  tenantName: string,
  holder: string,
  timing: LeaseTiming = usualLease,
): Promise<Lease | undefined> {
  const seconds = timing.leaseSeconds;
  const askedAt = performance.now();
  const taken = await runStatement<{ epoch: number }>(pool, takeLease({ tenantName, holder, seconds }));
  const first = taken.rows[0]?.epoch;
  if (first === undefined) return undefined;
  let epoch = first;
  const lost = new AbortController();
  const lose = (how: string) => lost.abort(new LeaseLostError(epoch, how));

  // The database prolongs from some moment after it was asked: counted from the asking, we never believe in a lease longer
  // than it does, even when an answer hangs or this process was stopped for a while.
  const ranOut = () => lose("it ran out, because the database was not reached in time");
  let end = after(seconds - secondsSince(askedAt), ranOut);
  let released = false;
  const beat = async () => {
    const sentAt = performance.now();
    const sent = epoch;
    try {
      const kept = await runStatement(pool, prolongLease({ tenantName, epoch: sent, seconds }));
      if (released || sent !== epoch) return;
      if (kept.rowCount !== 1) return lose("another worker has taken the tenant over, or it had run out");
      clearTimeout(end);
      end = after(seconds - secondsSince(sentAt), ranOut);
    } catch {
      // Postgres may be back before the lease runs out; the next beat tells.
    }
  };
  const heart = setInterval(beat, timing.heartbeatSeconds * 1000);
  heart.unref();
  return {
    get epoch() {
      return epoch;
    },
    async raise(above, runId) {
      const before = epoch;
      epoch = above + 1;
      const raised = await runStatement(
        pool,
        raiseEpoch({ tenantName, epoch: before, raised: epoch, runId }),
      );
      if (raised.rowCount !== 1) epoch = before;
      return raised.rowCount === 1;
    },
    lost: lost.signal,
    async release() {
      released = true;
      clearInterval(heart);
      clearTimeout(end);
      const giveBack = () => runStatement(pool, releaseLease({ tenantName, epoch }));
      await giveBack().catch((error: unknown) => {
        // Who waits for the tenant gets it as soon as the database is back, not when the lease has run out.
        const patience = { ...RELEASE_PAUSES, maxRetryTime: seconds * 1000, unref: true };
        pRetry(giveBack, patience).catch(() => undefined);
        throw error;
      });
    },
  };
}

function after(seconds: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.max(0, seconds * 1000)).unref();
}

function secondsSince(moment: number): number {
  return (performance.now() - moment) / 1000;
}
