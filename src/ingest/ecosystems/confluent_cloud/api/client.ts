/**
 * The vendor's REST APIs as one tenant sees them: lists read page by page, and single objects.
 *
 * What fails for a moment is asked again, and requests of all tenants with one key share their pace: both in the shared
 * client (`upstream-http`). Throws `UpstreamError`.
 */
import { quoteNumbers } from "../../../number-text.js";
import type { UpstreamClient } from "../../../upstream-http/client.js";
import { UpstreamError } from "../../../upstream-http/upstream-error.js";
import { readEnvelope, readObject } from "./envelope.js";
import { nextPage, type Pages } from "./paging.js";

export interface ListOptions {
  readonly signal: AbortSignal;
  /** Sent with every page, as it is ignored after the first. The vendor's lists take at most 100, costs 10,000. */
  readonly pageSize?: number;
  /** What a 404 means: nothing there, or a mistake (the default), as an empty list makes entities look deleted. */
  readonly notFound?: "empty" | "error";
  /** `text`: numbers become strings with every digit that was sent. For money. Default: JSON numbers. */
  readonly numbers?: "text";
}

export type GetOptions = Pick<ListOptions, "signal" | "notFound">;

export interface ConfluentApi {
  /** The items of a list, page by page. Pages may be empty. Fails rather than end early or go on for ever. */
  list(
    path: string,
    query: Readonly<Record<string, string>>,
    options: ListOptions,
  ): AsyncIterable<readonly unknown[]>;
  /** One JSON object. `{}` when it is not found and `notFound` is `empty`. */
  get(path: string, query: Readonly<Record<string, string>>, options: GetOptions): Promise<unknown>;
  close(): Promise<void>;
}

/** What the vendor's lists take at most; by default they give 10. */
const PAGE_SIZE = 100;

export function createConfluentApi(client: UpstreamClient, baseUrl: string): ConfluentApi {
  return {
    async *list(path, query, { signal, pageSize = PAGE_SIZE, notFound = "error", numbers }) {
      const asText = numbers === "text" ? quoteNumbers : (body: string) => body;
      const pages: Pages = { baseUrl, seen: new Set() };
      let token: string | undefined;
      do {
        const page = {
          ...query,
          page_size: String(pageSize),
          ...(token === undefined ? {} : { page_token: token }),
        };
        const envelope = await found(notFound, () =>
          client.request(
            {
              method: "GET",
              path,
              query: page,
              decode: (body) => {
                const { items, next } = readEnvelope(asText(body));
                return { items, token: nextPage(pages, next) };
              },
            },
            signal,
          ),
        );
        if (envelope === undefined) return;
        yield envelope.items;
        token = envelope.token;
        if (token !== undefined) pages.seen.add(token);
      } while (token !== undefined);
    },
    async get(path, query, { signal, notFound = "error" }) {
      const body = await found(notFound, () =>
        client.request({ method: "GET", path, query, decode: readObject }, signal),
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
