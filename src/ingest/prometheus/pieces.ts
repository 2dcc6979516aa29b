/**
 * One question to Prometheus in as few pieces as it takes: a piece whose answer is too large is asked again in halves of its time, down
 * to a single point; one that fails for another reason is divided, by time and by resource, until what fails stands alone: one day
 * of one resource. What does not fail is had all the same.
 *
 * To divide costs requests, so each step divides the way that told failing and good apart the last time, and the other way only when
 * that tells nothing. A question that has failed so often in a row that one broken day or resource cannot be why fails as a whole,
 * and after it no other is divided until an answer comes: an upstream that is down costs a few requests more, not thousands.
 */
import { isHopeless, UpstreamError } from "../../upstream-http/upstream-error.js";
import type { Series } from "./answer.js";
import { countOf, daysOf, halvesOf, type PointRange } from "./points.js";

export interface Part {
  readonly range: PointRange;
  /** Undefined where the question is not about single resources. */
  readonly resources: readonly string[] | undefined;
}

export type AnsweredPart =
  | (Part & { readonly kind: "samples"; readonly series: readonly Series[] })
  | (Part & { readonly kind: "failed"; readonly reason: string });

export interface Asking {
  /** Throws `UpstreamError`. */
  ask(part: Part, attempts: number | undefined): Promise<readonly Series[]>;
  /** Told when the answer about so many points was too large. */
  tooLarge(points: number): void;
  readonly patience: Patience;
}

/** What the questions of one run know of each other. */
export interface Patience {
  /** A question failed as a whole, and nothing was answered since. */
  exhausted: boolean;
}

/** More halvings than lead from a month of a hundred resources to one day of one. */
const MOST_IN_A_ROW = 16;
/** A piece of a piece that has failed was tried in full before. */
const ATTEMPTS_ON_PIECES = 2;

type Way = "time" | "resource";

/** Throws `UpstreamError` when the question as a whole is hopeless. */
export async function* piecesOf(asking: Asking, whole: Part): AsyncGenerator<AnsweredPart> {
  const { patience } = asking;
  let failuresInARow = 0;
  let preferred: Way = "time";

  /** Gives the pieces of a good answer; returns why there is none. */
  async function* attempt(part: Part, attempts?: number): AsyncGenerator<AnsweredPart, string | undefined> {
    try {
      const series = await asking.ask(part, attempts);
      failuresInARow = 0;
      patience.exhausted = false;
      yield { ...part, kind: "samples", series };
      return undefined;
    } catch (error) {
      if (!(error instanceof UpstreamError) || isHopeless(error)) throw error;
      const halves = error.code === "too_large" ? divided(part, "time", 1) : undefined;
      if (halves === undefined) {
        failuresInARow += 1;
        return error.message;
      }
      asking.tooLarge(Math.max(1, Math.floor(countOf(part.range) / 2)));
      for (const half of halves) {
        const failure = yield* attempt(half, attempts);
        if (failure !== undefined) yield* isolate(half, failure);
      }
      return undefined;
    }
  }

  /** A part that has failed: what of it can be had, and what cannot. */
  async function* isolate(part: Part, reason: string): AsyncGenerator<AnsweredPart> {
    const ways: readonly Way[] = preferred === "time" ? ["time", "resource"] : ["resource", "time"];
    let last: readonly Part[] | undefined;
    for (const way of ways) {
      const halves = divided(part, way);
      if (halves === undefined || isOver()) continue;
      const failed: { readonly half: Part; readonly failure: string }[] = [];
      for (const half of halves) {
        const failure = yield* attempt(half, ATTEMPTS_ON_PIECES);
        if (failure !== undefined) failed.push({ half, failure });
      }
      if (failed.length < halves.length) {
        preferred = way;
        for (const { half, failure } of failed) yield* isolate(half, failure);
        return;
      }
      last = halves;
    }
    if (last === undefined || isOver()) yield { ...part, kind: "failed", reason };
    else for (const half of last) yield* isolate(half, reason);
  }

  const isOver = () => {
    if (failuresInARow >= MOST_IN_A_ROW) patience.exhausted = true;
    return patience.exhausted;
  };

  const failure = yield* attempt(whole);
  if (failure !== undefined) yield* isolate(whole, failure);
}

/** Halves of a part; by time none shorter than a day, unless it may be. Undefined for one that is as small as can be. */
function divided({ range, resources }: Part, way: Way, leastDays = 2): readonly Part[] | undefined {
  if (way === "time") {
    if (daysOf(range).length < leastDays) return undefined;
    return halvesOf(range)?.map((half) => ({ range: half, resources }));
  }
  if (resources === undefined || resources.length < 2) return undefined;
  const middle = Math.ceil(resources.length / 2);
  return [resources.slice(0, middle), resources.slice(middle)].map((half) => ({ range, resources: half }));
}
