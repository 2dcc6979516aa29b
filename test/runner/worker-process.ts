/** Runs one tenant again and again until it is killed, its input different each time. Says when each run begins and ends. */

import { expireLeases } from "../../src/runner/sql/leases.js";
import { openStores } from "../../src/store/open-stores.js";
import { testConfig, testLogger } from "../stores.js";
import { changingUpstream } from "./changing-upstream.js";
import { runContext, runOnce } from "./runs.js";
import { withTopics } from "./topic-upstream.js";

const { yaml, folder, version } = JSON.parse(process.argv[2] ?? "{}");
const config = withTopics(testConfig(yaml, folder));
const stores = await openStores({ config, logger: testLogger });
await stores.postgres.query(expireLeases());
await stores.tenant("acme");
for (let run = Number(version); ; run += 1) {
  const context = runContext(stores, { ecosystems: changingUpstream(run) });
  console.log(`run ${run}`);
  const result = await runOnce(context, config, "acme");
  if (result.status !== "completed") console.log(`failed: ${JSON.stringify(result.errors)}`);
}
