/**
 * ETags and the response cache, for reads of published days. A client whose ETag is current gets `304 Not Modified`
 * without a query to the store. The responses of some routes are also cached in this process by their ETag, and requests
 * for the same response that arrive together are answered by one read.
 *
 * Entries are never invalidated: the ETag contains the state of the published days, so a publish makes them
 * unreachable. The least recently used ones are evicted.
 */
import { createHash, randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { LRUCache } from "lru-cache";
import { dayOf } from "../../common/days.js";
import { createSingleFlight } from "../../common/single-flight.js";
import type { LedgerName } from "../../domain/ledger.js";
import {
  type PublishedDays,
  type PublishedState,
  type PublishedStateInput,
  readPublishedDays,
  readPublishedState,
} from "../../query/state/published.js";
import { topicRetentionStart } from "../../runner/topic-plan.js";
import { gatherWindow } from "../../runner/window.js";
import type { HttpContext } from "../context.js";
import { wrapHandler } from "./time-limit.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** False if the response may change without a publish. */
    etag: false | PublishedRead;
  }
  interface FastifyRequest {
    /**
     * For routes with an ETag: the published state when the request came. Undefined while it may be changing or cannot
     * be read.
     */
    publishedState: PublishedState | undefined;
    /** For routes with an ETag: reads the published state of each day. */
    publishedDays(): Promise<PublishedDays | undefined>;
  }
}

/** What a route reads of the days of `request.window`, or of all days if the route has no window. */
interface PublishedRead {
  readonly ledger: LedgerName;
  /** Start of the rows that are read, in seconds since 1970, if it is before the start of the window. */
  readonly from?: (request: FastifyRequest) => number;
  /** What the response depends on besides the URL, such as its format. */
  readonly form?: (request: FastifyRequest) => string;
  /** Set for routes whose responses are cached: small JSON that takes long to compute. */
  readonly cached?: true;
}

type CacheContext = Pick<HttpContext, "stores" | "clock" | "version">;

/** Only the client may store the response, and it has to revalidate it before each use. */
const CACHE_CONTROL = "private, no-cache";

/** Time limit of the published state's query in Postgres. After it, the response has no ETag. */
const STATE_TIMEOUT_MS = 2000;

/** Run from source, the code changes without its version: then ETags are valid for one process only. */
const UNRELEASED = "0.0.0-dev";
const thisProcess = randomUUID();

const HOUR = 3_600_000;

/** 32 MiB if characters take two bytes, 16 MiB if they take one. */
const CAPACITY_CHARACTERS = 16 * 1024 * 1024;
/**
 * Longer responses are not cached: the client takes long to read them anyway, and they would displace many shorter
 * ones.
 */
const MAX_CHARACTERS = 256 * 1024;

export const responseCache = fp<CacheContext>(
  async (app, context) => {
    const responses = createResponseCache();
    const inProgress = createSingleFlight<string>();
    app.decorateRequest("publishedState", undefined);
    app.decorateRequest("publishedDays", async () => undefined);
    app.addHook("onRoute", (route) => {
      const { etag: read = false } = route.config ?? {};
      if (read === false) return;
      wrapHandler(route, async (request, reply, handle) => {
        reply.header("cache-control", CACHE_CONTROL);
        // Compute the ETag first: if data changes meanwhile, the response is cached under an ETag that never matches
        // again.
        const etag = await etagOf(context, request, read);
        if (etag === undefined) return await handle();
        // The ETag is weak, because the same response may be compressed or not.
        reply.header("etag", `W/${etag}`);
        const isUnchanged = tagsOf(request.headers["if-none-match"]).includes(etag);
        if (isUnchanged) return reply.code(304).send();
        // If no day is published, the records in Postgres may be lost while the store still has its rows: do not cache.
        if (read.cached === undefined || request.publishedState?.days === 0) return await handle();
        const respond = async (signal: AbortSignal) => {
          request.stopSignal = signal;
          const json = String(reply.serialize(await handle()));
          responses.set(etag, json);
          return json;
        };
        const json = responses.get(etag) ?? (await inProgress.of(etag, request.stopSignal, respond));
        return reply.type("application/json; charset=utf-8").send(json);
      });
    });
  },
  // Wraps the wait for a slot: a 304 needs none.
  { name: "response-cache", dependencies: ["admission"] },
);

