/** How requests authenticate. */
import { createHash } from "node:crypto";

export type UpstreamAuth =
  | { readonly kind: "none" }
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "bearer"; readonly token: string };

/** Headers that carry the credentials. */
export function authorization(auth: UpstreamAuth): Record<string, string> {
  if (auth.kind === "bearer") return { authorization: `Bearer ${auth.token}` };
  if (auth.kind === "basic") return { authorization: `Basic ${basicToken(auth.username, auth.password)}` };
  return {};
}

function basicToken(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`, "utf8").toString("base64");
}

/** Texts that must never be shown. */
export function secretsOf(auth: UpstreamAuth): string[] {
  if (auth.kind === "bearer") return [auth.token];
  if (auth.kind === "basic") return [auth.password, basicToken(auth.username, auth.password)];
  return [];
}

/** Who counts together at an upstream: host and credential. Hashed, so that no credential lies in a map of the process. */
export function gateKey(baseUrl: string, auth: UpstreamAuth): string {
  return createHash("sha256")
    .update(JSON.stringify([new URL(baseUrl).host, auth]))
    .digest("hex");
}
