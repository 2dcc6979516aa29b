/** Callers that an authenticating proxy names in headers. */
import type { IncomingMessage } from "node:http";
import { BlockList, isIPv6 } from "node:net";
import type { ProxySettings } from "../config/sign-on.js";
import type { Named } from "./caller.js";

/** Undefined where the connection is not of the proxy, and where it names nobody, or more than one. */
export function namedByProxy({ addresses, name_header, roles_header }: ProxySettings) {
  const proxies = new BlockList();
  for (const network of addresses) {
    const [address = "", bits] = network.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  return ({ socket, headersDistinct }: IncomingMessage): Named | undefined => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || !proxies.check(remoteAddress, isIPv6(remoteAddress) ? "ipv6" : "ipv4"))
      return undefined;
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
