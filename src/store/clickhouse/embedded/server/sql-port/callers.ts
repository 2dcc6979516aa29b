/**
 * Keeps web pages away from the port. A browser also sends a page's requests to loopback, so listening there is no protection.
 * Database clients send no `Origin` and no `Sec-Fetch-Site`; browsers send one or both with every request of a page. A page that
 * had its own name resolved to this machine is recognised by the `Host` it sends.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { exception } from "../exception.js";
import { header } from "../request.js";

/** Throws unless the request can be of a SQL client. */
export function refusePages(request: IncomingMessage, allowedHosts: readonly string[]): void {
  const site = header(request, "sec-fetch-site");
  if (header(request, "origin") !== undefined || (site !== undefined && site !== "none"))
    throw exception("ACCESS_DENIED", "Requests of web pages are refused");
  const host = hostName(request.headers.host ?? "");
  const known = host === "localhost" || isIP(host) !== 0 || allowedHosts.includes(host);
  if (!known)
    throw exception(
      "ACCESS_DENIED",
      `The Host header names ${JSON.stringify(host)}: use an address or localhost, or add the name to embedded.sql_allowed_hosts`,
    );
}

/** Without the port, brackets and a final dot; lower case. */
function hostName(header: string): string {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(header.trim().toLowerCase())?.[1] ?? "";
  return name.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
