/** Where the bills of a source are: a folder, a part of a bucket, or one address. */
import picomatch from "picomatch";
import type { Parsed } from "../../../../config/reader/setting.js";
import { s3Problem, splitS3 } from "../../../../config/settings/s3.js";
import { hasDataExtension } from "./file-names.js";

export type Location =
  | { readonly kind: "folder"; readonly path: string; readonly glob: string | undefined }
  /** `prefix` is empty, one key, or ends in `/`, so that `bills` does not include `bills-old/`. */
  | { readonly kind: "s3"; readonly bucket: string; readonly prefix: string }
  | { readonly kind: "https"; readonly url: URL };

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Plain http is allowed only to this machine. */
export function isSafeScheme(url: URL, loopbackAllowed: boolean): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && loopbackAllowed && isLoopbackUrl(url));
}

export function isLoopbackUrl(url: URL): boolean {
  return LOOPBACK.has(url.hostname);
}

function httpsProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return "must be an address such as https://host/bills/2026-05.csv.gz";
  if (url.username !== "" || url.password !== "")
    return "must not contain credentials; they have keys of their own under `https`";
  if (url.search !== "")
    return "must not hold a query (`?`): write it in `https.query`, which is never shown";
  if (url.hash !== "") return "must not hold a fragment (`#`)";
  if (!isSafeScheme(url, true)) return "must be https: plain http is taken only from this machine";
  return undefined;
}

/** Checks a location in the configuration. The value stays as it is written; `readLocation` parses it. */
export function parseLocation(text: string): Parsed {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text) ?? [];
  let problem: string | undefined;
  if (scheme === undefined)
    problem = /\p{Cc}/u.test(text) ? "must not contain control characters" : undefined;
  else if (scheme === "s3") problem = s3Problem(text);
  else if (scheme === "https" || scheme === "http") problem = httpsProblem(text);
  else problem = "must be a folder, s3://bucket/prefix or https://host/file";
  return problem === undefined ? { value: text } : { problem };
}

/** Parses a text that `parseLocation` accepts. */
export function readLocation(text: string): Location {
  if (text.startsWith("s3://")) {
    const [bucket, key] = splitS3(text);
    const whole = key === "" || key.endsWith("/") || hasDataExtension(key);
    return { kind: "s3", bucket, prefix: whole ? key : `${key}/` };
  }
  if (/^https?:\/\//.test(text)) return { kind: "https", url: new URL(text) };
  const { base, glob, isGlob } = picomatch.scan(text);
  return isGlob
    ? { kind: "folder", path: base === "" ? "." : base, glob }
    : { kind: "folder", path: text, glob: undefined };
}
