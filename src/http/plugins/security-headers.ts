/** Security headers for browsers. The console and `/docs` have content security policies of their own. */
import helmet, { type FastifyHelmetOptions } from "@fastify/helmet";
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";

type Policy = Exclude<FastifyHelmetOptions["contentSecurityPolicy"], boolean | undefined>;

/** Policy of data: if a browser shows it as a page, the page must not load anything. */
const dataPolicy: Policy = {
  useDefaults: false,
  directives: { "default-src": ["'none'"], "frame-ancestors": ["'none'"] },
};

/** Policy of the console: only files of this service, no inline code, no frames. */
export const consolePolicy: Policy = {
  useDefaults: false,
  directives: {
    "default-src": ["'self'"],
    "base-uri": ["'none'"],
    "form-action": ["'self'"],
    "frame-ancestors": ["'none'"],
    "object-src": ["'none'"],
  },
};

/** Half a year. Subdomains are not included: they may be other services. */
const HSTS = { maxAge: 15_552_000, includeSubDomains: false };

export const securityHeaders = fp<Pick<HttpContext, "config">>(
  async (app, { config: { api } }) => {
    const isSecure = api.tls !== undefined;
    await app.register(helmet, {
      contentSecurityPolicy: dataPolicy,
      // If a proxy terminates TLS, it has to set this header.
      strictTransportSecurity: isSecure && HSTS,
      // Without TLS, browsers ignore this header and log a warning, except on loopback.
      crossOriginOpenerPolicy: isSecure && { policy: "same-origin" },
      // With `no-referrer`, the pages' own requests would have the origin `null`.
      referrerPolicy: { policy: "same-origin" },
      xFrameOptions: { action: "deny" },
      // These only concern obsolete browsers.
      xDownloadOptions: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
      xDnsPrefetchControl: false,
    });
  },
  { name: "security-headers" },
);
