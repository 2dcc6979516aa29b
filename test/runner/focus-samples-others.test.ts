import { others, samplesTest } from "./focus-samples.js";

samplesTest("bills of other makers: in, out and in again", others);
