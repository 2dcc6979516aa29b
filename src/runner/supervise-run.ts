import { setTimeout as delay } from "node:timers/promises";
import { anySignal } from "any-signal";
import type { Pool } from "pg";
import { PublishInterruptedError } from "../allocate/publish.js";
import { LeaseLostError } from "../common/lease-lost.js";
import { isLostPostgres } from "../common/lost-connection.js";
import { errorText, storeErrorText } from "../stores/error-text.js";
import { isDiskFull, isStoreFault } from "../stores/store-trouble.js";
import { closeRun } from "./close-run.js";
import type { Lease } from "./lease.js";
import { newProgress, resultOf } from "./progress.js";
import type { BegunRun } from "./run-context.js";
import { runStages } from "./run-stages.js";
import type { RunResult } from "./sql/runs.js";

/** How long to wait for Postgres to say why it went away, and the interval of attempts, in milliseconds. */
const TIMEOUT_MS = 5_000;
const INTERVAL_MS = 100;

/**
 * Returns the error if Postgres is down because its disk is full; the lost connection itself does not say. The run has
 * ended by then. Returns undefined as soon as Postgres responds, or after the time is up.
 */
async function fullDiskText(postgres: Pool): Promise<string | undefined> {
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await delay(INTERVAL_MS)) {
    try {
      await postgres.query("SELECT 1");
      return undefined;
    } catch (error) {
      if (isDiskFull(error)) return errorText(error);
    }
  }
  return undefined;
}

/** Stages that have not ended this long after an abort are abandoned. The epoch fences off their writes. */
const abortGraceMs = 10_000;

/** Runs all stages, closes the record and releases the lease, whatever happens. Never rejects. */
export async function superviseRun(run: BegunRun, lease: Lease): Promise<RunResult> {
  const timeout = startTimeout(run.tenant.tenant_execution_timeout_seconds);
  // `AbortSignal.any` would leave an entry in the signal of the service for each run, and for each signal that is
  // derived from the run's.
  const signal = anySignal([run.request.signal, lease.lost, timeout.signal]);
  const started = performance.now();
  const progress = newProgress();
  try {
    await endingWith(signal, runStages(run, lease, progress, signal));
  } catch (error) {
    const ended = signal.aborted ? signal.reason : error;
    const message = signal.aborted ? abortText(signal) : storeErrorText(error);
    const outage = isOfPostgres(ended) ? await fullDiskText(run.stores.postgres) : undefined;
    progress.errors.push({
      date: null,
      source: "run",
      message: outage === undefined ? message : `${message}: ${outage}`,
    });
    progress.cutOff = isCutOff(ended, run.request.signal);
    run.logger.debug({ err: error, tenant: run.tenant.tenant_name }, "the run stopped early");
  } finally {
    timeout.clear();
    signal.clear();
  }
  const result = resultOf(progress);
  await closeRun(run, lease, result, {
    ...progress,
    seconds: (performance.now() - started) / 1000,
  });
  return result;
}

/**
 * True if a store, the lease or this process was lost, or a store's disk is full: the next run can do the work, here or
 * elsewhere.
 */
function isCutOff(error: unknown, shutdown: AbortSignal): boolean {
  const isLost = error instanceof LeaseLostError || error instanceof PublishInterruptedError;
  return isLost || isStoreFault(error) || shutdown.aborted;
}

/** True for a lost connection to Postgres, or a lost lease, which Postgres keeps. */
function isOfPostgres(error: unknown): boolean {
  const cause = error instanceof PublishInterruptedError ? error.cause : error;
  return cause instanceof LeaseLostError || isLostPostgres(cause);
}

/** A timeout of 0 seconds means no limit. */
function startTimeout(seconds: number): { signal: AbortSignal; clear: () => void } {
  const timeout = new AbortController();
  if (seconds === 0) return { signal: timeout.signal, clear: () => undefined };
  const timer = setTimeout(
    () => timeout.abort(new Error(`Execution timed out after ${seconds} seconds`)),
    seconds * 1000,
  );
  return { signal: timeout.signal, clear: () => clearTimeout(timer) };
}

/** Waits for the stages. After the signal has aborted, waits only for the grace period. */
async function endingWith(signal: AbortSignal, stages: Promise<void>): Promise<void> {
  const settled = new AbortController();
  const overdue = async () => {
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true, signal: settled.signal });
    });
    await delay(abortGraceMs, undefined, { signal: settled.signal });
    throw signal.reason;
  };
  const late = overdue();
  late.catch(() => undefined);
  try {
    await Promise.race([stages, late]);
  } finally {
    settled.abort();
    stages.catch(() => undefined);
  }
}

/** Only a shutdown aborts without a reason. */
function abortText(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  const silent = reason instanceof DOMException && reason.name === "AbortError";
  return silent ? "Interrupted by shutdown" : errorText(reason);
}
