/** Finds the caller of a request by its credentials. */
import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import type { ProxySettings, RoleSettings } from "../../config/settings/sign-on.js";
import { findToken, TOKEN } from "../../postgres/tokens.js";
import type { HttpContext } from "../context.js";
import { proxyCheck } from "../server/trusted-proxies.js";
import { anyone, type Caller, callerOf, type GrantedScopes, type SignedOnUser } from "./caller.js";
import { authenticateByJwt } from "./oidc.js";

/** Returns undefined if a request has no valid credentials. */
type Authenticate = (request: FastifyRequest) => Promise<Caller | undefined>;

type AuthContext = Pick<HttpContext, "config" | "stores" | "logger">;

export function authenticator(context: AuthContext): Authenticate {
  const { auth, oidc, proxy, roles } = context.config.api;
  const byToken = tokens(context);
  const bySignOnOrToken =
    (
      kind: Caller["kind"],
      find: (request: FastifyRequest) => Promise<SignedOnUser | undefined>,
    ): Authenticate =>
    async (request) => {
      // With single sign-on, programs still use tokens.
      if (TOKEN.test(tokenOf(request) ?? "")) return await byToken(request);
      const user = await find(request);
      return user && hasUsableName(user)
        ? callerOf({ kind, name: user.name }, grantsOf(user, roles))
        : undefined;
    };
  switch (auth) {
    case "none":
      return async () => anyone;
    case "tokens":
      return byToken;
    case "oidc": {
      if (oidc === undefined) throw new Error("api.oidc is missing: the configuration was not validated");
      const find = authenticateByJwt(oidc, context.logger);
      return bySignOnOrToken(auth, async (request) => {
        const text = bearerOf(request);
        return text === undefined ? undefined : await find(text, request.log);
      });
    }
    case "proxy": {
      if (proxy === undefined) throw new Error("api.proxy is missing: the configuration was not validated");
      const find = authenticateByProxy(proxy);
      return bySignOnOrToken(auth, async ({ raw }) => find(raw));
    }
  }
}

function tokens({ stores: { postgres } }: AuthContext): Authenticate {
  return async (request) => {
    const text = tokenOf(request);
    const found = text === undefined ? undefined : await findToken(postgres, text, request.stopSignal);
    if (found === undefined) return undefined;
    const { token_id: tokenId, name } = found;
    return callerOf({ kind: "token", name, tokenId }, [found]);
  };
}

/**
 * Returns the token of this service in a request: the bearer token, or the password of Basic authentication with any
 * user name. Many spreadsheets and BI tools only support the latter.
 */
function tokenOf(request: FastifyRequest): string | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(request.headers.authorization ?? "") ?? [];
  if (encoded === undefined) return bearerOf(request);
  const credentials = Buffer.from(encoded, "base64").toString("utf8");
  return credentials.slice(credentials.indexOf(":") + 1);
}

/** Reads a bearer token (RFC 6750, 2.1). */
function bearerOf({ headers: { authorization } }: FastifyRequest): string | undefined {
  return /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? "")?.[1];
}

/** The limits of names in the audit and in `created_by`. */
function hasUsableName({ name }: SignedOnUser): boolean {
  return name.length <= 100 && /^\P{C}+$/u.test(name);
}

function grantsOf({ roles: userRoles }: SignedOnUser, roles: RoleSettings): GrantedScopes[] {
  return roles
    .filter(({ role }) => userRoles.includes(role))
    .map(({ scopes, tenants, every_tenant }) => ({ scopes, tenants: every_tenant ? null : tenants }));
}

/**
 * Authenticates callers by the headers of an authenticating proxy. The function returns undefined if the connection is
 * not of the proxy, or its headers do not name exactly one user.
 */
function authenticateByProxy(settings: ProxySettings) {
  const { name_header, roles_header } = settings;
  const isProxy = proxyCheck(settings.addresses);
  return ({ socket: { remoteAddress }, headersDistinct }: IncomingMessage): SignedOnUser | undefined => {
    if (remoteAddress === undefined || !isProxy(remoteAddress)) return undefined;
    // If a header occurs twice, the client sent one of them.
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

/** Proxies write headers in UTF-8, but Node reads their bytes as Latin-1. */
function decoded(value: string): string {
  return Buffer.from(value, "latin1").toString("utf8");
}
