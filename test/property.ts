/** fast-check with one seed for the whole suite. */
import fc from "fast-check";
import type { Test } from "tap";
import { dayOf } from "../src/common/days.js";

/**
 * Each run draws new examples. In CI they depend on the day (UTC), so that a repeated build of a commit uses the same
 * ones. A failing property prints its seed; `FC_SEED` draws its examples again.
 */
const ofTheDay = dayOf(new Date()).replaceAll("-", "");
const given = process.env.FC_SEED ?? (process.env.CI === undefined ? undefined : ofTheDay);
if (given !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });

/**
 * The seed of a test that draws its stored data once. It is the same for each change, so that a failure is caused by
 * the change. The nightly job sets `FC_SEED` and draws other data.
 */
export function seedOf(t: Test, usual: number): number {
  const seed = Number(process.env.FC_SEED ?? usual);
  t.comment(`FC_SEED=${seed}`);
  return seed;
}

export default fc;
