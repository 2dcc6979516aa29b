/**
 * The cookies of the console: the secret of a session, and the state of a sign-in at the issuer. Scripts cannot read
 * them (`HttpOnly`).
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { SESSION_SECRET } from "../../postgres/sessions.js";
import { isSafe, isSameOrigin } from "../plugins/host-and-origin.js";

/**
 * `chargehouse-session` is only sent with requests of this site's own pages, or that the user enters: its API needs no
 * links from elsewhere, because the pages of the console contain no data. `chargehouse-sign-in` has to come along when
 * the issuer sends the browser back.
 */
const sameSite = { "chargehouse-session": "Strict", "chargehouse-sign-in": "Lax" } as const;
type CookieName = keyof typeof sameSite;

/**
 * Browsers accept a cookie with the prefix `__Host-` only over TLS, from this host, for all of its paths. So neither
 * another host of the domain nor somebody on the network can set it.
 */
function nameOf({ protocol }: FastifyRequest, name: CookieName): string {
  return protocol === "https" ? `__Host-${name}` : name;
}

/** Values are base64url. `maxAge` is in seconds; without it, the cookie lasts until the browser is closed. */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  name: CookieName,
  value: string,
  maxAge?: number,
): void {
  const attributes = [
    `${nameOf(request, name)}=${value}`,
    "Path=/",
    "HttpOnly",
    `SameSite=${sameSite[name]}`,
    ...(request.protocol === "https" ? ["Secure"] : []),
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
  ];
  reply.header("set-cookie", attributes.join("; "));
}

export function removeCookie(request: FastifyRequest, reply: FastifyReply, name: CookieName): void {
  setCookie(request, reply, name, "", 0);
}

/** Returns undefined if the cookie occurs twice: somebody else set one of them. */
export function cookieOf(request: FastifyRequest, name: CookieName): string | undefined {
  const wanted = nameOf(request, name);
  const values = (request.headers.cookie ?? "")
    .split(";")
    .map((pair) => pair.trim().split("=", 2))
    .flatMap(([key, value]) => (key === wanted ? (value ?? "") : []));
  return values.length === 1 ? values[0] : undefined;
}

/**
 * Returns the secret of the session that authenticates a request, if `Authorization` does not. A browser sends cookies
 * whichever page causes the request, so the cookie counts only for requests of this service's own pages.
 */
export function sessionSecret(request: FastifyRequest): string | undefined {
  if (request.headers.authorization !== undefined) return undefined;
  const secret = cookieOf(request, "chargehouse-session");
  return secret !== undefined && SESSION_SECRET.test(secret) && isOfOwnPage(request) ? secret : undefined;
}

/**
 * A request that may change something has to prove it, and the origins of `api.cors_origins` are no exception. Without
 * `Sec-Fetch-Site`, the origin proves it; its scheme may only differ if a proxy terminates TLS.
 */
function isOfOwnPage({ headers, method, protocol }: FastifyRequest): boolean {
  const { origin, "sec-fetch-site": site } = headers;
  if (isSafe(method)) return isSameOrigin(headers);
  if (site !== undefined) return site === "same-origin";
  return origin !== undefined && isSameOrigin(headers) && !(protocol === "https" && /^http:/i.test(origin));
}
