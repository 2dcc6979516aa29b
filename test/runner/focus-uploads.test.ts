/** FOCUS lines that are split by uploaded usage, by request and in a folder, through whole runs. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import t from "tap";
import { takeUpload } from "../../src/ingest/usage-uploads/take-upload.js";
import { readUsageUploads } from "../../src/query/state/usage-uploads.js";
import { csv } from "../ingest/focus/bills.js";
import { openTestStores, temporaryFolder, testConfig } from "../stores.js";
import { chargedOn, daysBefore, reconciled, runContext, runOnce, runRows } from "./runs.js";

const tenant = (folder: string, metrics = "[gpu_hours]") => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    lookback_days: 8
    cutoff_days: 1
    storage: { connection_string: "embedded:acme" }
    allocation:
      rules:
        - name: gpus
          where: { resource_id: gpu-* }
          split: [{ by: usage, metric: gpu_hours }, { by: even, among: [nobody-measured] }]
    plugin_settings:
      usage: { uploads: { metrics: ${metrics}, folder: ${join(folder, "usage")}, settle_seconds: 0 } }
      sources:
        - name: cloud
          location: ${join(folder, "bills")}
          limits: { settle_seconds: 0 }`;

const [first, second] = ["2026-06-24", "2026-06-25"];
const line = (day: number, cost: string, resource = "gpu-1") => ({
  ChargePeriodStart: `2026-06-${day}T00:00:00Z`,
  ChargePeriodEnd: `2026-06-${day + 1}T00:00:00Z`,
  EffectiveCost: cost,
  ResourceId: resource,
});
const HEADER = "date,metric,resource_id,identity_id,quantity";
const used = (...rows: readonly string[]) => `${[HEADER, ...rows].join("\n")}\n`;

t.test("lines are split by uploaded usage", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "bills", "2026-06"), { recursive: true });
  mkdirSync(join(folder, "usage"));
  writeFileSync(
    join(folder, "bills", "2026-06", "bill.csv"),
    csv([line(24, "8"), line(25, "6"), line(25, "2", "gpu-2")]),
  );
  const { config, stores, folder: home } = await openTestStores(t, tenant(folder));
  const run = async (changed = config) => await runOnce(runContext(stores), changed, "acme");
  const store = async () => {
    const { client, tenantName } = await stores.tenant("acme");
    return { client, tenantName, postgres: stores.postgres };
  };
  const upload = async (key: string, text: string) => {
    const body = Readable.from([Buffer.from(text)], { objectMode: false });
    const stop = { signal: new AbortController().signal, beforeCommit: () => undefined };
    const given = { key, origin: "api" as const, body, gatheredFrom: daysBefore(8) };
    return await takeUpload(await store(), given, { metrics: ["gpu_hours"], maxBytes: 1000 }, stop);
  };
  const file = (name: string, text: string, seconds: number) => {
    const path = join(folder, "usage", name);
    writeFileSync(path, text);
    utimesSync(path, 1_780_000_000 + seconds, 1_780_000_000 + seconds);
  };
  const charged = async () => [
    await chargedOn(stores, "acme", first),
    await chargedOn(stores, "acme", second),
  ];
  const partitions = async () =>
    (await runRows(stores, "acme", "SELECT DISTINCT upload_id FROM usage_uploads")).length;

  const before = await run();
  t.strictSame([before.status, before.errors], ["completed", []]);
  const unmeasured = (cost: string) => `nobody-measured: ${cost} no_metrics_located`;
  t.strictSame(await charged(), [[unmeasured("8")], [unmeasured("6"), unmeasured("2")]]);

  await upload(
    "a",
    used(`${first},gpu_hours,gpu-1,web,3`, `${first},gpu_hours,gpu-1,data,1`, `${first},gpu_hours,gpu-9,x,5`),
  );
  const after = await run();
  t.strictSame(
    [after.status, after.dates_calculated],
    ["completed", 1],
    "only the day of the upload is calculated",
  );
  t.strictSame((await charged())[0], ["data: 2", "web: 6"]);
  t.strictSame((await run()).dates_calculated, 0);

  await t.test("an upload replaces its days and metrics as a whole, and no others", async (t) => {
    await upload("b", used(`${second},gpu_hours,gpu-1,ml,1`));
    await upload("c", used(`${first},gpu_hours,gpu-1,ops,7`));
    await run();
    t.strictSame(await charged(), [["ops: 8"], ["ml: 6", unmeasured("2")]]);
    t.strictSame((await reconciled(stores, "acme")).off, []);
    await run();
    t.equal(await partitions(), 2, "the replaced upload is dropped");
    await t.rejects(upload("c", used(`${first},gpu_hours,gpu-1,ops,8`)), { name: "KeyReusedError" });
  });

  await t.test("files of the upload folder are loaded once, in the order of their changes", async (t) => {
    file("z.csv", used(`${first},gpu_hours,gpu-1,old,1`), 1);
    file("a.csv", used(`${first},gpu_hours,gpu-1,new,1`), 2);
    const taken = await run();
    t.strictSame([taken.status, taken.errors], ["completed", []]);
    t.strictSame((await charged())[0], ["new: 8"]);
    await upload("d", used(`${first},gpu_hours,gpu-1,newer,1`));
    t.strictSame((await run()).dates_calculated, 1);
    t.strictSame((await charged())[0], ["newer: 8"], "a file that is still there is not loaded again");
    file("z.csv", used(`${first},gpu_hours,gpu-1,changed,1`), 3);
    await run();
    t.strictSame((await charged())[0], ["changed: 8"]);
    await upload("e", used(`${first},gpu_hours,gpu-1,newest,1`));
    rmSync(join(folder, "usage", "z.csv"));
    file("z.csv", used(`${first},gpu_hours,gpu-1,changed,1`), 4);
    await run();
    t.strictSame((await charged())[0], ["newest: 8"], "nor is a copy of it with the same bytes");
    const versions = "SELECT count(*)::int AS n FROM usage_uploads WHERE idempotency_key LIKE 'z.csv@%'";
    t.strictSame((await stores.postgres.query(versions)).rows, [{ n: 3 }], "which is known from then on");
    file("z.csv", used(`${first},gpu_hours,gpu-1,old,1`), 5);
    await run();
    t.strictSame((await charged())[0], ["old: 8"], "other bytes than the last time are");
  });

  await t.test(
    "a file that is still changing waits, and a date in the future does not delay a file",
    async (t) => {
      const settling = testConfig(
        tenant(folder).replace(/(folder: \S+usage), settle_seconds: 0/, "$1, settle_seconds: 3600"),
        home,
      );
      file(
        "future.csv",
        used(`${first},gpu_hours,gpu-1,later,1`),
        Date.now() / 1000 - 1_780_000_000 + 86_400,
      );
      file("now.csv", used(`${first},gpu_hours,gpu-1,now,1`), Date.now() / 1000 - 1_780_000_000);
      await run(settling);
      t.strictSame((await charged())[0], ["later: 8"]);
      const versions = "SELECT count(*)::int AS n FROM usage_uploads WHERE idempotency_key LIKE 'now.csv@%'";
      t.strictSame((await stores.postgres.query(versions)).rows, [{ n: 0 }]);
      rmSync(join(folder, "usage", "now.csv"));
    },
  );

  await t.test("an invalid file is refused and listed, and the others count", async (t) => {
    file("bad.csv", used(`${second},gpu_hours,gpu-1,x,1`, `${second},gpu_hours,gpu-1,x,-1`), 4);
    file("other.csv", used(`${second},mem,gpu-1,x,1`), 5);
    file("good.csv", used(`${second},gpu_hours,gpu-2,web,1`), 6);
    file("notes.txt", "", 7);
    const problem =
      'usage "bad.csv": it is refused. row 2, column quantity: Must be a decimal of 0 or more, below 10^24, such as 12.5 or 1e-3.';
    const unknown =
      'usage "other.csv": it is refused. row 1, column metric: Must be one of the metrics in usage.uploads.metrics: gpu_hours.';
    const messages = ({ errors }: { errors: readonly { message: string }[] }) =>
      errors.map(({ message }) => message);
    const bad = await run();
    t.equal(bad.status, "completed_with_errors");
    t.strictSame(messages(bad), [problem, unknown]);
    t.strictSame((await charged())[1], [unmeasured("6"), "web: 2"]);
    t.strictSame(messages(await run()), [problem, unknown], "as long as it lies there");
    const refused = await readUsageUploads(stores.postgres, "acme", {
      page: 1,
      page_size: 9,
      state: "refused",
    });
    t.strictSame(
      refused.items.map(({ idempotency_key: key, problems }) => [key.split("@")[0], problems[0]?.row]),
      [
        ["other.csv", 1],
        ["bad.csv", 2],
      ],
    );
    const wider = testConfig(tenant(folder, "[gpu_hours, mem]"), home);
    t.strictSame(messages(await run(wider)), [problem], "a metric that is configured now is taken");
    rmSync(join(folder, "usage", "bad.csv"));
    t.strictSame(messages(await run(wider)), []);
  });

  await t.test("uploads that the store has lost make their days partial", async (t) => {
    const { client } = await store();
    await client.command({ query: "TRUNCATE TABLE usage_uploads" });
    await stores.postgres.query("DELETE FROM gathered_windows");
    const lost = await run();
    t.strictSame(await charged(), [["later: 8"], [unmeasured("6"), "web: 2"]], "what is published stays");
    t.match(JSON.stringify(lost), /what was uploaded is not in the store any more/);
  });

  rmSync(join(folder, "usage"), { recursive: true });
  t.match(JSON.stringify((await run()).errors), /usage.uploads.folder: .*there is no such folder/);
});
