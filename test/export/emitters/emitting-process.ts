/**
 * A worker with a FOCUS emitter. It runs its tenant once, with a bill of one line, and prints the errors at the end.
 */
import type { FocusEmitter } from "../../../src/config/settings/emitters.js";
import { runStatement } from "../../../src/postgres/statement.js";
import { expireLeases } from "../../../src/runner/sql/leases.js";
import { openStores } from "../../../src/stores/open-stores.js";
import { daysBefore, runContext, runOnce } from "../../runner/runs.js";
import { scriptedUpstream } from "../../runner/scripted-upstream.js";
import { testConfig, testLogger } from "../../stores.js";
import { withEmitters } from "./emitting.js";

export interface EmittingInput {
  readonly yaml: string;
  readonly folder: string;
  readonly emitter: FocusEmitter;
  readonly cost: string;
}

const { yaml, folder, emitter, cost }: EmittingInput = JSON.parse(process.argv[2] ?? "{}");
const config = withEmitters(testConfig(yaml, folder), "acme", [emitter]);
const stores = await openStores({ config, logger: testLogger });
await runStatement(stores.postgres, expireLeases());
const { upstream, ecosystems } = scriptedUpstream();
upstream.bill.set(daysBefore(6), { "r-1": cost });
const { errors } = await runOnce(runContext(stores, { ecosystems }), config, "acme");
console.log(JSON.stringify(errors));
await stores.close();
