/** How requests authenticate. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { keepSecrets } from "../secrets/known-secrets.js";

export type UpstreamAuth =
  | { readonly kind: "none" }
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "bearer"; readonly token: string }
  /** The file has the token, and may change at any time. */
  | { readonly kind: "bearer_file"; readonly file: string };

/** A file of credentials that cannot be used. The message names the file, and nothing of what it contains. */
export class CredentialFileError extends Error {
  override readonly name = "CredentialFileError";
}

interface ReadToken {
  readonly version: string;
  readonly token: string;
}

const tokens = new Map<string, ReadToken>();
const LARGEST_TOKEN_FILE = 65_536;

/** The token that the file has now; it is read again if the file has changed. Throws `CredentialFileError`. */
function tokenIn(file: string): string {
  try {
    // Follows links: a cluster replaces a token by pointing a link to another file.
    const { mtimeMs, size, ino } = statSync(file);
    const version = `${mtimeMs} ${size} ${ino}`;
    const known = tokens.get(file);
    if (known?.version === version) return known.token;
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

/** Headers that carry the credentials, as they are now. Throws `CredentialFileError`. */
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

/** Who counts together at an upstream: host and credential. Hashed, so that no credential lies in a map of the process. */
export function gateKey(baseUrl: string, credentials: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([new URL(baseUrl).host, credentials]))
    .digest("hex");
}
