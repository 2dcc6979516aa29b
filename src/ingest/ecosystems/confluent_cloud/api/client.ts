/**
 * The vendor's REST APIs for one tenant: lists that are read page by page, and single objects.
 *
 * The shared client (`upstream/http`) retries temporary failures and paces the requests of all tenants with the same
 * key. Throws `UpstreamError`.
 */
import type { UpstreamClient, UpstreamRequest } from "../../../../upstream/http/client.js";
import { UpstreamError } from "../../../../upstream/http/upstream-error.js";
import { quoteNumbers } from "../../../number-text.js";
import { readDigest, readEnvelope, readObject } from "./envelope.js";
import { type ApiPage, listProgress, nextPage } from "./paging.js";

export interface ListOptions {
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

export type DigestOptions = Pick<ListOptions, "signal" | "pageSize">;
export type GetOptions = Pick<ListOptions, "signal" | "notFound">;

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
