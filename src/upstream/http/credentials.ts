/** Authentication of requests. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { keepSecrets } from "../../common/known-secrets.js";

export type UpstreamAuth =
  | { readonly kind: "none" }
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "bearer"; readonly token: string }
  /** The file contains the token, and may change at any time. */
  | { readonly kind: "bearer_file"; readonly file: string };

/** A credentials file is unusable. The message names the file, but contains nothing of its content. */
export class CredentialFileError extends Error {
  override readonly name = "CredentialFileError";
}

interface ReadToken {
  readonly version: string;
  readonly token: string;
}

const tokens = new Map<string, ReadToken>();
const LARGEST_TOKEN_FILE = 65_536;

/** Returns the file's current token. The file is read again only if it has changed. Throws `CredentialFileError`. */
function tokenIn(file: string): string {
  try {
    // Follows links, because a cluster replaces a token by pointing a link to another file.
    const { mtimeMs, size, ino } = statSync(file);
    const version = `${mtimeMs} ${size} ${ino}`;
    const cached = tokens.get(file);
    if (cached?.version === version) return cached.token;
    if (size > LARGEST_TOKEN_FILE) throw new Error("it is too large for a token");
    const token = readFileSync(file, "utf8").trim();
    if (!/^[\x21-\x7e]+$/.test(token)) throw new Error("it has no token of printable characters");
    keepSecrets([token]);
    tokens.set(file, { version, token });
    return token;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
    const reason = code ?? (error instanceof Error ? error.message : String(error));
    throw new CredentialFileError(`the token file ${file} cannot be used: ${reason}`);
  }
}

/** Returns headers with the current credentials. Throws `CredentialFileError`. */
export function authorization(auth: UpstreamAuth): Record<string, string> {
  if (auth.kind === "bearer_file") return { authorization: `Bearer ${tokenIn(auth.file)}` };
  if (auth.kind === "bearer") return { authorization: `Bearer ${auth.token}` };
  if (auth.kind === "basic") return { authorization: `Basic ${basicToken(auth.username, auth.password)}` };
  return {};
}

function basicToken(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`, "utf8").toString("base64");
}

/** Texts that must never be shown. */
export function secretsOf(auth: UpstreamAuth): string[] {
  if (auth.kind === "bearer_file") return [tokens.get(auth.file)?.token ?? []].flat();
  if (auth.kind === "bearer") return [auth.token];
  if (auth.kind === "basic") return [auth.password, basicToken(auth.username, auth.password)];
  return [];
}

/** Returns the key of a rate limit, by host and credential. It is hashed, so that no credential is a key of a map. */
export function rateLimitKey(baseUrl: string, credentials: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([new URL(baseUrl).host, credentials]))
    .digest("hex");
}
