/**
 * One of several workers on shared stores. It reports what it does line by line, and stops or dies within its first run
 * if its input says so.
 */
import { writeSync } from "node:fs";
import { createWorker } from "../../src/cli/worker.js";
import { openStores } from "../../src/stores/open-stores.js";
import { testConfig, testLogger } from "../stores.js";

export interface OneOfMany {
  readonly yaml: string;
  readonly folder: string;
  /** The signal that it sends to itself after its first run has gathered. */
  readonly signal?: "SIGSTOP" | "SIGKILL" | undefined;
}

const { yaml, folder, signal }: OneOfMany = JSON.parse(process.argv[2] ?? "{}");
const say = (text: string) => void writeSync(1, `${text}\n`);
const config = testConfig(yaml, folder);
const stores = await openStores({ config, logger: testLogger });
const abort = new AbortController();
process.on("SIGTERM", () => abort.abort());
let gathered = 0;
const worker = await createWorker({
  config,
  stores,
  logger: testLogger,
  observers: [
    {
      began: (tenant) => say(`begins ${tenant}`),
      gathered(tenant) {
        gathered += 1;
        if (gathered > 1 || signal === undefined) return;
        say(`${signal} ${tenant}`);
        process.kill(process.pid, signal);
      },
      published: (tenant) => say(`publishes ${tenant}`),
      finished: (tenant, { status }) => say(`${status} ${tenant}`),
    },
  ],
  signal: abort.signal,
});
await worker.repeat();
await stores.close();
