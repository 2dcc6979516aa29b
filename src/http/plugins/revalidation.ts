/**
 * `ETag` and `304 Not Modified` for reads of published days: a client that has the answer is told so before the store is asked, and of some routes
 * the service keeps the last answers by their ETag.
 */
import { createHash, randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import {
  type PublishedDays,
  type PublishedState,
  type PublishedStateInput,
  readPublishedDays,
  readPublishedState,
} from "../../query/state/published.js";
import { topicRetentionStart } from "../../runner/topic-plan.js";
import { gatherWindow } from "../../runner/window.js";
import type { LedgerName } from "../../store/ledger.js";
import { dayOf } from "../../time/days.js";
import type { HttpContext } from "../context.js";
import { createResponseCache } from "../response-cache.js";
import { wrapHandler } from "../wrap-handler.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** False where the answer may change without a publish. */
    etag: false | PublishedRead;
  }
  interface FastifyRequest {
    /** What was published when the request came, of routes with an ETag; undefined when nothing is certain. */
    publishedState: PublishedState | undefined;
    /** The same of each day, read now. Of routes with an ETag. */
    publishedDays(): Promise<PublishedDays | undefined>;
  }
}

/** What a route reads: of the days of `request.window`, or all days where its requests have none. */
interface PublishedRead {
  readonly ledger: LedgerName;
  /** Where more is read than the days of the window, from the second since 1970 at which that begins. */
  readonly from?: (request: FastifyRequest) => number;
  /** What the answer is made as, where the URL does not say it. */
  readonly form?: (request: FastifyRequest) => string;
  /** Whether answers are kept, for whoever asks the same: of small JSON that takes long to make. */
  readonly kept?: true;
}

type RevalidationContext = Pick<HttpContext, "stores" | "clock" | "version">;

/** Nobody but the client keeps the answer, and it asks each time whether that still holds. */
const CACHING = "private, no-cache";

/** An answer of the store does not wait longer for Postgres to say what it is called. */
const PATIENCE_MS = 2000;

/** Code that is run from source changes without its version: then a name holds for one process. */
const UNRELEASED = "0.0.0-dev";
const thisProcess = randomUUID();

const HOUR = 3_600_000;

export const revalidation = fp<RevalidationContext>(
  async (app, context) => {
    const answers = createResponseCache();
    app.decorateRequest("publishedState", undefined);
    app.decorateRequest("publishedDays", async () => undefined);
    app.addHook("onRoute", (route) => {
      const { etag: read = false } = route.config ?? {};
      if (read === false) return;
      wrapHandler(route, async (request, reply, handle) => {
        reply.header("cache-control", CACHING);
        // Before anything is read: who then reads something newer has it under a name that never comes again.
        const etag = await etagOf(context, request, read);
        if (etag === undefined) return await handle();
        // Weak, since the same answer may be compressed or not.
        reply.header("etag", `W/${etag}`);
        const isUnchanged = tagsOf(request.headers["if-none-match"]).includes(etag);
        if (isUnchanged) return reply.code(304).send();
        // Where nothing is published, Postgres may have been lost, and not the store.
        if (read.kept === undefined || request.publishedState?.days === 0) return await handle();
        const json = answers.get(etag) ?? String(reply.serialize(await handle()));
        answers.set(etag, json);
        return reply.type("application/json; charset=utf-8").send(json);
      });
    });
  },
  // Wraps what waits for a place: what the client has costs none.
  { name: "revalidation", dependencies: ["admission"] },
);

/** The opaque part, with its quotes. Undefined when nothing is certain. */
async function etagOf(
  context: RevalidationContext,
  request: FastifyRequest,
  { ledger, from, form }: PublishedRead,
): Promise<string | undefined> {
  const published = publishedInput(context, request, ledger, from?.(request));
  const now = <State>(read: (...of: Parameters<typeof readPublishedState>) => Promise<State | undefined>) =>
    unlessUnknown(request, (signal) => read(context.stores.postgres, published, signal));
  const state = await now(readPublishedState);
  request.publishedState = state;
  request.publishedDays = () => now(readPublishedDays);
  if (state === undefined) return undefined;
  const answer = [
    context.version === UNRELEASED ? thisProcess : context.version,
    request.routeOptions.url,
    request.tenant.tenant_name,
    request.query,
    request.window,
    state.name,
    form?.(request) ?? "json",
  ];
  return `"${createHash("sha256").update(JSON.stringify(answer)).digest("base64url").slice(0, 27)}"`;
}

function publishedInput(
  { clock }: RevalidationContext,
  { tenant, window }: FastifyRequest,
  ledger: LedgerName,
  from?: number,
): PublishedStateInput {
  // Days are dropped in the first run after midnight, by a clock that may be ahead of this one.
  const today = dayOf(new Date(clock().getTime() + HOUR));
  const keepFrom =
    ledger === "chargebacks"
      ? gatherWindow(today, tenant.retention_days, 0).start
      : topicRetentionStart(tenant, today);
  const days = window && { from: from ?? window.from, to: window.to };
  return { tenantName: tenant.tenant_name, ledger, window: days, keepFrom };
}

/** Undefined also when Postgres does not answer, which is no reason not to read. */
async function unlessUnknown<State>(
  { stopSignal, log }: FastifyRequest,
  read: (signal: AbortSignal) => Promise<State | undefined>,
): Promise<State | undefined> {
  const signal = AbortSignal.any([stopSignal, AbortSignal.timeout(PATIENCE_MS)]);
  try {
    return await read(signal);
  } catch (error) {
    stopSignal.throwIfAborted();
    log.debug(
      { err: error },
      "the state of the tenant's days could not be read: no ETag, and nothing is remembered",
    );
    return undefined;
  }
}

/** The opaque parts, with their quotes. `*` would be true of any answer, and says nothing of the one the client has. */
function tagsOf(header: string | undefined): string[] {
  return [...(header ?? "").matchAll(/"[^"]*"/g)].map(([tag]) => tag);
}
