/** Who may ask: one user and password a port, given as Basic, as X-ClickHouse headers or in the URL. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { exception } from "./exception.js";
import { header } from "./request.js";

export interface Account {
  readonly user: string;
  readonly password: string;
}

/** Throws unless the request carries the account's user and password. */
export function authenticate(request: IncomingMessage, url: URL, account: Account): void {
  const given = credentials(request, url);
  if (given === undefined)
    throw exception("REQUIRED_PASSWORD", "Authentication is required: send the user and the password");
  const [sameUser, samePassword] = [equal(given.user, account.user), equal(given.password, account.password)];
  if (sameUser && samePassword) return;
  throw exception(
    "AUTHENTICATION_FAILED",
    `${given.user}: Authentication failed: password is incorrect, or there is no user with such name`,
  );
}

function credentials(request: IncomingMessage, url: URL): Account | undefined {
  const authorization = header(request, "authorization");
  const basic = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(authorization ?? "")?.[1];
  if (basic !== undefined) {
    const [user = "", ...password] = Buffer.from(basic, "base64").toString("utf8").split(":");
    return { user, password: password.join(":") };
  }
  const user = header(request, "x-clickhouse-user") ?? url.searchParams.get("user");
  const password = header(request, "x-clickhouse-key") ?? url.searchParams.get("password");
  if (user === null && password === null) return undefined;
  return { user: user ?? "default", password: password ?? "" };
}

/** Compares digests, so that the time taken tells nothing of the text or its length. */
function equal(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
