/**
 * A client for a bucket of Amazon S3, or of a service with the same protocol. Requests are signed with Signature
 * Version 4.
 */
import type { Readable } from "node:stream";
import { AwsV4Signer } from "aws4fetch";
import { keepSecrets } from "../../common/known-secrets.js";
import type { S3Settings } from "../../config/settings/s3.js";
import { openConnections } from "../http/connections.js";
import {
  type HeadersFor,
  type HttpEndpoint,
  type OpenedStream,
  openStream,
  readWhole,
  sendStream,
} from "../http/streams.js";
import { keySource, type S3Key } from "./credentials.js";
import { type ListedObject, readListingPage, readS3Error } from "./listing.js";

export interface BucketOptions {
  readonly bucket: string;
  readonly settings: S3Settings;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  /** Maximum attempts of a request, and the wait before the second one. */
  readonly attempts: number;
  readonly baseDelayMs: number;
}

/** A body whose bytes are known in advance: their digest is signed, so the service rejects any others. */
export interface S3Upload {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Called for each attempt. */
  readonly open: () => Readable;
}

/** Errors name the failed operation, and never contain a secret. */
export interface BucketClient {
  /** Lists the objects whose keys begin with the prefix, each once. Throws `tooMany` if there are more than `most`. */
  list(prefix: string, most: number, tooMany: () => Error, signal: AbortSignal): Promise<ListedObject[]>;
  /** Gets the listed version of an object. Statuses are 200, 404 and 412. */
  get(key: string, etag: string, signal: AbortSignal): Promise<OpenedStream>;
  put(key: string, upload: S3Upload, signal: AbortSignal): Promise<void>;
  /** A missing object is not an error. */
  remove(key: string, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** 1,000 keys of 1,024 bytes, with every byte escaped. */
const LARGEST_PAGE_BYTES = 16 * 1_048_576;
const EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

export function bucketClient({ bucket, settings, env, now, ...retries }: BucketOptions): BucketClient {
  const keys = keySource(settings, env, now);
  const used = new Set<string>();
  const server: HttpEndpoint = {
    connections: openConnections(),
    ...retries,
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
  const addressOf = (key: string) => new URL(`${base}/${encodeKey(key)}`);

  function signed(
    signal: AbortSignal,
    { method = "GET", headers = {}, sha256 = EMPTY_SHA256 }: Partial<SignedParts> = {},
  ): HeadersFor {
    return async (url) => {
      const key = await keys(signal);
      if (key === undefined) return headers;
      used.add(key.secretAccessKey).add(key.sessionToken ?? key.secretAccessKey);
      keepSecrets(used);
      return await sign(url, { method, headers, sha256 }, key, settings.region);
    };
  }

  return {
    async list(prefix, most, tooMany, signal) {
      const objects = new Map<string, ListedObject>();
      const tokens = new Set<string>();
      for (let next: string | undefined = ""; next !== undefined; ) {
        const url = listAddress(base, prefix, next);
        const body = await readWhole(server, url, signed(signal), LARGEST_PAGE_BYTES, signal);
        const page = readPage(body, url);
        for (const object of page.objects) objects.set(object.key, object);
        if (objects.size > most) throw tooMany();
        if (page.next !== undefined && tokens.has(page.next))
          throw new Error(`s3://${bucket}/${prefix}: the listing does not end`);
        next = page.next;
        if (next !== undefined) tokens.add(next);
      }
      return [...objects.values()].filter(({ key }) => key.startsWith(prefix));
    },
    async get(key, etag, signal) {
      const headersFor = signed(signal, { headers: { "if-match": `"${etag}"` } });
      const accepted = (status: number) => status === 200 || status === 404 || status === 412;
      return await openStream(server, addressOf(key), headersFor, accepted, signal);
    },
    async put(key, { bytes, sha256, open }, signal) {
      const headersFor = signed(signal, { method: "PUT", sha256 });
      const sent = { method: "PUT", body: open, length: bytes } as const;
      await sendStream(server, addressOf(key), sent, headersFor, (status) => status === 200, signal);
    },
    async remove(key, signal) {
      const headersFor = signed(signal, { method: "DELETE" });
      const accepted = (status: number) => status === 200 || status === 204 || status === 404;
      await sendStream(server, addressOf(key), { method: "DELETE", length: 0 }, headersFor, accepted, signal);
    },
    close() {
      void server.connections.destroy();
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

/** Returns the URL of a bucket, without a slash at the end. */
export function bucketAddress(
  bucket: string,
  { endpoint, region, path_style: configured }: S3Settings,
): string {
  const suffix = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const service = new URL(endpoint ?? `https://s3.${region}.${suffix}`);
  // A certificate for *.s3.… does not cover a bucket with dots in its name.
  const pathStyle = configured ?? (endpoint !== undefined || bucket.includes("."));
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

/** Escapes each byte that is not unreserved, because the signature is computed from the path as we write it. */
function encodeKey(key: string): string {
  const escaped = (part: string) =>
    encodeURIComponent(part).replace(
      /[!'()*]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  return key.split("/").map(escaped).join("/");
}

interface SignedParts {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly headers: Record<string, string>;
  /** SHA-256 of the body. */
  readonly sha256: string;
}

async function sign(url: URL, { method, headers, sha256 }: SignedParts, key: S3Key, region: string) {
  const signer = new AwsV4Signer({
    ...key,
    url: url.href,
    method,
    service: "s3",
    region,
    headers: { ...headers, "x-amz-content-sha256": sha256 },
    // Sign all headers, so that no proxy can drop the condition on the ETag.
    allHeaders: true,
  });
  return Object.fromEntries((await signer.sign()).headers.entries());
}
