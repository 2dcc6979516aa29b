/** Refuses requests that browsers send for pages of other origins, except the origins of `api.cors_origins`. */
import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";

type ApiSettings = Pick<HttpContext["config"]["api"], "enable_cors" | "cors_origins">;

/** `*` allows all origins. */
function allowedOrigins({ cors_origins }: ApiSettings): "*" | string[] {
  return cors_origins.includes("*") ? "*" : cors_origins;
}

/** Returns the value of `Access-Control-Allow-Origin`; undefined if the origin is not allowed. */
export function allowedOrigin(api: ApiSettings, origin: string | undefined): string | undefined {
  if (!api.enable_cors || origin === undefined) return undefined;
  const allowed = allowedOrigins(api);
  if (allowed === "*") return allowed;
  return allowed.includes(origin) ? origin : undefined;
}

const safeMethods: readonly string[] = ["GET", "HEAD", "OPTIONS"];

/**
 * A page of another site can send requests that need no preflight, although it cannot read the responses. Those that
 * may change something are refused. Programs other than browsers send neither `Origin` nor `Sec-Fetch-Site`, and are
 * not affected.
 */
export const crossOrigin = fp<Pick<HttpContext, "config">>(
  async (app, { config: { api } }) => {
    if (api.enable_cors) await app.register(cors, corsOptions(api));
    app.addHook("onRequest", async ({ method, headers }) => {
      if (safeMethods.includes(method) || isSameOrigin(headers)) return;
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
function corsOptions(api: ApiSettings): FastifyCorsOptions {
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

/** Falls back to `Origin`, because browsers send `Sec-Fetch-Site` only over TLS or to loopback. */
function isSameOrigin({ host = "", origin, "sec-fetch-site": site }: FastifyRequest["headers"]): boolean {
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined) return true;
  // Compare the hosts only: a proxy may terminate TLS, so the schemes may differ.
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
