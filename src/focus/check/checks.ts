import type { Check } from "./check.js";
import { columnChecks } from "./column-checks.js";
import { groupChecks } from "./group-checks.js";
import { jsonChecks } from "./json-checks.js";
import { rowChecks } from "./row-checks.js";
import { splitChecks } from "./split-checks.js";
import { valueChecks } from "./value-checks.js";

/** All checks, in the order of the report and of the reference page. */
export const checks: readonly Check[] = [
  ...columnChecks,
  ...valueChecks,
  ...rowChecks,
  ...groupChecks,
  ...jsonChecks,
  ...splitChecks,
];
