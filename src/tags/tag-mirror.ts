/**
 * Keeps the mirrors of all tenants up to date while a process lives. Writers wait for the mirror, a moment at most: a store that is
 * away must not keep them. Readers look whether anything waits (one index lookup) and then wait too. A timer does
 * the rest: what could not be mirrored, what other processes left, and stores that were made anew.
 */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import { isDiskFull } from "../store/store-trouble.js";
import type { Stores } from "../store/stores.js";
import { checkMirror, mirrorWaiting } from "./mirror.js";
import { isWaiting, mirroredTenants } from "./outbox.js";

export interface TagMirror {
  /** After a commit. Never throws: the change is safe, and mirrored later if not now. */
  afterWrite(tenantName: string): Promise<void>;
  /**
   * Before a read that shows tags. Throws where the store has no room for them: the read would work, and show the tags of before. What else
   * is wrong with the store, the read itself says.
   */
  beforeRead(tenantName: string): Promise<void>;
  /** Begins looking after the mirrors by itself. */
  start(): void;
  /** Lets what is under way end, for a moment; what is cut off is mirrored after the next start. */
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
  /** A writer waits so long for the mirror: a larger bulk is mirrored when it is answered, or by who reads next. */
  readonly writerPatience: number;
  /** A reader does. */
  readonly readerPatience: number;
  /** Between two looks at what waits. */
  readonly interval: number;
  /** A mirror is known to be the one it should be for so long. */
  readonly checked: number;
  /** After a failure, writers leave a store alone for so long. */
  readonly pause: number;
}

const usualTiming: TagMirrorTiming = {
  writerPatience: 200,
  readerPatience: 10_000,
  interval: 2_000,
  checked: 10_000,
  pause: 1_000,
};

/** A read does not wait longer for Postgres to say whether anything waits. */
const POSTGRES_MS = 500;

/** A shutdown waits so long for what is being mirrored. */
const STOP_MS = 5_000;

export function createTagMirror(options: TagMirrorOptions): TagMirror {
  const { stores, tenantNames, logger } = options;
  const timing = { ...usualTiming, ...options.timing };
  const ended = new AbortController();
  // Each mirror under way waits for it, and Node.js warns of more than ten.
  setMaxListeners(0, ended.signal);
  const mirrors = new Map(
    tenantNames.map((name) => [name, tenantMirror(name, { stores, logger, timing, signal: ended.signal })]),
  );
  const lookAfterAll = async () => {
    const tenants = await mirroredTenants(stores.postgres, tenantNames);
    const due = tenants.filter(({ tenant_name, waiting }) => waiting || mirrors.get(tenant_name)?.isDue());
    // Not waited for: a store that hangs must not keep the others' tags.
    for (const { tenant_name } of due) void mirrors.get(tenant_name)?.update();
  };
  let timer: NodeJS.Timeout | undefined;
  let looking = Promise.resolve();
  const look = () => {
    looking = lookAfterAll()
      .catch((error: unknown) => logger.debug({ err: error }, "could not check for pending tag changes"))
      .then(() => {
        if (timer !== undefined) timer = setTimeout(look, timing.interval).unref();
      });
  };
  return {
    async afterWrite(tenantName) {
      const mirror = mirrors.get(tenantName);
      if (mirror !== undefined && !mirror.isPausing()) await waitFor(mirror.update(), timing.writerPatience);
    },
    async beforeRead(tenantName) {
      const mirror = mirrors.get(tenantName);
      if (mirror === undefined) return;
      const waiting = await waitFor(
        isWaiting(stores.postgres, tenantName).catch(() => undefined),
        POSTGRES_MS,
      );
      if (waiting === undefined) return; // no Postgres, nothing to mirror
      if (!waiting && !mirror.isDue()) return;
      const failure = await waitFor(mirror.update(), timing.readerPatience);
      if (isDiskFull(failure)) throw failure;
    },
    start() {
      timer ??= setTimeout(look, 0).unref();
    },
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      const settled = Promise.all([looking, ...[...mirrors.values()].map((mirror) => mirror.settled())]);
      await waitFor(settled, STOP_MS);
      ended.abort();
      await waitFor(settled, STOP_MS);
    },
  };
}

/** The answer, or undefined when it takes longer. */
async function waitFor<T>(answer: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const enough = new AbortController();
  const limit = delay(milliseconds, undefined, { signal: enough.signal }).catch(() => undefined);
  try {
    return await Promise.race([answer, limit]);
  } finally {
    enough.abort();
  }
}

/** One tenant's: at most one update under way, and one that begins after it for all who came meanwhile. */
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
  /** Returns why it failed. */
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
    /** Mirrors at least what is committed now. Resolves with why it failed, or with undefined. */
    update(): Promise<unknown> {
      if (running === undefined) return begin();
      next ??= running.then(() => {
        next = undefined;
        return begin();
      });
      return next;
    },
    async settled() {
      await next;
      await running;
    },
  };
}
