/** URLs of an upstream: its base URL, to which paths are appended, and the part of a URL that may be shown. */

/** Keeps the prefix: `https://host/prometheus` and `api/v1/query` become `https://host/prometheus/api/v1/query`. */
export function underBase(baseUrl: string, path: string, query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${path.replace(/^\/+/, "")}`;
  url.search = new URLSearchParams(query).toString();
  url.hash = "";
  return url;
}

/** Returns host and path, without user, password and query string. */
export function shownEndpoint(url: URL): string {
  return `${url.host}${url.pathname}`;
}
