/** Finds the caller of a request by its credentials. */
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ApiSettings } from "../../config/settings/api.js";
import type { ProxySettings, RoleSettings } from "../../config/settings/sign-on.js";
import { findSession, type SessionRules } from "../../postgres/sessions.js";
import { findToken, TOKEN } from "../../postgres/tokens.js";
import type { HttpContext } from "../context.js";
import { proxyCheck } from "../server/trusted-proxies.js";
import {
  anyone,
  type Caller,
  callerOf,
  type GrantedScopes,
  hasUsableName,
  type SignedOnUser,
} from "./caller.js";
import { sessionSecret, setCookie } from "./cookies.js";
import type { FailedSignOns } from "./failed-sign-ons.js";
import { authenticateByJwt } from "./oidc.js";

/** Returns undefined if a request has no valid credentials. The reply gets the new secret of a session that rotates. */
type Authenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<Caller | undefined>;

type AuthContext = Pick<HttpContext, "config" | "stores" | "logger">;

export function authenticator(context: AuthContext, signOns: Pick<FailedSignOns, "succeeded">): Authenticate {
  const { auth, oidc, proxy, roles } = context.config.api;
  const byToken = tokens(context);
  const bySession = sessions(context, signOns);
  const bySignOnOrToken =
    (
      kind: Caller["kind"],
      find: (request: FastifyRequest) => Promise<SignedOnUser | undefined>,
    ): Authenticate =>
    async (request, reply) => {
      // With single sign-on, programs still use tokens.
      if (TOKEN.test(tokenOf(request) ?? "")) return await byToken(request, reply);
      const user = await find(request);
      if (user === undefined) return await bySession(request, reply);
      return hasUsableName(user) ? callerOf({ kind, name: user.name }, grantsOf(user, roles)) : undefined;
    };
  switch (auth) {
    case "none":
      return async () => anyone;
    case "tokens":
      return async (request, reply) => (await byToken(request, reply)) ?? (await bySession(request, reply));
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

/** The rules for the sessions of these settings. */
export function sessionRules({ sessions, oidc }: ApiSettings): SessionRules {
  return { ...sessions, issuer: oidc?.client_id === undefined ? undefined : oidc.issuer };
}

/** Authenticates callers by the cookie of a session. Other credentials in the request take precedence. */
function sessions(
  { config: { api }, stores: { postgres } }: AuthContext,
  signOns: Pick<FailedSignOns, "succeeded">,
): Authenticate {
  const rules = sessionRules(api);
  return async (request, reply) => {
    const secret = sessionSecret(request);
    const found = secret && (await findSession(postgres, secret, rules, request.stopSignal));
    if (!found) return undefined;
    const { session_id: sessionId, name, token_id: tokenId, scopes, tenants, roles, newSecret } = found;
    if (newSecret !== undefined) {
      signOns.succeeded(newSecret);
      setCookie(request, reply, "chargehouse-session", newSecret);
    }
    if (tokenId !== null && scopes !== null)
      return callerOf({ kind: "token", name, tokenId, sessionId }, [{ scopes, tenants }]);
    return callerOf({ kind: "oidc", name, sessionId }, grantsOf({ name, roles: roles ?? [] }, api.roles));
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
