import { invalidRequest } from "../errors.js";

/**
 * Refuses a query whose percent-encoding is not UTF-8. A lenient decoder would change the text of a filter, and a
 * `not:` filter would then exclude nothing.
 */
export function refuseMalformedQuery(url: string): void {
  const at = url.indexOf("?");
  if (at < 0 || !url.includes("%", at)) return;
  const malformed = url
    .slice(at + 1)
    .split("&")
    .find((pair) => !isDecodable(pair));
  if (malformed === undefined) return;
  const [written = ""] = malformed.split("=");
  const name = isDecodable(written) ? decodeURIComponent(written).slice(0, 64) : "query";
  const detail = `\`${name}\` has an invalid percent-encoding: it must be that of text in UTF-8.`;
  throw invalidRequest([{ in: "query", name, detail, code: "invalid" }]);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
