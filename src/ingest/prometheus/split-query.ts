/**
 * Splits a query that fails, so that one broken day or resource does not affect the others. A response that is too
 * large is requested again in halves of its time, down to a single point. For any other failure the query is divided,
 * by time and by resource, until the failure is isolated: one day of one resource.
 *
 * An upstream that is down must not cost thousands of requests. So before a part is divided, single cells of it (one
 * day of one resource) are tried, spread over its days and its resources. If none of them succeeds, the whole part has
 * failed. If one does, the part is divided: a failure of one resource, or of one metric, is no evidence against any
 * other.
 */
import { isHopeless, UpstreamError } from "../../upstream/http/upstream-error.js";
import { countOf, daysOf, halvesOf, type PointRange, rangeOfDay } from "./points.js";
import type { PrometheusSeries } from "./response.js";

export interface Part {
  readonly range: PointRange;
  /** Undefined if the query is not about single resources. */
  readonly resources: readonly string[] | undefined;
}

export type PartResult =
  | (Part & { readonly kind: "samples"; readonly series: readonly PrometheusSeries[] })
  | (Part & { readonly kind: "failed"; readonly reason: string });

export interface PartRequests {
  /** Throws `UpstreamError`. */
  request(part: Part, attempts: number | undefined): Promise<readonly PrometheusSeries[]>;
  /** Like `ask`, but the samples are not used: it only matters whether there is a response. */
  probe(part: Part, attempts: number): Promise<void>;
  /** Called if the response about this many points was too large. */
  tooLarge(points: number): void;
  readonly patience: Patience;
}

/**
 * State that the queries of one run share: the number of cells of a failing query that are tried before it is given up.
 */
export interface Patience {
  cells: number;
}

/** Every day of a month, or every resource of a small organisation, is tried. */
const MOST_CELLS = 32;
/** Four distinct resources and days, so that up to three broken ones are not mistaken for an outage. */
const LEAST_CELLS = 4;
/** Each piece was already tried as part of a larger one. */
const ATTEMPTS_ON_PIECES = 2;

export const newPatience = (): Patience => ({ cells: MOST_CELLS });

type Way = "time" | "resource";

/** Throws `UpstreamError` if the query as a whole is hopeless. */
export async function* piecesOf(requests: PartRequests, whole: Part): AsyncGenerator<PartResult> {
  const { patience } = requests;
  let preferred: Way = "time";

  /** Yields the pieces of a good response. Returns the reason if there is none. */
  async function* attempt(part: Part, attempts?: number): AsyncGenerator<PartResult, string | undefined> {
    try {
      const series = await requests.request(part, attempts);
      patience.cells = MOST_CELLS;
      yield { ...part, kind: "samples", series };
      return undefined;
    } catch (error) {
      if (!(error instanceof UpstreamError) || isHopeless(error)) throw error;
      const halves = error.code === "too_large" ? divided(part, "time", 1) : undefined;
      if (halves === undefined) return error.message;
      requests.tooLarge(Math.max(1, Math.floor(countOf(part.range) / 2)));
      for (const half of halves) {
        const failure = yield* attempt(half, attempts);
        if (failure !== undefined) yield* isolate(half, failure);
      }
      return undefined;
    }
  }

  /**
   * Returns true if one cell of the part succeeds. For a part that is hardly larger than a cell, every half is
   * requested anyway.
   */
  async function anySucceeds(part: Part, cells: number): Promise<boolean> {
    if (cellCount(part) <= LEAST_CELLS) return true;
    for (const cell of spreadCells(part, cells)) {
      try {
        await requests.probe(cell, ATTEMPTS_ON_PIECES);
        patience.cells = MOST_CELLS;
        return true;
      } catch (error) {
        if (!(error instanceof UpstreamError) || isHopeless(error)) throw error;
        if (error.code === "too_large") return true;
      }
    }
    return false;
  }

  /** Yields the pieces of a failed part that succeed, and those that fail. */
  async function* isolate(part: Part, reason: string): AsyncGenerator<PartResult> {
    const ways: readonly Way[] = preferred === "time" ? ["time", "resource"] : ["resource", "time"];
    const possible = ways.flatMap((way) => {
      const halves = divided(part, way);
      return halves === undefined ? [] : [{ way, halves }];
    });
    const last = possible.at(-1);
    const isDown =
      last !== undefined && !(await anySucceeds(part, part === whole ? patience.cells : MOST_CELLS));
    if (isDown && part === whole) patience.cells = Math.max(LEAST_CELLS, Math.floor(patience.cells / 2));
    if (last === undefined || isDown) {
      yield { ...part, kind: "failed", reason };
      return;
    }
    for (const { way, halves } of possible) {
      const failed: { readonly half: Part; readonly failure: string }[] = [];
      for (const half of halves) {
        const failure = yield* attempt(half, ATTEMPTS_ON_PIECES);
        if (failure !== undefined) failed.push({ half, failure });
      }
      if (failed.length === halves.length) continue;
      preferred = way;
      for (const { half, failure } of failed) yield* isolate(half, failure);
      return;
    }
    for (const half of last.halves) yield* isolate(half, reason);
  }

  const failure = yield* attempt(whole);
  if (failure !== undefined) yield* isolate(whole, failure);
}

/** Halves of a part; by time none shorter than a day, unless `leastDays` says so. Undefined if it cannot be divided. */
function divided({ range, resources }: Part, way: Way, leastDays = 2): readonly Part[] | undefined {
  if (way === "time") {
    if (daysOf(range).length < leastDays) return undefined;
    return halvesOf(range)?.map((half) => ({ range: half, resources }));
  }
  if (resources === undefined || resources.length < 2) return undefined;
  const middle = Math.ceil(resources.length / 2);
  return [resources.slice(0, middle), resources.slice(middle)].map((half) => ({ range, resources: half }));
}

function cellCount({ range, resources }: Part): number {
  return daysOf(range).length * (resources?.length ?? 1);
}

/**
 * Yields at most this many cells of a part, no two of them with the same day or resource if there are enough of both.
 */
function* spreadCells({ range, resources }: Part, most: number): Generator<Part> {
  const days = daysOf(range);
  const longer = Math.max(days.length, resources?.length ?? 1);
  const count = Math.min(most, longer);
  const spread = (index: number, length: number) =>
    length >= count ? Math.floor((index * length) / count) : index % length;
  for (let index = 0; index < count; index += 1) {
    const day = days[spread(index, days.length)];
    const resource = resources?.[spread(index, resources.length)];
    if (day === undefined) return;
    yield { range: rangeOfDay(range, day), resources: resource === undefined ? undefined : [resource] };
  }
}
