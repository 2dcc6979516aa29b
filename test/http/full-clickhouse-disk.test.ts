/**
 * The disk of ClickHouse is full, and that of Postgres is not. Exports without tags still work. Tags are stored in
 * Postgres and copied later.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { openStores } from "../../src/stores/open-stores.js";
import { shortTenants } from "../runner/runs.js";
import { mounts, smallDisk } from "../small-disk.js";
import { temporaryFolder, testConfig, testLogger } from "../stores.js";
import {
  dimensionIds,
  mirrored,
  recordTestDimensions,
  sendTagRequest,
  tag,
  writtenTags,
} from "../tags/tagging.js";
import { until } from "../until.js";
import { insertChargebacks, NOW } from "./service.js";
import { startApi } from "./start-api.js";

t.test("exports and tags survive a full disk of ClickHouse", mounts, async (t) => {
  const folder = temporaryFolder(t);
  const data = join(folder, "data");
  mkdirSync(data, { mode: 0o700 });
  const disk = smallDisk(t, join(data, "clickhouse"), 200);
  const config = testConfig(`data_dir: ${data}\n${shortTenants(["acme"])}`, folder);
  const stores = await openStores({ config, logger: testLogger });
  t.teardown(() => stores.close());
  const app = await startApi(t, { config, stores, now: NOW, mode: "both" });
  const timestamp = "2026-03-01T00:00:00Z";
  const identities = Array.from({ length: 3_000 }, (_, i) => `sa-${i}`);
  await insertChargebacks(
    stores,
    "acme",
    identities.map((identity_id) => ({ timestamp, amount: "1", identity_id })),
  );
  await recordTestDimensions(stores, "acme");
  const period = { start_date: "2026-03-01", end_date: "2026-03-01" };
  const exported = async (accept: string, columns?: readonly string[]) => {
    const response = await app.inject({
      method: "POST",
      url: "/api/v1/tenants/acme/export",
      headers: { accept },
      payload: { ...period, ...(columns && { columns }) },
    });
    return response.statusCode === 200 ? response.rawPayload.toString("base64") : String(response.statusCode);
  };
  const formats = ["text/csv", "application/vnd.apache.parquet", "application/vnd.apache.arrow.stream"];
  const whole = new Map<string, string>();
  for (const format of formats) whole.set(format, await exported(format));
  const [first = 0] = await dimensionIds(stores, "acme", "sa-1");

  disk.fill();
  for (const format of formats)
    t.equal(await exported(format), whole.get(format), `${format} needs no disk space, and is complete`);
  const made = await sendTagRequest(app, "POST", `acme/chargebacks/${first}/tags`, tag("team", "web"));
  t.equal(made.status, 201, "Postgres has space");
  t.strictSame(await writtenTags(stores, "acme"), [`${first} team=web`]);
  t.equal(
    await exported("text/csv", ["identity_id", "tags"]),
    "503",
    "an export with tags is refused until all stored tags are copied",
  );
  disk.empty();

  await until("tags are copied", async () => (await exported("text/csv", ["identity_id", "tags"])) !== "503");
  const tagged = Buffer.from(await exported("text/csv", ["identity_id", "tags"]), "base64").toString();
  t.strictSame(
    tagged.split("\n").filter((line) => line.includes("web")),
    ["sa-1,web"],
  );
  t.strictSame(await mirrored(stores, "acme"), await writtenTags(stores, "acme"));
});
