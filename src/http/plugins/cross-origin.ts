/** What browsers may do for pages of other origins: nothing, but for the origins of `api.cors_origins`. */
import cors, { type FastifyCorsOptions } from "@fastify/cors";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";

type ApiSettings = Pick<HttpContext["config"]["api"], "enable_cors" | "cors_origins">;

/** All of them, or those of the list. */
function allowedOrigins({ cors_origins }: ApiSettings): "*" | string[] {
  return cors_origins.includes("*") ? "*" : cors_origins;
}

/** What `Access-Control-Allow-Origin` says to a client; undefined where nothing is allowed. */
export function allowedOrigin(api: ApiSettings, origin: string | undefined): string | undefined {
  if (!api.enable_cors || origin === undefined) return undefined;
  const allowed = allowedOrigins(api);
  if (allowed === "*") return allowed;
  return allowed.includes(origin) ? origin : undefined;
}

const safeMethods: readonly string[] = ["GET", "HEAD", "OPTIONS"];

/**
 * A page of another site may send what needs no preflight, without ever seeing the answer: it is refused before it is read.
 * Programs that are no browsers say neither where they come from nor what they are, and are not concerned.
 */
export const crossOrigin = fp<Pick<HttpContext, "config">>(
  async (app, { config: { api } }) => {
    if (api.enable_cors) await app.register(cors, corsOptions(api));
    app.addHook("onRequest", async ({ method, headers }) => {
      if (safeMethods.includes(method) || isOwn(headers)) return;
      if (allowedOrigin(api, headers.origin) !== undefined) return;
      const detail =
        "A browser sent this for a page of another origin. Origins that may are listed in `api.cors_origins`, with `api.enable_cors`.";
      throw new ApiError("cross_site_request", detail);
    });
  },
  // A preflight for another name is refused as well.
  { name: "cross-origin", dependencies: ["allowed-hosts"] },
);

/** An `OPTIONS` that is no preflight is treated as if there were no CORS. */
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
  const asks = headers["access-control-request-method"];
  return method === "OPTIONS" && headers.origin !== undefined && asks !== undefined;
}

/** Browsers leave `Sec-Fetch-Site` out where the service is reached without TLS and not by loopback. */
function isOwn({ host = "", origin, "sec-fetch-site": site }: FastifyRequest["headers"]): boolean {
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined) return true;
  // TLS may end at a proxy: the scheme says nothing.
  return URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}
