/** Names and addresses of hosts, as they stand in `Host` headers and in the configuration. */
import { isIPv6 } from "node:net";
import type { Parsed } from "./setting.js";

/** In a list of hosts: every one. */
export const ANY_HOST = "*";

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?\.?)$/i;

/** In lower case, without port, brackets and the dot at the end; undefined when it is none. */
export function hostOf(text: string): string | undefined {
  if (isIPv6(text)) return canonical(`[${text}]`);
  const name = text.replace(/:\d{1,5}$/, "");
  return HOST.test(name) ? canonical(name.replace(/\.$/, "")) : undefined;
}

/** One spelling for each address, as browsers write it. A name that no URL may have is left as it is. */
function canonical(name: string): string {
  const url = `http://${name}`;
  const host = URL.canParse(url) ? new URL(url).hostname : name.toLowerCase();
  return host.replace(/^\[|\]$/g, "");
}

/** `0.0.0.0` or `::`: every interface. */
export function isWildcard(host: string): boolean {
  return ["0.0.0.0", "::"].includes(hostOf(host) ?? "");
}

/** Means this machine wherever it is said. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\.[\d.]+$/.test(host);
}

/** `costs.example.org`, or `*`. Ports are no part of it. */
export function parseHostName(text: string): Parsed {
  const given = text.trim();
  if (given === ANY_HOST) return { value: given };
  const host = /:\d{1,5}$/.test(given) && !isIPv6(given) ? undefined : hostOf(given);
  return host === undefined
    ? { problem: "must be a host name or an address such as costs.example.org, without a port, or *" }
    : { value: host };
}
