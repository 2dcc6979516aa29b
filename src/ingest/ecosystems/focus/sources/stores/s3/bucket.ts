/** Bills in a bucket of Amazon S3, or of a service that speaks its protocol. */
import { AwsV4Signer } from "aws4fetch";
import { FileChanged } from "../../delivery.js";
import { isHidden, nameProblem } from "../../file-names.js";
import type { S3Settings } from "../../settings.js";
import { counted } from "../counted.js";
import { type HeadersFor, type HttpPlace, httpAgents, openStream, readWhole } from "../http.js";
import type { FileListing, FileStore, StoredFile } from "../store.js";
import { keySource, type S3Key } from "./credentials.js";
import { type ListedObject, readListingPage, readS3Error } from "./listing.js";

export interface BucketOptions {
  readonly bucket: string;
  readonly prefix: string;
  readonly settings: S3Settings;
  readonly maxFiles: number;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  /** Attempts of a request, and the wait before the second. */
  readonly attempts: number;
  readonly baseDelayMs: number;
}

/** 1,000 keys of 1,024 bytes, each byte of them escaped. */
const LARGEST_PAGE_BYTES = 16 * 1_048_576;
const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/** What lies here must be asked back first, which takes hours and costs money. */
const ARCHIVED = new Set(["GLACIER", "DEEP_ARCHIVE"]);

export function bucketStore(options: BucketOptions): FileStore {
  const { bucket, prefix, settings } = options;
  const keys = keySource(settings, options.env, options.now);
  const used = new Set<string>();
  const place: HttpPlace = {
    agents: httpAgents(),
    attempts: options.attempts,
    baseDelayMs: options.baseDelayMs,
    secrets: () => [...used],
    explain: (body, headers) => {
      const region = headers["x-amz-bucket-region"];
      const hint =
        typeof region === "string" && region !== settings.region
          ? ` (the bucket is in ${region}: set s3.region)`
          : "";
      return `${readS3Error(body) ?? "no reason given"}${hint}`;
    },
  };
  const base = bucketAddress(bucket, settings);

  function signedBy(signal: AbortSignal, headers: Record<string, string> = {}): HeadersFor {
    return async (url) => {
      const key = await keys(signal);
      if (key === undefined) return headers;
      used.add(key.secretAccessKey).add(key.sessionToken ?? key.secretAccessKey);
      return await sign(url, headers, key, settings.region);
    };
  }

  return {
    async list(signal): Promise<FileListing> {
      const objects = new Map<string, ListedObject>();
      const seen = new Set<string>();
      for (let next: string | undefined = ""; next !== undefined; ) {
        const url = listAddress(base, prefix, next);
        const body = await readWhole(place, url, signedBy(signal), LARGEST_PAGE_BYTES, signal);
        const page = readPage(body, url);
        for (const object of page.objects) objects.set(object.key, object);
        if (objects.size > options.maxFiles)
          throw new Error(
            `s3://${bucket}/${prefix}: there are more than ${options.maxFiles} files (limits.max_files)`,
          );
        if (page.next !== undefined && seen.has(page.next))
          throw new Error(`s3://${bucket}/${prefix}: the listing does not end`);
        next = page.next;
        if (next !== undefined) seen.add(next);
      }
      return { files: filesOf([...objects.values()], prefix), skipped: [] };
    },
    async open(file, signal) {
      const url = new URL(`${base}/${encodeKey(file.name)}`);
      const headersFor = signedBy(signal, { "if-match": `"${file.version}"` });
      const accepted = (status: number) => status === 200 || status === 404 || status === 412;
      const { status, headers, body } = await openStream(place, url, headersFor, accepted, signal);
      const etag = headers.etag?.replace(/^"(.*)"$/s, "$1");
      const length = headers["content-length"] ?? String(file.size);
      if (status !== 200 || length !== String(file.size) || (etag !== undefined && etag !== file.version)) {
        body.destroy();
        throw new FileChanged(file.name);
      }
      return counted(body, file, signal);
    },
    async close() {
      place.agents.http.destroy();
      place.agents.https.destroy();
    },
  };
}

function readPage(body: Buffer, url: URL) {
  try {
    return readListingPage(body.toString("utf8"));
  } catch (error) {
    const reason = error instanceof Error && !error.message.includes("\n") ? error.message : "it is no XML";
    throw new Error(`${url.host}${url.pathname}: the listing cannot be read: ${reason}`);
  }
}

function filesOf(objects: readonly ListedObject[], prefix: string): StoredFile[] {
  const inside = (key: string) =>
    prefix === "" || prefix.endsWith("/") ? key.startsWith(prefix) : key === prefix;
  return objects
    .filter(({ key }) => inside(key) && !key.endsWith("/") && !isHidden(key.slice(prefix.length)))
    .map(({ key, size, etag, modified, storageClass }) => {
      const archived = ARCHIVED.has(storageClass)
        ? `it is archived (${storageClass}): restore it`
        : undefined;
      const problem = nameProblem(key) ?? archived;
      return { name: key, size, version: etag, modified, ...(problem === undefined ? {} : { problem }) };
    });
}

/** Where a bucket answers, without a slash at the end. */
export function bucketAddress(bucket: string, { endpoint, region, path_style: wanted }: S3Settings): string {
  const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const service = new URL(endpoint ?? `https://s3.${region}.${suffix}`);
  // A certificate for *.s3.… does not cover a bucket with dots in its name.
  const pathStyle = wanted ?? (endpoint !== undefined || bucket.includes("."));
  if (!pathStyle) service.hostname = `${bucket}.${service.hostname}`;
  const path = service.pathname.replace(/\/+$/, "");
  return `${service.origin}${path}${pathStyle ? `/${bucket}` : ""}`;
}

function listAddress(base: string, prefix: string, token: string): URL {
  const url = new URL(base);
  url.searchParams.set("list-type", "2");
  url.searchParams.set("encoding-type", "url");
  if (prefix !== "") url.searchParams.set("prefix", prefix);
  if (token !== "") url.searchParams.set("continuation-token", token);
  return url;
}

/** Each byte that is not unreserved is escaped: a service that counts signatures reads the path as we wrote it. */
function encodeKey(key: string): string {
  const escaped = (part: string) =>
    encodeURIComponent(part).replace(
      /[!'()*]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  return key.split("/").map(escaped).join("/");
}

async function sign(url: URL, headers: Record<string, string>, key: S3Key, region: string) {
  const signer = new AwsV4Signer({
    ...key,
    url: url.href,
    method: "GET",
    service: "s3",
    region,
    headers: { ...headers, "x-amz-content-sha256": EMPTY_SHA256 },
    // All of them, so that nothing on the way can drop the condition on the ETag.
    allHeaders: true,
  });
  return Object.fromEntries((await signer.sign()).headers.entries());
}
