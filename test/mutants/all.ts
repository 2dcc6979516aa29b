import { allocateMutants } from "./allocate.js";
import { billMutants } from "./bill.js";
import { edgeMutants } from "./edges.js";
import { guardMutants } from "./guard.js";
import { ingestMutants } from "./ingest.js";
import type { Mutant } from "./mutant.js";
import { publishMutants } from "./publish.js";
import { readMutants } from "./read.js";

export const mutants: readonly Mutant[] = [
  ...allocateMutants,
  ...publishMutants,
  ...readMutants,
  ...ingestMutants,
  ...billMutants,
  ...guardMutants,
  ...edgeMutants,
];
