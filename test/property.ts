/** fast-check, with one seed for the whole suite. */
import fc from "fast-check";

/**
 * A run draws new examples each time; in CI those of the day (UTC), so that a commit that is tried again is tried with the same.
 * A failing property prints its seed; `FC_SEED` draws its examples again.
 */
const ofTheDay = new Date().toISOString().slice(0, 10).replaceAll("-", "");
const given = process.env.FC_SEED ?? (process.env.CI === undefined ? undefined : ofTheDay);
if (given !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });

export default fc;
