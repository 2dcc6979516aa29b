/**
 * Pages of lists. Tokens are opaque, have at most 255 characters, and contain parameters and size of the first request.
 */
import { SimulatedApiError } from "./api-error.js";

export interface PageLimits {
  readonly fallback: number;
  readonly max: number;
}

/** Page sizes of the vendor's lists and of the bill. */
export const listLimits: PageLimits = { fallback: 10, max: 100 };
export const costLimits: PageLimits = { fallback: 5000, max: 10_000 };

/** An explicit cursor to the first page of any list. */
export const BEGINNING = "0.0";

export interface SimulatedPageRequest {
  readonly path: string;
  /** Parameters of the first request, without those for paging. */
  readonly query: URLSearchParams;
  readonly size: number;
  /** Where the page starts. Undefined for the first page. */
  readonly cursor: string | undefined;
}

/** Parses a request. Throws `SimulatedApiError`. If there is a token, all other parameters are ignored. */
export function pageRequest(url: URL, limits: PageLimits): SimulatedPageRequest {
  const path = url.pathname;
  const token = url.searchParams.get("page_token");
  if (token !== null && token !== "") return fromToken(path, token);
  const query = new URLSearchParams(url.searchParams);
  query.delete("page_size");
  query.delete("page_token");
  return { path, query, size: sizeOf(url.searchParams.get("page_size"), limits), cursor: undefined };
}

function sizeOf(written: string | null, { fallback, max }: PageLimits): number {
  if (written === null || written === "") return fallback;
  const size = Number(written);
  if (/^\d+$/.test(written) && size >= 1 && size <= max) return size;
  const detail = `page_size must be a whole number from 1 to ${max}`;
  throw new SimulatedApiError(400, "invalid_page_size", detail, "page_size");
}

/** The token of the page that starts at `cursor`. `salt` creates another token for the same page. */
export function pageToken(
  { path, query, size }: SimulatedPageRequest,
  cursor: string,
  ...salt: string[]
): string {
  return Buffer.from(JSON.stringify([path, query.toString(), size, cursor, ...salt])).toString("base64url");
}

function fromToken(path: string, token: string): SimulatedPageRequest {
  const refused = new SimulatedApiError(
    400,
    "invalid_page_token",
    "page_token is not one of this list",
    "page_token",
  );
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    throw refused;
  }
  if (!Array.isArray(parsed)) throw refused;
  const [tokenPath, query, size, cursor]: unknown[] = parsed;
  if (
    tokenPath !== path ||
    typeof query !== "string" ||
    typeof size !== "number" ||
    typeof cursor !== "string"
  ) {
    throw refused;
  }
  return { path, query: new URLSearchParams(query), size, cursor };
}

export interface SimulatedPage {
  readonly request: SimulatedPageRequest;
  readonly apiVersion: string;
  readonly kind: string;
  /** JSON of the items. Null if a fault replaces the list. */
  readonly items: readonly string[] | null;
  /** Undefined for the last page. */
  readonly nextCursor: string | undefined;
  readonly total: number | undefined;
}

/** `base` is the base URL of links. `token` overrides the token of the next page. */
export function pageText(page: SimulatedPage, base: string, token?: string): string {
  const { request, apiVersion, kind, items, nextCursor, total } = page;
  const { path, query } = request;
  const first = `${base}${path}${query.size > 0 ? `?${query}` : ""}`;
  const following = token ?? (nextCursor === undefined ? undefined : pageToken(request, nextCursor));
  const parameters = new URLSearchParams(query);
  if (following !== undefined) parameters.set("page_token", following);
  const metadata = {
    first,
    ...(following === undefined ? {} : { next: `${base}${path}?${parameters}` }),
    ...(total === undefined ? {} : { total_size: total }),
  };
  const head = JSON.stringify({ api_version: apiVersion, kind, metadata });
  return `${head.slice(0, -1)},"data":${items === null ? "null" : `[${items.join(",")}]`}}`;
}

/** Cuts a page from a complete list. */
export function simulatedPage(
  request: SimulatedPageRequest,
  all: readonly unknown[],
  apiVersion: string,
  kind: string,
): SimulatedPage {
  const from = Number(request.cursor ?? 0);
  const to = from + request.size;
  return {
    request,
    apiVersion,
    kind,
    items: all.slice(from, to).map((item) => JSON.stringify(item)),
    nextCursor: to < all.length ? String(to) : undefined,
    total: all.length,
  };
}
