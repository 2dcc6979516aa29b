/** Addresses of an upstream: its base, to which paths are appended, and the part of an address that may be shown. */

/** `https://host/prometheus` and `api/v1/query` give `https://host/prometheus/api/v1/query`: the prefix is kept. */
export function underBase(baseUrl: string, path: string, query: Readonly<Record<string, string>> = {}): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${path.replace(/^\/+/, "")}`;
  url.search = new URLSearchParams(query).toString();
  url.hash = "";
  return url;
}

/** Host and path: never user, password or query string. */
export function shownEndpoint(url: URL): string {
  return `${url.host}${url.pathname}`;
}
