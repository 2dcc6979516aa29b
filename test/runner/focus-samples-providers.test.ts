import { otherProviders, samplesTest } from "./focus-samples.js";

samplesTest("bills as Azure, Google and Oracle write them: in, out and in again", otherProviders);
