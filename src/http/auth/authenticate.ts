/** From the credentials of a request to who calls. */
import type { FastifyRequest } from "fastify";
import type { RoleSettings } from "../../config/sign-on.js";
import { findToken, TOKEN } from "../../store/postgres/tokens.js";
import type { HttpContext } from "../context.js";
import { anyone, type Caller, callerOf, type Given, type Named } from "./caller.js";
import { authenticateByJwt } from "./oidc.js";
import { authenticateByProxy } from "./proxy.js";

/** Undefined when a request has no credentials, or none that are valid. */
export type Authenticate = (request: FastifyRequest) => Promise<Caller | undefined>;

type AuthContext = Pick<HttpContext, "config" | "stores" | "logger">;

export function authenticator(context: AuthContext): Authenticate {
  const { auth, oidc, proxy, roles } = context.config.api;
  const byToken = tokens(context);
  const orToken =
    (kind: Caller["kind"], find: (request: FastifyRequest) => Promise<Named | undefined>): Authenticate =>
    async (request) => {
      // Programs have tokens, also where people sign on.
      if (TOKEN.test(tokenOf(request) ?? "")) return await byToken(request);
      const found = await find(request);
      return found && isNamed(found)
        ? callerOf({ kind, name: found.name }, grantsOf(found, roles))
        : undefined;
    };
  switch (auth) {
    case "none":
      return async () => anyone;
    case "tokens":
      return byToken;
    case "oidc": {
      if (oidc === undefined) throw new Error("api.oidc that was not checked");
      const find = authenticateByJwt(oidc, context.logger);
      return orToken(auth, async (request) => {
        const text = bearerOf(request);
        return text === undefined ? undefined : await find(text, request.log);
      });
    }
    case "proxy": {
      if (proxy === undefined) throw new Error("api.proxy that was not checked");
      const find = authenticateByProxy(proxy);
      return orToken(auth, async ({ raw }) => find(raw));
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

/** A token of this service: as a bearer, or as the password of any user, which is all that many spreadsheets and BI tools can send. */
function tokenOf(request: FastifyRequest): string | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(request.headers.authorization ?? "") ?? [];
  if (encoded === undefined) return bearerOf(request);
  const credentials = Buffer.from(encoded, "base64").toString("utf8");
  return credentials.slice(credentials.indexOf(":") + 1);
}

/** RFC 6750, 2.1. */
function bearerOf({ headers: { authorization } }: FastifyRequest): string | undefined {
  return /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? "")?.[1];
}

/** What the audit and `created_by` can hold. */
function isNamed({ name }: Named): boolean {
  return name.length <= 100 && /^\P{C}+$/u.test(name);
}

function grantsOf({ roles: held }: Named, roles: RoleSettings): Given[] {
  return roles
    .filter(({ role }) => held.includes(role))
    .map(({ scopes, tenants, every_tenant }) => ({ scopes, tenants: every_tenant ? null : tenants }));
}