/**
 * Returns the opaque part of the ETag, with its quotes. Undefined if the published state may be changing or cannot be
 * read.
 */
async function etagOf(
  context: CacheContext,
  request: FastifyRequest,
  { ledger, from, form }: PublishedRead,
): Promise<string | undefined> {
  const published = publishedInput(context, request, ledger, from?.(request));
  const readNow = <State>(
    read: (...args: Parameters<typeof readPublishedState>) => Promise<State | undefined>,
  ) => unlessUnknown(request, (signal) => read(context.stores.postgres, published, signal));
  const state = await readNow(readPublishedState);
  request.publishedState = state;
  request.publishedDays = () => readNow(readPublishedDays);
  if (state === undefined) return undefined;
  const key = [
    context.version === UNRELEASED ? thisProcess : context.version,
    request.routeOptions.url,
    request.tenant.tenant_name,
    request.query,
    request.window,
    state.fingerprint,
    form?.(request) ?? "json",
  ];
  return `"${createHash("sha256").update(JSON.stringify(key)).digest("base64url").slice(0, 27)}"`;
}

/**
 * Returns the state of all days of the tenant's chargebacks, for routes without an ETag. Undefined if it may be changing
 * or cannot be read.
 */
export async function stateOfAllDays(
  context: CacheContext,
  request: FastifyRequest,
): Promise<PublishedState | undefined> {
  const input = publishedInput(context, request, "chargebacks");
  return await unlessUnknown(request, (signal) => readPublishedState(context.stores.postgres, input, signal));
}

function publishedInput(
  { clock }: CacheContext,
  { tenant, window }: FastifyRequest,
  ledger: LedgerName,
  from?: number,
): PublishedStateInput {
  // The first run after midnight drops old days. The clock of its process may be ahead of this one by up to an hour.
  const today = dayOf(new Date(clock().getTime() + HOUR));
  const keepFrom =
    ledger === "chargebacks"
      ? gatherWindow(today, tenant.retention_days, 0).start
      : topicRetentionStart(tenant, today);
  const days = window && { from: from ?? window.from, to: window.to };
  return { tenantName: tenant.tenant_name, ledger, window: days, keepFrom };
}

/** Returns undefined if Postgres does not respond: the store can still be read, only without an ETag. */
async function unlessUnknown<State>(
  { stopSignal, log }: FastifyRequest,
  read: (signal: AbortSignal) => Promise<State | undefined>,
): Promise<State | undefined> {
  const signal = AbortSignal.any([stopSignal, AbortSignal.timeout(STATE_TIMEOUT_MS)]);
  try {
    return await read(signal);
  } catch (error) {
    stopSignal.throwIfAborted();
    log.debug({ err: error }, "cannot read the published state: the response has no ETag and is not cached");
    return undefined;
  }
}

/**
 * Returns the opaque parts of a list of ETags, with their quotes. `*` is ignored: it does not say which response the
 * client has.
 */
function tagsOf(header: string | undefined): string[] {
  return [...(header ?? "").matchAll(/"[^"]*"/g)].map(([tag]) => tag);
}

/** Creates a cache of JSON by ETag. Repeated requests for the same published days do not reach ClickHouse. */
export function createResponseCache(): LRUCache<string, string> {
  return new LRUCache({
    maxSize: CAPACITY_CHARACTERS,
    maxEntrySize: MAX_CHARACTERS,
    sizeCalculation: ({ length }) => length,
  });
}
