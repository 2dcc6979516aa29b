/** fast-check, with one seed for the whole suite. */
import fc from "fast-check";

/**
 * A run draws new examples each time, but not in CI, where a commit that did not change must not turn red. A failing property
 * prints its seed; `FC_SEED` draws the same examples again.
 */
const given = process.env.FC_SEED ?? (process.env.CI === undefined ? undefined : "20260630");
if (given !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });

export default fc;
