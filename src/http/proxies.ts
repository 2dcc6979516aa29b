/** Proxies by their addresses and networks: whose connections they are says whose headers are believed. */
import { BlockList, isIPv6 } from "node:net";

export function proxyCheck(networks: readonly string[]): (address: string) => boolean {
  const proxies = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    if (bits === undefined) proxies.addAddress(address, familyOf(address));
    else proxies.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address) => proxies.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
