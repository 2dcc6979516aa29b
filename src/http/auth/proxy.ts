/** Callers that an authenticating proxy names in headers. */
import type { IncomingMessage } from "node:http";
import type { ProxySettings } from "../../config/sign-on.js";
import { proxyCheck } from "../server/trusted-proxies.js";
import type { Named } from "./caller.js";

/** Undefined where the connection is not of the proxy, and where it names nobody, or more than one. */
export function authenticateByProxy(settings: ProxySettings) {
  const { name_header, roles_header } = settings;
  const isProxy = proxyCheck(settings.addresses);
  return ({ socket: { remoteAddress }, headersDistinct }: IncomingMessage): Named | undefined => {
    if (remoteAddress === undefined || !isProxy(remoteAddress)) return undefined;
    // A header that comes twice is one of the client beside that of the proxy.
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

/** Node reads the bytes of a header as Latin-1; proxies write UTF-8. */
function decoded(value: string): string {
  return Buffer.from(value, "latin1").toString("utf8");
}
