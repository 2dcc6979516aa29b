/**
 * `data-dir.test.ts` runs several of these at once. Each claims `race-N` of a folder as soon as `go-N` appears in it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { claimDataDir, DataDirInUseError } from "../../src/stores/data-dir.js";

const folder = process.argv[2] ?? "";
console.log("ready");
for (let round = 0; ; round++) {
  while (!existsSync(join(folder, `go-${round}`))) await turn();
  try {
    claimDataDir(join(folder, `race-${round}`));
    console.log("won");
  } catch (error) {
    console.log(error instanceof DataDirInUseError ? "refused" : String(error));
  }
}
