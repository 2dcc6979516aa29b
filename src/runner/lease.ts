import { hostname } from "node:os";
import pRetry from "p-retry";
import type { Pool } from "pg";
import { LeaseLostError } from "../common/lease-lost.js";
import { runStatement } from "../postgres/statement.js";
import {
  type LeaseTiming,
  prolongLease,
  raiseEpoch,
  releaseLease,
  takeLease,
  usualLease,
} from "./sql/leases.js";

/**
 * The lock on a tenant: at most one worker runs it, across all processes. It is a row in Postgres that expires. A
 * heartbeat prolongs it; if that fails, `lost` aborts and the run stops. The epoch fences off late writes of that run.
 */
export interface Lease {
  readonly epoch: number;
  /**
   * Raises the epoch of the lease and of the run above `above`, an epoch that the store has seen: Postgres was restored
   * from a backup. Returns false if the lease was lost to that later epoch.
   */
  raise(above: number, runId: string): Promise<boolean>;
  /** Aborts if the lease is lost. */
  readonly lost: AbortSignal;
  /**
   * Stops the heartbeat and releases the lease. Throws if Postgres is unreachable, and retries in the background
   * until the lease has expired.
   */
  release(): Promise<void>;
}

/** Pauses between attempts to release a lease while Postgres is unreachable, in milliseconds. */
const RELEASE_PAUSES = { retries: Number.POSITIVE_INFINITY, minTimeout: 200, maxTimeout: 1_000 } as const;

/** The name of this process as a holder of leases. */
export function thisHolder(): string {
  return `${hostname()}:${process.pid}`;
}

/** Acquires the lease of a tenant. Returns undefined if it is held. */
export async function acquireLease(
  pool: Pool,
  tenantName: string,
  holder: string,
  timing: LeaseTiming = usualLease,
): Promise<Lease | undefined> {
  const seconds = timing.leaseSeconds;
  const requestedAt = performance.now();
  const acquired = await runStatement<{ epoch: number }>(pool, takeLease({ tenantName, holder, seconds }));
  const first = acquired.rows[0]?.epoch;
  if (first === undefined) return undefined;
  let epoch = first;
  const lost = new AbortController();
  const lose = (how: string) => lost.abort(new LeaseLostError(epoch, how));

  // Postgres prolongs the lease from some moment after the request was sent. We count from the moment of sending,
  // so we never assume a longer lease than Postgres does, even if a response hangs or this process was suspended.
  const onExpired = () => lose("it ran out, because Postgres was not reached in time");
  let end = after(seconds - secondsSince(requestedAt), onExpired);
  let released = false;
  const sendHeartbeat = async () => {
    const sentAt = performance.now();
    const sent = epoch;
    try {
      const prolonged = await runStatement(pool, prolongLease({ tenantName, epoch: sent, seconds }));
      if (released || sent !== epoch) return;
      if (prolonged.rowCount !== 1)
        return lose("another worker has taken the tenant over, or it had run out");
      clearTimeout(end);
      end = after(seconds - secondsSince(sentAt), onExpired);
    } catch {
      // Postgres may be reachable again before the lease expires. The next heartbeat finds out.
    }
  };
  const heartbeat = setInterval(sendHeartbeat, timing.heartbeatSeconds * 1000);
  heartbeat.unref();
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
      clearInterval(heartbeat);
      clearTimeout(end);
      const releaseRow = () => runStatement(pool, releaseLease({ tenantName, epoch }));
      await releaseRow().catch((error: unknown) => {
        // Retry, so that a waiting worker gets the tenant as soon as Postgres is back, not when the lease expires.
        const retries = { ...RELEASE_PAUSES, maxRetryTime: seconds * 1000, unref: true };
        pRetry(releaseRow, retries).catch(() => undefined);
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
