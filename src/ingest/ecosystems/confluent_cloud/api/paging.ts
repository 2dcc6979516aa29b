/**
 * Where a list goes on. Of the address that the vendor names, only the opaque `page_token` is taken and sent to our own
 * address: a gateway may stand before the vendor, and the key must never travel to a host that an answer names.
 */
import { DecodeError } from "../../../upstream-http/judge.js";

export interface Pages {
  readonly baseUrl: string;
  /** Tokens that were followed. */
  readonly seen: ReadonlySet<string> & { add(token: string): unknown };
}

/** The vendor says 255; more than this is an answer gone wrong. */
const LONGEST_TOKEN = 4096;
/** A list of 10 million items at the usual size of a page. */
const MOST_PAGES = 100_000;

/**
 * Token of the next page, or undefined at the end. Throws `DecodeError` when the list does not end, or when it is said to
 * go on at a host that has nothing to do with it: what was read until then is not the whole list.
 */
export function nextPage({ baseUrl, seen }: Pages, next: string | undefined): string | undefined {
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
  if (seen.has(token)) {
    throw new DecodeError("bad_body", "the list does not end: the token of its next page repeats", false);
  }
  if (seen.size >= MOST_PAGES)
    throw new DecodeError("bad_body", `the list has more than ${MOST_PAGES} pages`, false);
  return token;
}

/** Behind a gateway, pages are still named by the vendor's own address. */
function isVendor({ hostname }: URL): boolean {
  return hostname === "confluent.cloud" || hostname.endsWith(".confluent.cloud");
}
