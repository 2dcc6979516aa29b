/** Checks the headers `Host` and `Origin` of a request, so that web pages of others cannot use the API. */
import { isIP } from "node:net";
import { hostname } from "node:os";
import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { ANY_HOST, hostOf, isLoopback, isWildcard } from "../../config/settings/host-names.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";

type HostSettings = Pick<HttpContext["config"]["api"], "host" | "allowed_hosts">;

declare module "fastify" {
  interface FastifyContextConfig {
    /** True if the route accepts any `Host` header, or none. */
    anyHost?: boolean;
  }
}

/**
 * Refuses requests whose `Host` is not a name of this service. This prevents DNS rebinding: a web page whose own name
 * resolves to this address counts as the same origin in the browser and could read everything. Only its `Host` header
 * differs.
 */
export const allowedHosts = fp<Pick<HttpContext, "config">>(
  async (app, { config }) => {
    const isAllowed = hostCheck(config.api);
    app.addHook("onRequest", async ({ headers, routeOptions }) => {
      if (routeOptions.config.anyHost === true || isAllowed(headers.host)) return;
      const shown = (headers.host ?? "").slice(0, 64);
      const detail =
        shown === ""
          ? "The request has no `Host` header."
          : `\`${shown}\` is not a name of this service. To allow it, add it to \`api.allowed_hosts\`.`;
      throw new ApiError("host_not_allowed", detail);
    });
  },
  { name: "allowed-hosts" },
);

/**
 * A check of `Host` headers. If the service listens on all interfaces, every IP address is allowed: rebinding needs a
 * name.
 */
export function hostCheck({ host, allowed_hosts }: HostSettings): (header: string | undefined) => boolean {
  const everywhere = isWildcard(host);
  const names = new Set([hostOf(everywhere ? hostname() : host), ...allowed_hosts]);
  if (names.has(ANY_HOST)) return () => true;
  return (header) => {
    const name = header === undefined ? undefined : hostOf(header);
    if (name === undefined) return false;
    return isLoopback(name) || names.has(name) || (everywhere && isIP(name) !== 0);
  };
}

type CorsSettings = Pick<HttpContext["config"]["api"], "enable_cors" | "cors_origins">;

/** `*` allows all origins. */
function allowedOrigins({ cors_origins }: CorsSettings): "*" | string[] {
  return cors_origins.includes("*") ? "*" : cors_origins;
}

/** Returns the value of `Access-Control-Allow-Origin`; undefined if the origin is not allowed. */
export function allowedOrigin(api: CorsSettings, origin: string | undefined): string | undefined {
  if (!api.enable_cors || origin === undefined) return undefined;
  const allowed = allowedOrigins(api);
  if (allowed === "*") return allowed;
  return allowed.includes(origin) ? origin : undefined;
}

/** Whether requests of the method change nothing. */
export const isSafe = (method: string): boolean => ["GET", "HEAD", "OPTIONS"].includes(method);

/**
 * Refuses requests that browsers send for pages of other origins, except the origins of `api.cors_origins`.
 *
 * A page of another site can send requests that need no preflight, although it cannot read the responses. Those that
 * may change something are refused. Programs other than browsers send neither `Origin` nor `Sec-Fetch-Site`, and are
 * not affected.
 */
export const crossOrigin = fp<Pick<HttpContext, "config">>(
  async (app, { config: { api } }) => {
    if (api.enable_cors) await app.register(cors, corsOptions(api));
    app.addHook("onRequest", async ({ method, headers }) => {
      if (isSafe(method) || isSameOrigin(headers)) return;
      if (allowedOrigin(api, headers.origin) !== undefined) return;
      const detail =
        "A browser sent this request for a page of another origin. To allow the origin, add it to `api.cors_origins` and set `api.enable_cors`.";
      throw new ApiError("cross_site_request", detail);
    });
  },
  // Runs after the check of `Host`, so that a preflight for another host is refused, too.
  { name: "cross-origin", dependencies: ["allowed-hosts"] },
);

/** An `OPTIONS` request that is not a preflight is handled as if CORS was off. */
function corsOptions(api: CorsSettings): FastifyCorsOptions {
  const options = {
    origin: allowedOrigins(api),
    methods: ["GET", "POST", "PATCH", "DELETE"],
    exposedHeaders: ["X-Request-Id", "Content-Disposition", "Retry-After", "ETag"],
    maxAge: 600,
  };
  return {
    delegator: (request: FastifyRequest, done) => done(null, { ...options, preflight: isPreflight(request) }),
  };
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  const requestedMethod = headers["access-control-request-method"];
  return method === "OPTIONS" && headers.origin !== undefined && requestedMethod !== undefined;
}

/**
 * Falls back to `Origin`, because browsers send `Sec-Fetch-Site` only over TLS or to loopback. Returns true for a
 * request with neither, which no page of another origin sends with a method that may change something.
 */
export function isSameOrigin({
  host = "",
  origin,
  "sec-fetch-site": site,
}: FastifyRequest["headers"]): boolean {
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined) return true;
  // Compare the hosts only: a proxy may terminate TLS, so the schemes may differ.
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
