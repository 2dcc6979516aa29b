/**
 * The vendor's REST APIs for one tenant: lists with pagination, and single objects.
 *
 * The shared client (`upstream/http`) retries temporary failures and paces the requests of all tenants with the same
 * key. Throws `UpstreamError`.
 */
import { DecodeError, type UpstreamClient, type UpstreamRequest } from "../../../../upstream/http/client.js";
import { UpstreamError } from "../../../../upstream/http/upstream-error.js";
import { quoteNumbers, readDigest, readEnvelope, readObject } from "./read-response.js";

interface ListOptions {
  readonly signal: AbortSignal;
  /**
   * Sent with every page, because it is ignored after the first. The vendor's lists allow at most 100, costs 10,000.
   */
  readonly pageSize?: number;
  /** Whether a 404 is an empty result or an error (the default), because an empty list makes entities look deleted. */
  readonly notFound?: "empty" | "error";
  /** `text`: numbers become strings with every digit of the response. For money. Default: JSON numbers. */
  readonly numbers?: "text";
  /** Called with the digest of each page. */
  readonly onPage?: (digest: string) => void;
}

type DigestOptions = Pick<ListOptions, "signal" | "pageSize">;
type GetOptions = Pick<ListOptions, "signal" | "notFound">;

export interface ConfluentApi {
  /** Yields the items of a list, page by page. Pages may be empty. Throws if the list would end early or never end. */
  list(
    path: string,
    query: Readonly<Record<string, string>>,
    options: ListOptions,
  ): AsyncIterable<readonly unknown[]>;
  /** Yields only the digest of each page of the same list. Each page is requested once, without retries. */
  digests(
    path: string,
    query: Readonly<Record<string, string>>,
    options: DigestOptions,
  ): AsyncIterable<string>;
  /** Returns one JSON object, or `{}` if it is not found and `notFound` is `empty`. */
  get(path: string, query: Readonly<Record<string, string>>, options: GetOptions): Promise<unknown>;
  close(): Promise<void>;
}

/** The maximum of the vendor's lists, whose default is 10. */
const PAGE_SIZE = 100;

export function createConfluentApi(client: UpstreamClient, baseUrl: string): ConfluentApi {
  async function* pagesOf<Content extends ApiPage & { readonly next: string | undefined }>(
    { path, query, ...request }: Pick<UpstreamRequest<unknown>, "path" | "query" | "attempts">,
    { signal, pageSize = PAGE_SIZE, notFound = "error" }: Omit<ListOptions, "numbers" | "onPage">,
    read: (body: Buffer) => Content,
  ): AsyncGenerator<Content> {
    const tokens = new Set<string>();
    const progress = listProgress();
    let token: string | undefined;
    do {
      const page = {
        ...query,
        page_size: String(pageSize),
        ...(token === undefined ? {} : { page_token: token }),
      };
      const response = await orNotFound(notFound, () =>
        client.request(
          {
            ...request,
            method: "GET",
            path,
            query: page,
            decode: (body) => {
              const content = read(body);
              progress.check(content);
              return { content, token: nextPage({ baseUrl, tokens }, content.next) };
            },
          },
          signal,
        ),
      );
      if (response === undefined) return;
      progress.add(response.content);
      yield response.content;
      token = response.token;
      if (token !== undefined) tokens.add(token);
    } while (token !== undefined);
  }

  return {
    async *list(path, query, { numbers, onPage, ...options }) {
      const asText = numbers === "text" ? quoteNumbers : (body: string) => body;
      const read = (body: Buffer) => ({
        ...readDigest(body),
        ...readEnvelope(asText(body.toString("utf8"))),
      });
      for await (const { items, digest } of pagesOf({ path, query }, options, read)) {
        onPage?.(digest);
        yield items;
      }
    },
    async *digests(path, query, options) {
      const pages = pagesOf({ path, query, attempts: 1 }, options, readDigest);
      for await (const { digest } of pages) yield digest;
    },
    async get(path, query, { signal, notFound = "error" }) {
      const decode = (response: Buffer) => readObject(response.toString("utf8"));
      const body = await orNotFound(notFound, () =>
        client.request({ method: "GET", path, query, decode }, signal),
      );
      return body ?? {};
    },
    close: async () => client.close(),
  };
}

