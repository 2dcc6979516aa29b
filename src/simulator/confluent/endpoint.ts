/** Routes of the vendor's APIs: a path and its handler. */
import { SimulatedApiError } from "./api-error.js";
import type { SimulatedBill } from "./bill.js";
import { existsAt, type SimulatedLifetime } from "./lifetime.js";
import type { ConfluentOrganisation } from "./organisation.js";
import { listLimits, pageRequest, type SimulatedPage, simulatedPage } from "./paging.js";

export interface World {
  readonly organisation: ConfluentOrganisation;
  readonly bill: SimulatedBill;
  /** Ids of objects that were deleted after the start. */
  readonly gone: ReadonlySet<string>;
}

/** Returns a page of a list, or another body. Throws `SimulatedApiError`. */
export type SimulatedEndpoint = (
  url: URL,
  world: World,
  ids: Readonly<Record<string, string>>,
) => SimulatedPage | { body: string };

export interface Route {
  readonly path: RegExp;
  readonly handle: SimulatedEndpoint;
}

export const route = (pattern: string, handle: SimulatedEndpoint): Route => ({
  path: new RegExp(`^${pattern.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
  handle,
});

/** An endpoint that serves `items` in pages. `query` has the parameters of the request for the first page. */
export function listEndpoint(
  apiVersion: string,
  kind: string,
  items: (world: World, query: URLSearchParams, ids: Readonly<Record<string, string>>) => readonly unknown[],
): SimulatedEndpoint {
  return (url, world, ids) => {
    const request = pageRequest(url, listLimits);
    return simulatedPage(request, items(world, request.query, ids), apiVersion, kind);
  };
}

export function present<T extends SimulatedLifetime & { readonly id: string }>(
  world: World,
  all: readonly T[],
): T[] {
  const now = world.organisation.now();
  return all.filter((each) => existsAt(each, now) && !world.gone.has(each.id));
}

export function environmentOf({ organisation }: World, query: URLSearchParams): string {
  const id = query.get("environment");
  if (id === null || id === "")
    throw new SimulatedApiError(400, "missing_parameter", "environment is required", "environment");
  if (!organisation.environments.some((environment) => environment.id === id)) {
    throw new SimulatedApiError(404, "resource_not_found", "the environment does not exist", "environment");
  }
  return id;
}

/** Handles a request. Throws `SimulatedApiError` if no route matches. */
export function handleRequest(
  routes: readonly Route[],
  url: URL,
  world: World,
): SimulatedPage | { body: string } {
  for (const { path, handle } of routes) {
    const match = path.exec(url.pathname);
    if (match !== null) return handle(url, world, match.groups ?? {});
  }
  throw new SimulatedApiError(404, "not_found", "no such address");
}
