/**
 * Keeps the mirrors of all tenants up to date while a process runs. Writers wait for the mirror only briefly, so that
 * an unreachable store does not block them. Readers check for pending changes (one index lookup) and then wait, too. A
 * timer does the rest: changes that could not be mirrored, changes of other processes, and stores that were recreated.
 */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { isDiskFull } from "../stores/store-trouble.js";
import type { Stores } from "../stores/stores.js";
import { checkMirror, mirrorWaiting } from "./mirror.js";
import { isWaiting, mirroredTenants } from "./outbox.js";

export interface TagMirror {
  /** Call after a commit. Never throws: the change is committed, and mirrored later if not now. */
  afterWrite(tenantName: string): Promise<void>;
  /**
   * Call before a read that shows tags. Throws if the store's disk is full: the read would succeed, and show outdated
   * tags. The read itself reports all other faults of the store.
   */
  beforeRead(tenantName: string): Promise<void>;
  /** Begins to check the mirrors periodically. */
  start(): void;
  /** Waits a moment for updates in progress. An update that is cut off is repeated after the next start. */
  stop(): Promise<void>;
}

export interface TagMirrorOptions {
  readonly stores: Pick<Stores, "postgres" | "tenant">;
  readonly tenantNames: readonly string[];
  readonly logger: Logger;
  readonly timing?: Partial<TagMirrorTiming>;
}

/** Milliseconds. */
export interface TagMirrorTiming {
  /** How long a writer waits for the mirror. A larger bulk is mirrored after its response, or before the next read. */
  readonly writerTimeout: number;
  /** How long a reader waits for the mirror. */
  readonly readerTimeout: number;
  /** Interval between checks for pending changes. */
  readonly interval: number;
  /** How long the check of a mirror's identity stays valid. */
  readonly checked: number;
  /** How long writers skip a store after a failure. */
  readonly pause: number;
}

const usualTiming: TagMirrorTiming = {
  writerTimeout: 200,
  readerTimeout: 10_000,
  interval: 5_000,
  checked: 10_000,
  pause: 1_000,
};

/** How long a read waits for Postgres to report pending changes. */
const POSTGRES_MS = 500;

/** How long a shutdown waits for updates in progress. */
const STOP_MS = 5_000;

export function createTagMirror(options: TagMirrorOptions): TagMirror {
  const { stores, tenantNames, logger } = options;
  const timing = { ...usualTiming, ...options.timing };
  const ended = new AbortController();
  // Each update in progress listens to the signal, and Node.js warns of more than ten listeners.
  setMaxListeners(0, ended.signal);
  const mirrors = new Map(
    tenantNames.map((name) => [name, tenantMirror(name, { stores, logger, timing, signal: ended.signal })]),
  );
  const updateDueMirrors = async () => {
    const tenants = await mirroredTenants(stores.postgres, tenantNames);
    const due = tenants.filter(({ tenant_name, waiting }) => waiting || mirrors.get(tenant_name)?.isDue());
    // Do not wait: a store that hangs must not block other tenants' tags.
    for (const { tenant_name } of due) void mirrors.get(tenant_name)?.update();
  };
  let timer: NodeJS.Timeout | undefined;
  let polling = Promise.resolve();
  const poll = () => {
    polling = updateDueMirrors()
      .catch((error: unknown) => logger.debug({ err: error }, "could not check for pending tag changes"))
      .then(() => {
        if (timer !== undefined) timer = setTimeout(poll, timing.interval).unref();
      });
  };
  return {
    async afterWrite(tenantName) {
      const mirror = mirrors.get(tenantName);
      if (mirror !== undefined && !mirror.isPausing()) await waitFor(mirror.update(), timing.writerTimeout);
    },
    async beforeRead(tenantName) {
      const mirror = mirrors.get(tenantName);
      if (mirror === undefined) return;
      const waiting = await waitFor(
        isWaiting(stores.postgres, tenantName).catch(() => undefined),
        POSTGRES_MS,
      );
      if (waiting === undefined) return; // Postgres is unreachable, so nothing can be mirrored
      if (!waiting && !mirror.isDue()) return;
      const failure = await waitFor(mirror.update(), timing.readerTimeout);
      if (isDiskFull(failure)) throw failure;
    },
    start() {
      timer ??= setTimeout(poll, 0).unref();
    },
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      const idle = Promise.all([polling, ...[...mirrors.values()].map((mirror) => mirror.idle())]);
      await waitFor(idle, STOP_MS);
      ended.abort();
      await waitFor(idle, STOP_MS);
    },
  };
}

/** Resolves with the result, or with undefined after the timeout. */
async function waitFor<T>(result: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const done = new AbortController();
  const limit = delay(milliseconds, undefined, { signal: done.signal }).catch(() => undefined);
  try {
    return await Promise.race([result, limit]);
  } finally {
    done.abort();
  }
}

/**
 * The mirror of one tenant: at most one update in progress, and one that begins after it for all callers that came
 * meanwhile.
 */
function tenantMirror(
  tenantName: string,
  {
    stores,
    logger,
    timing,
    signal,
  }: Pick<TagMirrorOptions, "stores" | "logger"> & {
    timing: TagMirrorTiming;
    signal: AbortSignal;
  },
) {
  let running: Promise<unknown> | undefined;
  let next: Promise<unknown> | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let failedAt = Number.NEGATIVE_INFINITY;
  let isDown = false;
  const isDue = () => performance.now() - checkedAt > timing.checked;
  /** Resolves with the error if the update failed. */
  const updateNow = async (): Promise<unknown> => {
    try {
      const { client } = await stores.tenant(tenantName);
      const target = { client, postgres: stores.postgres, tenantName, signal };
      if (isDue()) {
        if (await checkMirror(target)) logger.info({ tenant: tenantName }, "filled the tag mirror");
        checkedAt = performance.now();
      }
      await mirrorWaiting(target);
      if (isDown) logger.info({ tenant: tenantName }, "tags are being mirrored again");
      isDown = false;
      return undefined;
    } catch (error) {
      checkedAt = Number.NEGATIVE_INFINITY;
      failedAt = performance.now();
      if (!isDown && !signal.aborted)
        logger.warn({ err: error, tenant: tenantName }, "cannot mirror tags now; they stay pending");
      isDown = true;
      return error;
    }
  };
  const begin = (): Promise<unknown> => {
    running = updateNow().finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    isDue,
    isPausing: () => performance.now() - failedAt < timing.pause,
    /** Mirrors at least what is committed now. Resolves with the error if that failed, or with undefined. */
    update(): Promise<unknown> {
      if (running === undefined) return begin();
      next ??= running.then(() => {
        next = undefined;
        return begin();
      });
      return next;
    },
    async idle() {
      await next;
      await running;
    },
  };
}
