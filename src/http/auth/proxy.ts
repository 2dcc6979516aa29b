/** Authenticates callers by the headers of an authenticating proxy. */
import type { IncomingMessage } from "node:http";
import type { ProxySettings } from "../../config/settings/sign-on.js";
import { proxyCheck } from "../server/trusted-proxies.js";
import type { SignedOnUser } from "./caller.js";

/**
 * The function returns undefined if the connection is not of the proxy, or its headers do not name exactly one user.
 */
export function authenticateByProxy(settings: ProxySettings) {
  const { name_header, roles_header } = settings;
  const isProxy = proxyCheck(settings.addresses);
  return ({ socket: { remoteAddress }, headersDistinct }: IncomingMessage): SignedOnUser | undefined => {
    if (remoteAddress === undefined || !isProxy(remoteAddress)) return undefined;
    // If a header occurs twice, the client sent one of them.
    const [name = "", ...otherNames] = headersDistinct[name_header] ?? [];
    const [roles = "", ...otherRoles] = headersDistinct[roles_header] ?? [];
    if (name === "" || otherNames.length > 0 || otherRoles.length > 0) return undefined;
    return {
      name: decoded(name),
      roles: decoded(roles)
        .split(",")
        .map((role) => role.trim()),
    };
  };
}

/** Proxies write headers in UTF-8, but Node reads their bytes as Latin-1. */
function decoded(value: string): string {
  return Buffer.from(value, "latin1").toString("utf8");
}
