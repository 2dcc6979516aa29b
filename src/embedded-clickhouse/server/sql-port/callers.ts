/**
 * Keeps web pages from using the port. A browser also sends a page's requests to loopback, so listening there is no
 * protection. Database clients send neither `Origin` nor `Sec-Fetch-Site`; browsers send one or both with every request
 * of a page. A page whose own name resolves to this machine is recognised by its `Host` header.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { exception } from "../exception.js";
import { header } from "../request.js";

/** Throws unless the request can come from a SQL client. */
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

/** Returns the host in lower case, without port, brackets and a final dot. */
function hostName(header: string): string {
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(header.trim().toLowerCase())?.[1] ?? "";
  return name.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
