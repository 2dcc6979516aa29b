/** Routes of the vendor's APIs: a path and its handler. */
import { ApiError } from "./api-error.js";
import type { Bill } from "./bill.js";
import { existsAt, type Lifetime } from "./lifetime.js";
import type { ConfluentOrganisation } from "./organisation.js";
import { listLimits, type Page, pageOf, pageRequest } from "./paging.js";

export interface World {
  readonly organisation: ConfluentOrganisation;
  readonly bill: Bill;
  /** Ids of objects that were deleted after the start. */
  readonly gone: ReadonlySet<string>;
}

/** Returns a page of a list, or another body. Throws `ApiError`. */
export type Endpoint = (
  url: URL,
  world: World,
  ids: Readonly<Record<string, string>>,
) => Page | { body: string };

export interface Route {
  readonly path: RegExp;
  readonly handle: Endpoint;
}

export const route = (pattern: string, handle: Endpoint): Route => ({
  path: new RegExp(`^${pattern.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
  handle,
});

/** An endpoint that serves `items` in pages. `query` has the parameters of the request for the first page. */
export function list(
  apiVersion: string,
  kind: string,
  items: (world: World, query: URLSearchParams, ids: Readonly<Record<string, string>>) => readonly unknown[],
): Endpoint {
  return (url, world, ids) => {
    const request = pageRequest(url, listLimits);
    return pageOf(request, items(world, request.query, ids), apiVersion, kind);
  };
}

export function present<T extends Lifetime & { readonly id: string }>(world: World, all: readonly T[]): T[] {
  const now = world.organisation.now();
  return all.filter((each) => existsAt(each, now) && !world.gone.has(each.id));
}

export function environmentOf({ organisation }: World, query: URLSearchParams): string {
  const id = query.get("environment");
  if (id === null || id === "")
    throw new ApiError(400, "missing_parameter", "environment is required", "environment");
  if (!organisation.environments.some((environment) => environment.id === id)) {
    throw new ApiError(404, "resource_not_found", "the environment does not exist", "environment");
  }
  return id;
}

/** Handles a request. Throws `ApiError` if no route matches. */
export function handleRequest(routes: readonly Route[], url: URL, world: World): Page | { body: string } {
  for (const { path, handle } of routes) {
    const match = path.exec(url.pathname);
    if (match !== null) return handle(url, world, match.groups ?? {});
  }
  throw new ApiError(404, "not_found", "no such address");
}
