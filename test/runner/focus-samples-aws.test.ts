import { aws, samplesTest } from "./focus-samples.js";

samplesTest("bills as AWS writes them: in, out and in again", aws);
