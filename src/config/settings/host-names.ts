/** Parses host names and addresses of `Host` headers and of the configuration. */
import { isIPv6 } from "node:net";
import type { Parsed } from "../reader/setting.js";

/** Matches every host in a list of hosts. */
export const ANY_HOST = "*";

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]{0,252}[a-z0-9_])?\.?)$/i;

/** Returns the host in lower case, without port, brackets and trailing dot; undefined if the text is not a host. */
export function hostOf(text: string): string | undefined {
  if (isIPv6(text)) return canonical(`[${text}]`);
  const name = text.replace(/:\d{1,5}$/, "");
  return HOST.test(name) ? canonical(name.replace(/\.$/, "")) : undefined;
}

/** Normalizes addresses as browsers do. A name that is not valid in a URL stays as it is. */
function canonical(name: string): string {
  const url = `http://${name}`;
  const host = URL.canParse(url) ? new URL(url).hostname : name.toLowerCase();
  return host.replace(/^\[|\]$/g, "");
}

/** True for `0.0.0.0` and `::`, every interface. */
export function isWildcard(host: string): boolean {
  return ["0.0.0.0", "::"].includes(hostOf(host) ?? "");
}

/** True for names and addresses that always mean the local machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127\.[\d.]+$/.test(host);
}

/** Parses a host such as `costs.example.org`, or `*`. Ports are refused. */
export function parseHostName(text: string): Parsed {
  const given = text.trim();
  if (given === ANY_HOST) return { value: given };
  const host = /:\d{1,5}$/.test(given) && !isIPv6(given) ? undefined : hostOf(given);
  return host === undefined
    ? { problem: "must be a host name or an address such as costs.example.org, without a port, or *" }
    : { value: host };
}
