/**
 * The vendor's REST APIs as one tenant sees them: lists read page by page, and single objects.
 *
 * What fails for a moment is asked again, and requests of all tenants with one key share their pace: both in the shared
 * client (`upstream-http`). Throws `UpstreamError`.
 */

import type { UpstreamClient, UpstreamRequest } from "../../../../upstream-http/client.js";
import { UpstreamError } from "../../../../upstream-http/upstream-error.js";
import { quoteNumbers } from "../../../number-text.js";
import { readEnvelope, readObject, readSealed } from "./envelope.js";
import { listProgress, nextPage, type Page } from "./paging.js";

export interface ListOptions {
  readonly signal: AbortSignal;
  /** Sent with every page, as it is ignored after the first. The vendor's lists take at most 100, costs 10,000. */
  readonly pageSize?: number;
  /** What a 404 means: nothing there, or a mistake (the default), as an empty list makes entities look deleted. */
  readonly notFound?: "empty" | "error";
  /** `text`: numbers become strings with every digit that was sent. For money. Default: JSON numbers. */
  readonly numbers?: "text";
  /** Called with the digest of each page. */
  readonly onPage?: (digest: string) => void;
}

export type DigestOptions = Pick<ListOptions, "signal" | "pageSize">;
export type GetOptions = Pick<ListOptions, "signal" | "notFound">;

export interface ConfluentApi {
  /** The items of a list, page by page. Pages may be empty. Fails rather than end early or go on for ever. */
  list(
    path: string,
    query: Readonly<Record<string, string>>,
    options: ListOptions,
  ): AsyncIterable<readonly unknown[]>;
  /** The same list, of which nothing is read but a digest of each page. Each page is asked for once. */
  digests(
    path: string,
    query: Readonly<Record<string, string>>,
    options: DigestOptions,
  ): AsyncIterable<string>;
  /** One JSON object. `{}` when it is not found and `notFound` is `empty`. */
  get(path: string, query: Readonly<Record<string, string>>, options: GetOptions): Promise<unknown>;
  close(): Promise<void>;
}

/** What the vendor's lists take at most; by default they give 10. */
const PAGE_SIZE = 100;

export function createConfluentApi(client: UpstreamClient, baseUrl: string): ConfluentApi {
  async function* pagesOf<Content extends Page & { readonly next: string | undefined }>(
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
      const answer = await found(notFound, () =>
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
      if (answer === undefined) return;
      progress.add(answer.content);
      yield answer.content;
      token = answer.token;
      if (token !== undefined) tokens.add(token);
    } while (token !== undefined);
  }

  return {
    async *list(path, query, { numbers, onPage, ...options }) {
      const asText = numbers === "text" ? quoteNumbers : (body: string) => body;
      const read = (body: Buffer) => ({
        ...readSealed(body),
        ...readEnvelope(asText(body.toString("utf8"))),
      });
      for await (const { items, digest } of pagesOf({ path, query }, options, read)) {
        onPage?.(digest);
        yield items;
      }
    },
    async *digests(path, query, options) {
      const pages = pagesOf({ path, query, attempts: 1 }, options, readSealed);
      for await (const { digest } of pages) yield digest;
    },
    async get(path, query, { signal, notFound = "error" }) {
      const decode = (answer: Buffer) => readObject(answer.toString("utf8"));
      const body = await found(notFound, () =>
        client.request({ method: "GET", path, query, decode }, signal),
      );
      return body ?? {};
    },
    close: async () => client.close(),
  };
}

async function found<T>(notFound: "empty" | "error", ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (notFound === "empty" && error instanceof UpstreamError && error.status === 404) return undefined;
    throw error;
  }
}