async function orNotFound<T>(notFound: "empty" | "error", request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request();
  } catch (error) {
    if (notFound === "empty" && error instanceof UpstreamError && error.status === 404) return undefined;
    throw error;
  }
}

interface ApiPages {
  readonly baseUrl: string;
  /** Tokens that were followed. */
  readonly tokens: ReadonlySet<string>;
}

/** The vendor documents 255. A longer token is a broken response. */
const LONGEST_TOKEN = 4096;

/**
 * Returns the token of the next page, or undefined at the end. Of the vendor's address, only the opaque `page_token` is
 * used and sent to our own address: there may be a gateway before the vendor, and the key must never be sent to a host
 * that a response names.
 *
 * Throws `DecodeError` if the list does not end, or if it
 * continues at an unrelated host, because the pages so far are not the whole list.
 */
function nextPage({ baseUrl, tokens }: ApiPages, next: string | undefined): string | undefined {
  if (next === undefined || next === "") return undefined;
  const url = URL.canParse(next, baseUrl) ? new URL(next, baseUrl) : undefined;
  if (url === undefined)
    throw new DecodeError("bad_body", "the address of the next page cannot be read", true);
  if (url.host !== new URL(baseUrl).host && !isVendor(url)) {
    throw new DecodeError(
      "bad_body",
      `the next page is said to be at another host, ${url.host}, which gets no request`,
      false,
    );
  }
  const token = url.searchParams.get("page_token") ?? "";
  if (token === "") return undefined;
  if (token.length > LONGEST_TOKEN)
    throw new DecodeError("bad_body", "the token of the next page is too long", false);
  if (tokens.has(token)) throw endless("the token of its next page repeats");
  return token;
}

/** Behind a gateway, pages still have the vendor's own address. */
function isVendor({ hostname }: URL): boolean {
  return hostname === "confluent.cloud" || hostname.endsWith(".confluent.cloud");
}

interface ListLimits {
  readonly pages: number;
  readonly items: number;
  readonly emptyPagesInARow: number;
}

/** A million items at the vendor's page size. A million rows of a bill take some 0.65 GB. */
const listLimits: ListLimits = { pages: 10_000, items: 1_000_000, emptyPagesInARow: 100 };

interface ApiPage {
  readonly digest: string;
  readonly isEmpty: boolean;
  /** Left out if the items were not read. */
  readonly items?: readonly unknown[];
}

/** Counts pages and items, so that a cursor that always names another page does not run forever. */
interface Progress {
  /** Throws `DecodeError` for a page that repeats, and for one that exceeds a limit. */
  check(page: ApiPage): void;
  add(page: ApiPage): void;
}

export function listProgress(limits: ListLimits = listLimits): Progress {
  const digests = new Set<string>();
  let pages = 0;
  let items = 0;
  let empty = 0;
  return {
    check(page) {
      if (page.isEmpty && empty >= limits.emptyPagesInARow)
        throw endless(`more than ${limits.emptyPagesInARow} pages in a row are empty`);
      // Empty pages look alike, and a filtered list may have several.
      if (!page.isEmpty && digests.has(page.digest)) throw endless("a page repeats");
      if (pages >= limits.pages) throw endless(`it has more than ${limits.pages} pages`);
      if (items + (page.items?.length ?? 0) > limits.items)
        throw new DecodeError("bad_body", `the list has more than ${limits.items} items`, false);
    },
    add(page) {
      pages += 1;
      items += page.items?.length ?? 0;
      empty = page.isEmpty ? empty + 1 : 0;
      if (!page.isEmpty) digests.add(page.digest);
    },
  };
}

function endless(how: string): DecodeError {
  return new DecodeError("bad_body", `the list does not end: ${how}`, false);
}
