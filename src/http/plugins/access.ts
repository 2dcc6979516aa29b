/** Who may do what: each route declares what it needs, and no request comes to it without. */
import rateLimit from "@fastify/rate-limit";
import type { FastifyContextConfig, FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { ApiSettings } from "../../config/api.js";
import type { Scope } from "../../config/scopes.js";
import type { Actor } from "../../store/postgres/audit.js";
import { authenticator } from "../auth/authenticate.js";
import { type Caller, may, mayForEveryTenant, stranger } from "../auth/caller.js";
import { failedSignOns } from "../auth/failed-sign-ons.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";
import { withoutPort } from "../server/trusted-proxies.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a caller needs. `public`: nothing, whoever it is; `any`: to be known, whatever for. */
    scope: "public" | "any" | Scope;
    /** The word of `api.public` under which the route needs nothing. */
    publicAs?: ApiSettings["public"][number];
    /** True where the answer is not of one tenant, and not cut to those that the caller may see: it needs all of them. */
    everyTenant?: boolean;
  }
  interface FastifyRequest {
    /** A stranger until they are known. */
    readonly caller: Caller;
    /** Who is named in the audit. */
    actor(): Actor;
  }
}

type Needs = Pick<FastifyContextConfig, "scope" | "publicAs">;

/** Before everything that makes routes, so that it sees them all. */
export const needs = fp(
  async (app) => {
    app.addHook("onRoute", (route) => {
      const needed = route.config?.scope === undefined ? needsOfPlugin(route.url) : route.config;
      if (needed === undefined)
        throw new Error(`${[route.method].flat().join()} ${route.url} must declare in its config: scope`);
      Object.assign(route, { config: { ...route.config, ...needed } });
      // What the description says of it.
      const security = needed.scope === "public" ? [] : [{ token: [] }];
      if (route.schema && route.schema.hide !== true)
        Object.assign(route.schema, { security, "x-scope": needed.scope });
    });
  },
  { name: "needs" },
);

export const access = fp<Pick<HttpContext, "config" | "stores" | "logger">>(
  async (app, context) => {
    const { api } = context.config;
    const authenticate = authenticator(context);
    await app.register(rateLimit, { global: false });
    const signOns = failedSignOns(app, api.rate_limit.max_failed_sign_ons_per_minute);
    const callers = new WeakMap<FastifyRequest, Caller>();
    app.decorateRequest("caller", {
      getter() {
        return callers.get(this) ?? stranger;
      },
    });
    app.decorateRequest("actor", function () {
      const { kind, name, tokenId } = this.caller;
      return { kind, name, tokenId, address: this.ip && withoutPort(this.ip), requestId: this.id };
    });
    app.addHook("onRequest", async (request, reply) => {
      const { scope, publicAs, everyTenant } = request.routeOptions.config;
      // What is not there is refused later, whoever asks.
      if (request.is404 || scope === "public") return;
      // No proxy and no browser keeps what only this caller may see. Routes whose responses can be revalidated say so themselves.
      if (publicAs !== "docs") reply.header("cache-control", "no-store");
      await signOns.refuse(request, (seconds) => reply.header("retry-after", String(seconds)));
      const caller = await authenticate(request);
      if (caller === undefined) await signOns.failed(request);
      else {
        signOns.succeeded(request);
        callers.set(request, caller);
      }
      if (publicAs !== undefined && api.public.includes(publicAs)) return;
      if (caller === undefined) {
        reply.header("www-authenticate", challengeTo(request));
        throw new ApiError("unauthenticated", detailFor(request));
      }
      if (!may(caller, scope)) throw lacking(scope);
      if (everyTenant === true && !mayForEveryTenant(caller, scope))
        throw new ApiError("forbidden", "This concerns all tenants, but the credentials are for some only.");
    });
  },
  // After what refuses strangers and pages of other origins, so that nobody can try out credentials from there.
  { name: "access", dependencies: ["needs", "time-limit", "cross-origin"] },
);

/** What a caller who is known gets. */
export function lacking(scope: string): ApiError {
  return new ApiError("forbidden", `This needs the scope \`${scope}\`, which the credentials do not have.`);
}

/** Of routes that plugins from elsewhere make, which cannot declare anything. */
function needsOfPlugin(url: string): Needs | undefined {
  if (url === "/docs" || url.startsWith("/docs/")) return { scope: "any", publicAs: "docs" };
  // The files of the console hold no data. CORS has a route for all paths there are not.
  return url.startsWith("/assets/") || url === "*" ? { scope: "public" } : undefined;
}

/** RFC 6750, 3: why is only said to who sent some. */
function challengeTo({ headers }: FastifyRequest): string {
  const realm = 'Bearer realm="chargehouse"';
  return headers.authorization === undefined ? realm : `${realm}, error="invalid_token"`;
}

function detailFor({ headers }: FastifyRequest): string {
  return headers.authorization === undefined
    ? "The request has no credentials. Send `Authorization: Bearer TOKEN`, or the token as the password of HTTP Basic authentication."
    : "The credentials in `Authorization` are not valid, or no longer valid.";
}
