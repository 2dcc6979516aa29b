/** A process that takes an upload of usage and is killed during it. It prints what counts before and after. */
import { Readable } from "node:stream";
import { cleanUpUploads } from "../../src/ingest/usage-uploads/clean-up.js";
import { takeUpload } from "../../src/ingest/usage-uploads/take-upload.js";
import { openStores } from "../../src/stores/open-stores.js";
import { fixedTenant, testConfig, testLogger } from "../stores.js";
import { countingUploads } from "./counting-uploads.js";

export interface UploadingInput {
  readonly folder: string;
  readonly key: string;
  /** Values of each row, and number of rows. */
  readonly quantity: number;
  readonly rows: number;
  /** Does not end by itself, and does not clean up the remains of others. */
  readonly stays: boolean;
}

const { folder, key, quantity, rows, stays } = JSON.parse(process.argv.at(-1) ?? "{}") as UploadingInput;
const config = testConfig(`data_dir: ${folder}/data\ntenants:${fixedTenant("acme")}`, folder);
const stores = await openStores({ config, logger: testLogger });
const { client, tenantName } = await stores.tenant("acme");
const { postgres } = stores;
await postgres.query(
  "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'focus') ON CONFLICT DO NOTHING",
);
const store = { client, postgres, tenantName };
const say = (what: unknown) => process.stdout.write(`${JSON.stringify(what)}\n`);
say(await countingUploads(store));
const { signal } = new AbortController();
const text = [
  "date,metric,resource_id,identity_id,quantity",
  ...Array.from({ length: rows }, (_, row) => `2026-06-01,cpu,r-${row % 100},web,${quantity}`),
  "",
].join("\n");
async function* said() {
  yield Buffer.from(text);
  say("sent");
}
await takeUpload(
  store,
  { key, origin: "api", body: Readable.from(said(), { objectMode: false }), gatheredFrom: "2026-06-01" },
  { metrics: ["cpu"], maxBytes: 100_000_000 },
  { signal, beforeCommit: () => undefined },
);
say(await countingUploads(store));
if (stays) setInterval(() => undefined, 60_000);
else {
  await postgres.query("UPDATE usage_uploads SET started_at = started_at - interval '2 hours'");
  await cleanUpUploads(store, signal);
  say(await countingUploads(store));
  await stores.close();
}
