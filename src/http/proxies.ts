/** The proxies of `api.proxy`: whose connections they are says whose headers are believed. */
import { BlockList, isIPv6 } from "node:net";
import type { ProxySettings } from "../config/sign-on.js";

export function proxyCheck({ addresses }: Pick<ProxySettings, "addresses">): (address: string) => boolean {
  const proxies = new BlockList();
  for (const network of addresses) {
    const [address = "", bits] = network.split("/");
    if (bits === undefined) proxies.addAddress(address, familyOf(address));
    else proxies.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address) => proxies.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv6(address) ? "ipv6" : "ipv4";
}
