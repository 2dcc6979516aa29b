/** From the credentials of a request to who calls. */
import type { FastifyRequest } from "fastify";
import { findToken } from "../store/postgres/tokens.js";
import { anyone, type Caller, callerOf } from "./caller.js";
import type { HttpContext } from "./context.js";

/** Undefined when a request has no credentials, or none that are valid. */
export type Authenticate = (request: FastifyRequest) => Promise<Caller | undefined>;

type AuthContext = Pick<HttpContext, "config" | "stores">;

export function authenticator(context: AuthContext): Authenticate {
  switch (context.config.api.auth) {
    case "none":
      return async () => anyone;
    case "tokens":
      return byToken(context);
  }
}

function byToken({ stores: { postgres } }: AuthContext): Authenticate {
  return async ({ headers, stopSignal }) => {
    const text = bearerOf(headers.authorization);
    const found = text === undefined ? undefined : await findToken(postgres, text, stopSignal);
    if (found === undefined) return undefined;
    const { token_id: tokenId, name, scopes, tenants } = found;
    return callerOf({ kind: "token", name, tokenId }, { scopes, tenants });
  };
}

/** RFC 6750, 2.1. */
function bearerOf(authorization: string | undefined): string | undefined {
  return /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(authorization ?? "")?.[1];
}
