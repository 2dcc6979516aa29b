/**
 * Signs users in at the issuer: the browser goes there, comes back with a code, and gets the cookie of a session. The
 * state in between is in a cookie of the browser, so any process of the service can finish what another began.
 */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { createSession } from "../../postgres/sessions.js";
import { sessionRules } from "../auth/authenticate.js";
import { cookieOf, removeCookie, setCookie } from "../auth/cookies.js";
import { issuerSignIn, SignInError, type SignInFailure } from "../auth/issuer-sign-in.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";

const begunSchema = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  return_to: Type.String(),
});

const MAX_SECONDS = 600;
/** A cookie is at most 4 KB long. */
const LONGEST_PATH = 2000;

export const signInPages: FastifyPluginAsync<HttpContext> = async (app, { config, logger, stores }) => {
  const { api } = config;
  if (!api.console || api.oidc?.client_id === undefined) return;
  const { issuer } = api.oidc;
  const atIssuer = issuerSignIn(api.oidc, logger);
  const options = {
    config: { scope: "public", heavy: false, etag: false, showsTags: false },
    schema: { hide: true },
  } as const;

  app.get("/sign-in", options, async (request, reply) => {
    const returnTo = consolePath(addressOf(request).searchParams.get("return_to") ?? "/");
    try {
      const { url, begun } = await atIssuer.begin(new URL("/sign-in/callback", addressOf(request)).href);
      const state = Buffer.from(JSON.stringify({ ...begun, return_to: returnTo })).toString("base64url");
      setCookie(request, reply, "chargehouse-sign-in", state, MAX_SECONDS);
      return redirect(reply, url.href);
    } catch (error) {
      return fail(error, request, reply, returnTo);
    }
  });

  app.get("/sign-in/callback", options, async (request, reply) => {
    const callback = addressOf(request);
    const code = callback.searchParams.get("code") ?? undefined;
    const begun = readBegun(cookieOf(request, "chargehouse-sign-in"));
    const returnTo = consolePath(begun?.return_to ?? "/");
    removeCookie(request, reply, "chargehouse-sign-in");
    try {
      if (begun === undefined) throw new SignInError("not_begun");
      await app.signOns.refuse(request, code, () => undefined);
      const { name, roles } = await atIssuer.finish(begun, callback, request.log);
      const { secret } = await createSession(
        stores.postgres,
        { issuer, name, roles },
        sessionRules(api),
        { ...request.actor(), kind: "oidc", name },
        request.interruption,
      );
      app.signOns.succeeded(secret);
      setCookie(request, reply, "chargehouse-session", secret);
      return redirect(reply, returnTo);
    } catch (error) {
      if (error instanceof SignInError && error.failure === "refused")
        await app.signOns.failed(request, code);
      return fail(error, request, reply, returnTo);
    }
  });
};

/** The address as the browser sees it. A trusted proxy says in `X-Forwarded-Proto` whether it uses TLS. */
function addressOf({ protocol, headers, url }: FastifyRequest): URL {
  const base = `${protocol}://${headers.host}`;
  // `api.allowed_hosts: ["*"]` lets every text through.
  if (headers.host === undefined || !URL.canParse(url, base))
    throw new ApiError("host_not_allowed", "A sign-in needs a `Host` header that is an address.");
  return new URL(url, base);
}

function redirect(reply: FastifyReply, to: string): FastifyReply {
  return reply.header("cache-control", "no-store").redirect(to, 303);
}

function readBegun(cookie: string | undefined): Static<typeof begunSchema> | undefined {
  try {
    const begun: unknown = JSON.parse(Buffer.from(cookie ?? "", "base64url").toString());
    return Value.Check(begunSchema, begun) ? begun : undefined;
  } catch {
    return undefined;
  }
}

const NO_HOST = "http://console.invalid";

/**
 * Returns the path and query of a page of the console. Of any other address, such as one of another site, it returns the
 * first page.
 */
function consolePath(given: string): string {
  if (given.length > LONGEST_PATH || !URL.canParse(given, NO_HOST)) return "/";
  const { origin, pathname, search } = new URL(given, NO_HOST);
  const isPage = origin === NO_HOST && /^\/(access|audit|tenants\/[^/]+\/[^/]+)?$/.test(pathname);
  return isPage ? pathname + search : "/";
}

/** Sends the browser back to its page, which says why the sign-in failed. */
function fail(error: unknown, request: FastifyRequest, reply: FastifyReply, returnTo: string): FastifyReply {
  const failure: SignInFailure | undefined =
    error instanceof SignInError
      ? error.failure
      : error instanceof ApiError && error.code === "too_many_failed_sign_ons"
        ? "throttled"
        : undefined;
  if (failure === undefined) throw error;
  request.log.warn({ failure, cause: causeText(error) }, "a sign-in at the issuer failed");
  const target = new URL(returnTo, NO_HOST);
  target.searchParams.set("sign_in_failed", failure);
  return redirect(reply, target.pathname + target.search);
}

/** Only texts and challenges: the errors of `openid-client` also contain responses with tokens. */
function causeText(error: unknown): string {
  const texts: unknown[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    const {
      message,
      error: code,
      error_description: description,
      cause,
    } = each as Error & Record<string, unknown>;
    texts.push(message, code, description, Array.isArray(cause) ? JSON.stringify(cause) : undefined);
  }
  return texts.filter((text) => typeof text === "string").join(": ");
}
