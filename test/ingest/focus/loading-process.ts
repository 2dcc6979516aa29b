/**
 * A process that loads a bill and is killed during the load. It prints what counts before it starts, when the last byte
 * of the bill is sent, and what counts and is stored at the end.
 */
import { Readable } from "node:stream";
import { createClient } from "@clickhouse/client";
import { claimStaging } from "../../../src/clickhouse/staging.js";
import { loadDeliveries } from "../../../src/ingest/ecosystems/focus/deliveries/load-deliveries.js";
import { openStores } from "../../../src/stores/open-stores.js";
import { dieAt } from "../../runner/die-at.js";
import type { StatementPoint } from "../../runner/kill-points.js";
import { fixedTenant, testConfig, testLogger } from "../../stores.js";
import { csv, deliveryOf, fileOf, loadSettings, testBillSource } from "./bills.js";

export interface LoadingInput {
  readonly folder: string;
  readonly epoch: number;
  /** Cost of each line, and number of lines. */
  readonly amount: string;
  readonly lines: number;
  /** Does not end by itself. */
  readonly stays: boolean;
  /** First day that is kept, and the point where the process is killed. */
  readonly keepFrom?: string;
  readonly point?: StatementPoint;
}

const input = JSON.parse(process.argv.at(-1) ?? "{}") as LoadingInput;
const { folder, epoch, amount, lines, stays, keepFrom = loadSettings.keepFrom, point } = input;
const config = testConfig(`data_dir: ${folder}/data\ntenants:${fixedTenant("acme")}`, folder);
const stores = await openStores({ config, logger: testLogger });
const { client, tenantName } = await stores.tenant("acme");
const { postgres } = stores;
await postgres.query(
  "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'focus') ON CONFLICT DO NOTHING",
);
await postgres.query(
  "INSERT INTO leases (tenant_name, holder, epoch, expires_at) VALUES ('acme', 'test', $1, now()) ON CONFLICT (tenant_name) DO UPDATE SET epoch = $1",
  [epoch],
);
await claimStaging(client, epoch);
/** Returns what is stored of these deliveries, or of all. */
const held = async (deliveries?: readonly number[]) =>
  (
    await client.query({
      query: `
        SELECT toUInt32(count()) AS lines, toString(ifNull(sum(EffectiveCost), 0)) AS cost, toUInt32(uniqExact(delivery)) AS deliveries
        FROM focus_lines ${deliveries === undefined ? "" : "WHERE has({deliveries:Array(UInt64)}, delivery)"}`,
      query_params: { deliveries: deliveries ?? [] },
      format: "JSONEachRow",
    })
  ).json();
const counted = async () => {
  const { rows } = await postgres.query("SELECT delivery_id::int FROM deliveries WHERE state = 'current'");
  return held(rows.map((row) => row.delivery_id));
};
const say = (what: object) => process.stdout.write(`${JSON.stringify(what)}\n`);

say({ before: await counted() });
const text = csv(Array(lines).fill({ EffectiveCost: amount, BilledCost: amount }));
async function* said() {
  yield Buffer.from(text);
  say({ sent: true });
}
const file = { ...fileOf("bill.csv", text), open: async () => Readable.from(said(), { objectMode: false }) };
const store = { client, postgres, backupLock: stores.backupLock, tenantName, epoch };
if (point !== undefined) dieAt(point, Object.getPrototypeOf(createClient()));
const signal = new AbortController().signal;
await loadDeliveries(store, [testBillSource(deliveryOf([file]))], { ...loadSettings, keepFrom }, signal);
say({ counted: await counted(), held: await held() });
if (stays) setInterval(() => undefined, 60_000);
else await stores.close();
