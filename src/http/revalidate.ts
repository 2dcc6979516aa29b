/** `ETag` and `304 Not Modified` for reads of published days: a client that has the answer is told so before the store is asked. */
import { createHash, randomUUID } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { DateWindow } from "../query/date-window.js";
import { type PublishedBook, readPublishedState } from "../query/published-state.js";
import { keptFrom } from "../runner/topic-plan.js";
import { gatherWindow } from "../runner/window.js";
import { dayOf } from "../time/days.js";
import type { HttpContext } from "./context.js";

/** Nobody but the client keeps the answer, and it asks each time whether that still holds. */
const CACHING = "private, no-cache";

/** An answer of the store does not wait longer for Postgres to say what it is called. */
const PATIENCE_MS = 2000;

/** Code that is run from source changes without its version: then a name holds for one process. */
const UNRELEASED = "0.0.0-dev";
const thisProcess = randomUUID();

const HOUR = 3_600_000;

/**
 * True when the client has the answer: then 304 is all it needs. `window` is what is read of `book`, all days when
 * undefined, and `form` what it is answered as, where the URL does not say it. Call it after the tags were mirrored and before anything is read: who then reads something newer has it under a name that
 * never comes again.
 */
export async function isUnchanged(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  window?: DateWindow,
  book: PublishedBook = "chargebacks",
  form = "json",
): Promise<boolean> {
  reply.header("cache-control", CACHING);
  const state = await stateOf(context, request, window, book);
  if (state === undefined) return false;
  const version = context.version === UNRELEASED ? thisProcess : context.version;
  const answer = [
    version,
    request.routeOptions.url,
    request.tenant.tenant_name,
    request.query,
    window,
    state,
    form,
  ];
  const tag = `"${createHash("sha256").update(JSON.stringify(answer)).digest("base64url").slice(0, 27)}"`;
  // Weak, since the same answer may be compressed or not.
  reply.header("etag", `W/${tag}`);
  return tagsOf(request.headers["if-none-match"]).includes(tag);
}

/** Undefined when nothing is certain: also when Postgres does not answer, which is no reason not to read. */
async function stateOf(
  { stores, clock }: HttpContext,
  { tenant, stopSignal, log }: FastifyRequest,
  window: DateWindow | undefined,
  book: PublishedBook,
): Promise<string | undefined> {
  // Days are dropped in the first run after midnight, by a clock that may be ahead of this one.
  const today = dayOf(new Date(clock().getTime() + HOUR));
  const keepFrom =
    book === "chargebacks" ? gatherWindow(today, tenant.retention_days, 0).start : keptFrom(tenant, today);
  const signal = AbortSignal.any([stopSignal, AbortSignal.timeout(PATIENCE_MS)]);
  try {
    return await readPublishedState(
      stores.postgres,
      { tenantName: tenant.tenant_name, book, window, keepFrom },
      signal,
    );
  } catch (error) {
    stopSignal.throwIfAborted();
    log.debug({ err: error }, "no ETag: the state of the tenant's days could not be read");
    return undefined;
  }
}

/** The opaque parts, with their quotes. `*` would be true of any answer, and says nothing of the one the client has. */
function tagsOf(header: string | undefined): string[] {
  return [...(header ?? "").matchAll(/"[^"]*"/g)].map(([tag]) => tag);
}
