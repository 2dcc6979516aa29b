/** A file source with one bill at an https address. */
import type { IncomingHttpHeaders } from "node:http";
import { errorMessage } from "../../../../../common/error-message.js";
import { openConnections } from "../../../../../upstream/http/connections.js";
import { authorization, secretsOf, type UpstreamAuth } from "../../../../../upstream/http/credentials.js";
import { type HttpEndpoint, type OpenedStream, openStream } from "../../../../../upstream/http/streams.js";
import { FileChangedError } from "../delivery.js";
import { isLoopbackUrl, isSafeScheme } from "../location.js";
import type { HttpsSettings } from "../settings.js";
import { counted } from "./counted.js";
import type { FileSource, StoredFile } from "./file-source.js";

export interface AddressOptions {
  readonly url: URL;
  readonly settings: HttpsSettings | undefined;
  readonly attempts: number;
  readonly baseDelayMs: number;
}

const MOST_REDIRECTS = 5;

export function addressSource(options: AddressOptions): FileSource {
  const { settings } = options;
  const auth = authOf(settings);
  const query = settings?.query?.replace(/^\?/, "");
  const name = options.url.href;
  const first = new URL(query === undefined ? name : `${name}?${query}`);
  const secrets = [...secretsOf(auth), ...(query === undefined ? [] : [query])];
  const place: HttpEndpoint = {
    connections: openConnections(),
    attempts: options.attempts,
    baseDelayMs: options.baseDelayMs,
    secrets: () => secrets,
  };

  /**
   * Sends a request and follows redirects, each to https. Credentials go only to the host that they are configured for.
   */
  async function request(condition: Record<string, string>, signal: AbortSignal): Promise<OpenedStream> {
    let url = first;
    for (let hops = 0; ; hops += 1) {
      const own = url.origin === first.origin ? authorization(auth) : {};
      const taken = (status: number) => status === 200 || status === 412 || (status >= 300 && status < 400);
      const headersFor = async () => ({ ...own, ...condition });
      const opened = await openStream(place, url, headersFor, taken, signal);
      if (opened.status < 300 || opened.status >= 400) return opened;
      opened.body.destroy();
      if (hops === MOST_REDIRECTS) throw new Error(`${name}: more than ${MOST_REDIRECTS} redirects`);
      try {
        url = allowedRedirect(first, url, opened.headers.location);
      } catch (error) {
        throw new Error(`${name}: ${errorMessage(error)}`);
      }
    }
  }

  return {
    async list(signal) {
      // Not HEAD: an address that is signed for GET refuses it.
      const { headers, body, status } = await request({}, signal);
      body.destroy();
      if (status !== 200) throw new Error(`${name}: returned ${status}`);
      return { files: [listed(name, headers)], skipped: [], leftovers: [] };
    },
    async open(file, signal) {
      const { etag } = validatorsOf(file.version);
      // A weak ETag never matches `If-Match`, so the version of the response is compared below.
      const condition = etag?.startsWith('"') ? { "if-match": etag } : {};
      const { status, headers, body } = await request(condition as Record<string, string>, signal);
      if (status === 200 && listed(name, headers).version === file.version)
        return counted(body, file, signal);
      body.destroy();
      throw new FileChangedError(file.name);
    },
    async close() {
      await place.connections.destroy();
    },
  };
}

/** Returns the URL that a redirect of the source at `first` may go to. Throws the end of a sentence. */
export function allowedRedirect(first: URL, from: URL, location: string | undefined): URL {
  const to =
    location !== undefined && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to === undefined) throw new Error("a redirect that does not say where to");
  // A remote server must not redirect us to services of this machine.
  if (!isSafeScheme(to, isLoopbackUrl(first)))
    throw new Error(`a redirect to ${to.protocol}//${to.host} is not followed: it must be https`);
  if (isLoopbackUrl(to) && !isLoopbackUrl(first))
    throw new Error("a redirect to this machine is not followed");
  return to;
}

function listed(name: string, headers: IncomingHttpHeaders): StoredFile {
  const { etag, "last-modified": date, "content-length": length } = headers;
  if (etag === undefined && date === undefined)
    throw new Error(`${name}: the server says neither ETag nor Last-Modified, so a change could not be seen`);
  if (length === undefined || !/^\d{1,15}$/.test(length))
    throw new Error(`${name}: the server does not say the length of the file (Content-Length)`);
  const modified = Date.parse(date ?? "");
  const version = JSON.stringify(etag === undefined ? { date, length } : { etag });
  return { name, size: Number(length), version, modified: Number.isNaN(modified) ? 0 : modified };
}

function validatorsOf(version: string): { etag?: string } {
  const read: unknown = JSON.parse(version);
  const etag: unknown = read !== null && typeof read === "object" ? Reflect.get(read, "etag") : undefined;
  return typeof etag === "string" ? { etag } : {};
}

function authOf(settings: HttpsSettings | undefined): UpstreamAuth {
  const { auth_type: kind, username, password, bearer_token: token } = settings ?? {};
  if (kind === "basic" && username !== undefined && password !== undefined)
    return { kind, username, password };
  if (kind === "bearer" && token !== undefined) return { kind, token };
  return { kind: "none" };
}
