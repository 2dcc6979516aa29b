/** Parses addresses without credentials, so that they can be shown and logged. */
import type { Parsed } from "./setting.js";

/** Parses the base address of an HTTP service. Removes a trailing slash and keeps a path prefix. */
export function parseBaseUrl(text: string): Parsed {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    return { problem: "must be an address such as https://host:9090/prefix" };
  }
  if (url.username !== "" || url.password !== "") {
    return { problem: "must not contain credentials; they have keys of their own" };
  }
  if (url.search !== "" || url.hash !== "")
    return { problem: "must not contain a query (`?`) or a fragment (`#`)" };
  return { value: url.href.replace(/\/+$/, "") };
}

/** Parses an origin as browsers send it, such as `https://console.example.org`, or `*` for all. */
export function parseOrigin(text: string): Parsed {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  if (text.trim() === "*") return { value: "*" };
  const bare =
    url !== undefined && ["http:", "https:"].includes(url.protocol) && url.href === `${url.origin}/`;
  return bare
    ? { value: url.origin }
    : { problem: "must be an origin such as https://console.example.org, or *" };
}
