/** What browsers are told not to do with answers. Pages of ours have policies of their own, for what they load. */
import helmet, { type FastifyHelmetOptions } from "@fastify/helmet";
import fp from "fastify-plugin";
import type { HttpContext } from "../context.js";

type Policy = Exclude<FastifyHelmetOptions["contentSecurityPolicy"], boolean | undefined>;

/** Of answers that are no page: where one is shown as a page all the same, it loads nothing. */
const dataPolicy: Policy = {
  useDefaults: false,
  directives: { "default-src": ["'none'"], "frame-ancestors": ["'none'"] },
};

/** Of the console: nothing from elsewhere, nothing inline, in nobody's frame. */
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

/** Half a year. Of this name alone: what others below it speak is not ours to say. */
const HSTS = { maxAge: 15_552_000, includeSubDomains: false };

export const securityHeaders = fp<Pick<HttpContext, "config">>(
  async (app, { config: { api } }) => {
    const isSecure = api.tls !== undefined;
    await app.register(helmet, {
      contentSecurityPolicy: dataPolicy,
      // Without TLS of ours, a proxy that brings it says so.
      strictTransportSecurity: isSecure && HSTS,
      // Browsers complain of it where a page came without TLS, and not from loopback.
      crossOriginOpenerPolicy: isSecure && { policy: "same-origin" },
      // `no-referrer` would have the pages' own requests come from the origin `null`.
      referrerPolicy: { policy: "same-origin" },
      xFrameOptions: { action: "deny" },
      // For browsers that are not there any more.
      xDownloadOptions: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
      xDnsPrefetchControl: false,
    });
  },
  { name: "security-headers" },
);
