/**
 * Refuses requests whose `Host` is not a name of this service. This prevents DNS rebinding: a web page whose own name
 * resolves to this address counts as the same origin in the browser and could read everything. Only its `Host` header
 * differs.
 */
import { isIP } from "node:net";
import { hostname } from "node:os";
import fp from "fastify-plugin";
import { ANY_HOST, hostOf, isLoopback, isWildcard } from "../../config/settings/host-names.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";

type ApiSettings = Pick<HttpContext["config"]["api"], "host" | "allowed_hosts">;

declare module "fastify" {
  interface FastifyContextConfig {
    /** True if the route accepts any `Host` header, or none. */
    anyHost?: boolean;
  }
}

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
export function hostCheck({ host, allowed_hosts }: ApiSettings): (header: string | undefined) => boolean {
  const everywhere = isWildcard(host);
  const names = new Set([hostOf(everywhere ? hostname() : host), ...allowed_hosts]);
  if (names.has(ANY_HOST)) return () => true;
  return (header) => {
    const name = header === undefined ? undefined : hostOf(header);
    if (name === undefined) return false;
    return isLoopback(name) || names.has(name) || (everywhere && isIP(name) !== 0);
  };
}
