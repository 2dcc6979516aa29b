/**
 * Whose names the API goes by. A page whose own name was made to point at this address (DNS rebinding) counts as the same origin in the
 * browser, and reads what it likes; only `Host` gives it away.
 */
import { isIP } from "node:net";
import { hostname } from "node:os";
import fp from "fastify-plugin";
import { ANY_HOST, hostOf, isLoopback, isWildcard } from "../../config/host-names.js";
import type { HttpContext } from "../context.js";
import { ApiError } from "../errors.js";

type ApiSettings = Pick<HttpContext["config"]["api"], "host" | "allowed_hosts">;

declare module "fastify" {
  interface FastifyContextConfig {
    /** True where the service answers by whatever name it is called, or none. */
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
          ? "The request names no host (`Host`)."
          : `This service does not go by the name \`${shown}\`. If it should, list the name in \`api.allowed_hosts\`.`;
      throw new ApiError("host_not_allowed", detail);
    });
  },
  { name: "allowed-hosts" },
);

/** Of a `Host` header. An address cannot be made to point elsewhere, so where all interfaces are listened on, each will do. */
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
