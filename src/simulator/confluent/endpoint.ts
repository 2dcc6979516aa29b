/** What an address of the vendor's APIs is made of: a path, and how it answers. */
import { ApiError } from "./api-error.js";
import type { Bill } from "./bill.js";
import { existsAt, type Lifetime } from "./lifetime.js";
import type { ConfluentOrganisation } from "./organisation.js";
import { listLimits, type Page, pageOf, pageRequest } from "./paging.js";

export interface World {
  readonly organisation: ConfluentOrganisation;
  readonly bill: Bill;
  /** Ids of things that have been deleted since the start. */
  readonly gone: ReadonlySet<string>;
}

/** A page of a list, or a body that is none. Throws `ApiError`. */
export type Endpoint = (
  url: URL,
  world: World,
  ids: Readonly<Record<string, string>>,
) => Page | { body: string };

export interface Route {
  readonly path: RegExp;
  readonly answer: Endpoint;
}

export const route = (pattern: string, answer: Endpoint): Route => ({
  path: new RegExp(`^${pattern.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
  answer,
});

/** A list whose items are all there is; `query` is what the first page was asked with. */
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

/** Throws `ApiError` when there is no such address. */
export function answerTo(routes: readonly Route[], url: URL, world: World): Page | { body: string } {
  for (const { path, answer } of routes) {
    const match = path.exec(url.pathname);
    if (match !== null) return answer(url, world, match.groups ?? {});
  }
  throw new ApiError(404, "not_found", "no such address");
}
