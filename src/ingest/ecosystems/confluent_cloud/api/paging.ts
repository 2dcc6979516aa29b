/**
 * Finds the next page of a list. Of the vendor's address, only the opaque `page_token` is used and sent to our own
 * address: there may be a gateway before the vendor, and the key must never be sent to a host that a response names.
 */
import { DecodeError } from "../../../../upstream/http/judge.js";

export interface ApiPages {
  readonly baseUrl: string;
  /** Tokens that were followed. */
  readonly tokens: ReadonlySet<string>;
}

/** The vendor documents 255. A longer token is a broken response. */
const LONGEST_TOKEN = 4096;

/**
 * Returns the token of the next page, or undefined at the end. Throws `DecodeError` if the list does not end, or if it
 * continues at an unrelated host, because the pages so far are not the whole list.
 */
export function nextPage({ baseUrl, tokens }: ApiPages, next: string | undefined): string | undefined {
  if (next === undefined || next === "") return undefined;
  const url = URL.canParse(next, baseUrl) ? new URL(next, baseUrl) : undefined;
  if (url === undefined)
    throw new DecodeError("bad_body", "the address of the next page cannot be read", true);
  if (url.host !== new URL(baseUrl).host && !isVendor(url)) {
    throw new DecodeError(
      "bad_body",
      `the next page is said to be at another host, ${url.host}, which is not asked`,
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

export interface ListLimits {
  readonly pages: number;
  readonly items: number;
  readonly emptyPagesInARow: number;
}

/** A million items at the vendor's page size. A million rows of a bill take some 0.65 GB. */
const listLimits: ListLimits = { pages: 10_000, items: 1_000_000, emptyPagesInARow: 100 };

export interface ApiPage {
  readonly digest: string;
  readonly isEmpty: boolean;
  /** Left out if the items were not read. */
  readonly items?: readonly unknown[];
}

/** Counts pages and items, so that a cursor that always names another page does not run forever. */
export interface Progress {
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
