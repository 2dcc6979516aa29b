/**
 * Authenticates the client as one of a port's users, by a password as Basic or in X-ClickHouse headers. A password in
 * the URL is refused, because URLs end up in logs and histories.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { exception } from "./exception.js";
import { header } from "./request.js";

export interface Account {
  readonly user: string;
  readonly password: string;
}

/** Returns the account that matches the request's user and password. Throws if there is none. */
export function authenticate<Known extends Account>(
  request: IncomingMessage,
  url: URL,
  accounts: readonly Known[],
): Known {
  if (url.searchParams.has("user") || url.searchParams.has("password"))
    throw exception(
      "AUTHENTICATION_FAILED",
      "Credentials in the URL are not taken: send them as Basic authentication, or in X-ClickHouse-User and X-ClickHouse-Key",
    );
  const credentials = credentialsOf(request);
  if (credentials === undefined)
    throw exception("REQUIRED_PASSWORD", "Authentication is required: send the user and the password");
  const found = accounts.filter((account) => {
    const [sameUser, samePassword] = [
      equal(credentials.user, account.user),
      equal(credentials.password, account.password),
    ];
    return sameUser && samePassword;
  });
  if (found[0] !== undefined) return found[0];
  throw exception(
    "AUTHENTICATION_FAILED",
    `${credentials.user}: Authentication failed: password is incorrect, or there is no user with such name`,
  );
}

/** Returns undefined if the client sent no credentials. */
export function credentialsOf(request: IncomingMessage): Account | undefined {
  const authorization = header(request, "authorization");
  const basic = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization ?? "")?.[1];
  if (basic !== undefined) {
    const [user = "", ...password] = Buffer.from(basic, "base64").toString("utf8").split(":");
    return { user, password: password.join(":") };
  }
  const [user, password] = [header(request, "x-clickhouse-user"), header(request, "x-clickhouse-key")];
  if (user === undefined && password === undefined) return undefined;
  return { user: user ?? "default", password: password ?? "" };
}

/** Compares digests, so that the time taken reveals nothing about the text or its length. */
function equal(actual: string, expected: string): boolean {
  return timingSafeEqual(digest(actual), digest(expected));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
