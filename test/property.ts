/** fast-check, with one seed for the whole suite. */
import fc from "fast-check";
import type { Test } from "tap";
import { dayOf } from "../src/time/days.js";

/**
 * A run draws new examples each time; in CI those of the day (UTC), so that a commit that is tried again is tried with the same.
 * A failing property prints its seed; `FC_SEED` draws its examples again.
 */
const ofTheDay = dayOf(new Date()).replaceAll("-", "");
const given = process.env.FC_SEED ?? (process.env.CI === undefined ? undefined : ofTheDay);
if (given !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });

/**
 * The seed of a test that draws what it puts into a store once: the same for each change, so that a failure is the change's. The nightly job sets `FC_SEED`,
 * and draws others.
 */
export function seedOf(t: Test, usual: number): number {
  const seed = Number(process.env.FC_SEED ?? usual);
  t.comment(`FC_SEED=${seed}`);
  return seed;
}

export default fc;
