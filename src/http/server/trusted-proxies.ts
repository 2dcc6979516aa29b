/** Trusted proxies, by address or network. `X-Forwarded-*` is honoured only from them. */
import { BlockList, isIPv6 } from "node:net";

export function proxyCheck(networks: readonly string[]): (address: string) => boolean {
  const proxies = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    if (bits === undefined) proxies.addAddress(address, familyOf(address));
    else proxies.addSubnet(address, Number(bits), familyOf(address));
  }
  return (forwarded) => {
    const address = withoutPort(forwarded);
    return proxies.check(address, familyOf(address));
  };
}

/**
 * Removes the port that some proxies forward, since it differs for each connection: `192.0.2.1:4711`,
 * `[2001:db8::1]:4711`.
 */
export function withoutPort(forwarded: string): string {
  return /^\[([^\]]+)\](:\d+)?$/.exec(forwarded)?.[1] ?? /^([\d.]+):\d+$/.exec(forwarded)?.[1] ?? forwarded;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
