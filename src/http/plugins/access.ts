/**
 * Access control: each route declares the scope that it requires, and a request without it is refused before the
 * handler.
 */
import rateLimit from "@fastify/rate-limit";
import type { FastifyContextConfig, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { ApiSettings } from "../../config/settings/api.js";
import type { Scope } from "../../domain/scopes.js";
import type { Actor } from "../../postgres/audit.js";
import { authenticator } from "../auth/authenticate.js";
import { type Caller, may, mayForEveryTenant, unauthenticated } from "../auth/caller.js";
import { cookieOf, sessionSecret } from "../auth/cookies.js";
import { type FailedSignOns, failedSignOns } from "../auth/failed-sign-ons.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { withoutPort } from "../server/trusted-proxies.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Required scope. `public`: no credentials; `any`: any valid credentials. */
    scope: "public" | "any" | Scope;
    /** The entry of `api.public` that makes the route public. */
    publicAs?: ApiSettings["public"][number];
    /**
     * True if the response covers all tenants and cannot be reduced to those of the caller: the caller needs access to
     * every tenant.
     */
    everyTenant?: boolean;
  }
  interface FastifyInstance {
    readonly signOns: FailedSignOns;
  }
  interface FastifyRequest {
    /** `unauthenticated` until the credentials are verified. */
    readonly caller: Caller;
    /** The caller as the audit records it. */
    actor(): Actor;
  }
}

type RouteAccess = Pick<FastifyContextConfig, "scope" | "publicAs">;

/** Register it before all plugins that add routes, so that it sees every route. */
export const requiredScopes = fp(
  async (app) => {
    app.addHook("onRoute", (route) => {
      const required = route.config?.scope === undefined ? accessOfPluginRoute(route.url) : route.config;
      if (required === undefined)
        throw new Error(`${[route.method].flat().join()} ${route.url} must declare in its config: scope`);
      Object.assign(route, { config: { ...route.config, ...required } });
      // For the OpenAPI document.
      const security = required.scope === "public" ? [] : [{ token: [] }];
      if (route.schema && route.schema.hide !== true)
        Object.assign(route.schema, { security, "x-scope": required.scope });
    });
  },
  { name: "required-scopes" },
);

export const access = fp<Pick<HttpContext, "config" | "stores" | "logger">>(
  async (app, context) => {
    const { api } = context.config;
    await app.register(rateLimit, { global: false });
    const signOns = failedSignOns(app, api.rate_limit.max_failed_sign_ons_per_minute);
    const authenticate = authenticator(context, signOns);
    app.decorate("signOns", signOns);
    const callers = new WeakMap<FastifyRequest, Caller>();
    app.decorateRequest("caller", {
      getter() {
        return callers.get(this) ?? unauthenticated;
      },
    });
    app.decorateRequest("actor", function () {
      const { kind, name, tokenId } = this.caller;
      return { kind, name, tokenId, address: this.ip && withoutPort(this.ip), requestId: this.id };
    });
    app.addHook("onRequest", async (request, reply) => {
      const { scope, publicAs, everyTenant } = request.routeOptions.config;
      // Unknown paths are refused later, with 404 for every caller.
      if (request.is404 || scope === "public") return;
      // Proxies and browsers must not store what only this caller may see. Routes with an ETag set this header again.
      if (publicAs !== "docs") reply.header("cache-control", "no-store");
      const credentials = request.headers.authorization ?? sessionSecret(request);
      await signOns.refuse(request, credentials, (seconds) => reply.header("retry-after", String(seconds)));
      const caller = await authenticate(request, reply);
      if (caller === undefined) await signOns.failed(request, credentials);
      else {
        signOns.succeeded(credentials);
        callers.set(request, caller);
      }
      if (publicAs !== undefined && api.public.includes(publicAs)) return;
      if (caller === undefined) {
        reply.header("www-authenticate", challengeTo(request));
        throw new ApiError("unauthenticated", detailFor(request));
      }
      if (!may(caller, scope)) throw missingScope(scope);
      if (everyTenant === true && !mayForEveryTenant(caller, scope))
        throw new ApiError("forbidden", "This concerns all tenants, but the credentials are for some only.");
    });
  },
  // Runs after requests of other hosts and origins are refused, so that their pages cannot guess credentials.
  { name: "access", dependencies: ["required-scopes", "time-limit", "cross-origin"] },
);

/** The error for an authenticated caller without the scope. */
export function missingScope(scope: string): ApiError {
  return new ApiError("forbidden", `This needs the scope \`${scope}\`, which the credentials do not have.`);
}

/** Returns the access of routes of third-party plugins, which cannot declare it. */
function accessOfPluginRoute(url: string): RouteAccess | undefined {
  if (url === "/docs" || url.startsWith("/docs/")) return { scope: "any", publicAs: "docs" };
  // The console's files contain no data. The CORS plugin adds the route `*`.
  return url.startsWith("/assets/") || url === "*" ? { scope: "public" } : undefined;
}

/** Adds the error code only if the request has credentials (RFC 6750, 3). */
function challengeTo({ headers }: FastifyRequest): string {
  const realm = 'Bearer realm="chargehouse"';
  return headers.authorization === undefined ? realm : `${realm}, error="invalid_token"`;
}

function detailFor(request: FastifyRequest): string {
  if (request.headers.authorization !== undefined)
    return "The credentials in `Authorization` are not valid, or no longer valid.";
  if (sessionSecret(request) !== undefined) return "The session has ended or expired. Sign in again.";
  if (cookieOf(request, "chargehouse-session") !== undefined)
    return "The cookie of a session counts only if the headers of the request prove that a page of this service sent it. Programs send `Authorization: Bearer TOKEN`.";
  return "The request has no credentials. Send `Authorization: Bearer TOKEN`, or the token as the password of HTTP Basic authentication.";
}
