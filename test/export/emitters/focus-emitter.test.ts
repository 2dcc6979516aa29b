/** FOCUS datasets of an emitter: their files and manifests, and that another tenant reads the same costs from them. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { gunzipSync } from "node:zlib";
import t from "tap";
import type { FocusEmitter } from "../../../src/config/settings/emitters.js";
import { openOutputFolder } from "../../../src/export/emitters/output-folder.js";
import { checkFile } from "../../../src/focus/check/check-file.js";
import { openScratchEngine } from "../../../src/focus/check/scratch-engine.js";
import { runStatement } from "../../../src/postgres/statement.js";
import { expireLeases } from "../../../src/runner/sql/leases.js";
import type { S3Object } from "../../../src/simulator/s3-server.js";
import { daysBefore, runContext, runOnce, runRows, shortTenants } from "../../runner/runs.js";
import { scriptedUpstream } from "../../runner/scripted-upstream.js";
import { openTestStores, testLogger } from "../../stores.js";
import { s3Server } from "../../upstream/s3-server.js";
import { watchStatements } from "../../watched-statements.js";
import { emissionsOf, withEmitters } from "./emitting.js";

const [may, first, second] = ["2026-05-31", daysBefore(6), daysBefore(4)];
const key = { id: "id", secret: "a secret key" };

function focusEmitter(location: string, params: Partial<FocusEmitter["params"]> = {}): FocusEmitter {
  return {
    type: "focus",
    params: { location, format: "parquet", focus_version: "1.4", provisional: "mark", ...params },
  };
}

/** Files below a folder, with `RUN` instead of run ids. */
function namesBelow(folder: string): string[] {
  return pathsBelow(folder)
    .map((name) => name.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, "RUN"))
    .sort();
}

function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

function manifestIn(folder: string) {
  const [path = ""] = pathsBelow(folder).filter((name) => name.endsWith("manifest.json"));
  return { path, manifest: JSON.parse(readFileSync(join(folder, path), "utf8")) };
}

const reader = (name: string, location: string, more = "") => `
  ${name}:
    ecosystem: focus
    tenant_id: ${name}
    lookback_days: 40
    cutoff_days: 1
    storage: { connection_string: "embedded:${name}" }
    allocation: { identity: [{ column: AllocatedResourceId }] }
    plugin_settings:
      sources:
        - name: chargebacks
          location: ${location}
          limits: { settle_seconds: 0 }${more}`;

t.test("a FOCUS emitter writes complete datasets", async (t) => {
  const objects = new Map<string, S3Object>();
  let refused = (_name: string) => false;
  const s3 = await s3Server(t, {
    bucket: "costs",
    objects,
    key,
    instead: (request, response) => {
      if (request.method !== "PUT" || !refused(decodeURIComponent(request.url ?? ""))) return false;
      response.writeHead(403).end();
      return true;
    },
  });
  const root = t.testdir();
  const out = (name: string) => join(root, name);
  const yaml = `${shortTenants(["kept", "packed", "bucket", "waiting", "linked", "late"])}${reader("reader", out("kept"))}${reader(
    "borrower",
    "s3://costs/teams",
    `
          s3: { endpoint: "${s3.endpoint}", credentials: keys, access_key_id: ${key.id}, secret_access_key: ${key.secret} }`,
  )}`;
  const { config, stores } = await openTestStores(t, yaml);
  const inS3 = {
    region: "us-east-1",
    endpoint: s3.endpoint,
    credentials: "keys" as const,
    access_key_id: key.id,
    secret_access_key: key.secret,
  };

  const writer = (tenant: string, emitter: FocusEmitter) => {
    const { upstream, ecosystems } = scriptedUpstream();
    const emitting = withEmitters(config, tenant, [emitter], { lookback_days: 40 });
    return { upstream, run: () => runOnce(runContext(stores, { ecosystems }), emitting, tenant) };
  };
  const charged = async (tenant: string) =>
    await runRows<Record<string, string>>(
      stores,
      tenant,
      "SELECT toString(day) AS day, identity_id, toString(sum(amount)) AS amount FROM chargebacks GROUP BY day, identity_id ORDER BY day, identity_id",
    );

  await t.test("datasets in a folder", async (t) => {
    const folder = out("kept");
    const { upstream, run } = writer("kept", focusEmitter(folder));
    upstream.bill.set(may, { "r-1": "0.000000000001" });
    for (const day of [first, second]) upstream.bill.set(day, { "r-1": "10", "r-2": "-0.01" });
    t.strictSame((await run()).errors, []);

    await t.test("each month has a dataset with a manifest that describes it", async (t) => {
      const months = ["20260501-20260531", "20260601-20260630"];
      t.strictSame(
        namesBelow(folder),
        months.flatMap((month) => [`kept/${month}/RUN/manifest.json`, `kept/${month}/RUN/part_0001.parquet`]),
      );
      t.strictSame(await emissionsOf(stores, "kept"), [
        "focus chargeback 2026-05-01 emitted 0",
        "focus chargeback 2026-06-01 emitted 0",
      ]);
      const june = manifestIn(join(folder, "kept", "20260601-20260630"));
      const { blobs, totals, runInfo, exportConfig, metadata, ...rest } = june.manifest;
      const part = join(folder, blobs[0].blobName);
      t.strictSame(blobs, [
        {
          blobName: `kept/20260601-20260630/${runInfo.runId}/part_0001.parquet`,
          byteCount: statSync(part).size,
          dataRowCount: 8,
          sha256: createHash("sha256").update(readFileSync(part)).digest("hex"),
        },
      ]);
      t.strictSame(totals, [
        {
          currency: "USD",
          BilledCost: "19.98",
          EffectiveCost: "19.98",
          ListCost: "19.98",
          ContractedCost: "19.98",
          rows: 8,
        },
      ]);
      t.strictSame(
        [rest.blobCount, rest.dataRowCount, rest.byteCount, rest.provisional, exportConfig.dataVersion],
        [1, 8, statSync(part).size, false, "1.4"],
      );
      t.strictSame(
        metadata.Recency[0].TimeSectors.map((sector: Record<string, unknown>) => sector.TimeSectorStart),
        [first, second].map((day) => `${day}T00:00:00Z`),
      );
      t.equal(statSync(part).mode & 0o777, 0o640);
      t.equal(statSync(join(part, "..")).mode & 0o777, 0o750);
    });

    await t.test("focus-check finds no errors in the files", async (t) => {
      const engine = await openScratchEngine(testLogger);
      t.teardown(() => engine.close());
      for (const name of pathsBelow(folder).filter((path) => path.endsWith(".parquet"))) {
        const { focus_version, findings } = await checkFile(engine, join(folder, name));
        t.equal(focus_version, "1.4");
        t.strictSame(
          findings.filter(({ level }) => level === "error"),
          [],
        );
      }
    });

    await t.test("another tenant reads the same costs from the dataset", async (t) => {
      t.strictSame((await runOnce(runContext(stores), config, "reader")).errors, []);
      t.strictSame(await charged("reader"), await charged("kept"));
    });

    await t.test("a reader reports files that differ from the manifest, and charges them", async (t) => {
      const june = join("kept", "20260601-20260630");
      const { path, manifest } = manifestIn(join(folder, june));
      const [file, name] = [join(folder, june, path), join(june, path)];
      const written = readFileSync(file, "utf8");
      const [blob] = manifest.blobs;
      const [sums] = manifest.totals;
      const changed = {
        ...manifest,
        totals: [{ ...sums, EffectiveCost: "19.99" }],
        blobs: [{ ...blob, dataRowCount: 9 }],
      };
      writeFileSync(file, JSON.stringify(changed));
      const advice = "run the export again, because rows may be missing or may be there twice";
      for (const each of ["first", "second"]) {
        const run = await runOnce(runContext(stores), config, "reader");
        t.equal(run.status, "completed_with_errors", `the ${each} run`);
        t.strictSame(
          run.errors.map(({ message }) => message),
          [
            `chargebacks 2026-06: "${blob.blobName}" has 8 rows, and "${name}" states 9: ${advice}`,
            `chargebacks 2026-06: the files of "${name}" have EffectiveCost 19.98 USD, and it states 19.99 USD: ${advice}`,
          ],
        );
      }
      t.strictSame(await charged("reader"), await charged("kept"), "the files are charged unchanged");
      writeFileSync(file, written);
      const { status, errors } = await runOnce(runContext(stores), config, "reader");
      t.strictSame([status, errors], ["completed", []]);
    });

    await t.test("a run without changes writes nothing", async (t) => {
      const before = pathsBelow(folder);
      await run();
      t.strictSame(pathsBelow(folder), before);
    });

    await t.test("a changed day rewrites only its month, and keeps files of others", async (t) => {
      const before = pathsBelow(folder);
      const [mine = ""] = before.filter((path) => path.includes("202606") && path.endsWith(".parquet"));
      writeFileSync(join(folder, mine, "..", "notes.txt"), "mine");
      mkdirSync(join(folder, "kept", "20260601-20260630", "0b9b6c1e-0000-4000-8000-000000000000"));
      writeFileSync(
        join(
          folder,
          "kept",
          "20260601-20260630",
          "0b9b6c1e-0000-4000-8000-000000000000",
          "part_0001.parquet",
        ),
        "left by a killed run",
      );
      const dying = "0b9b6c1e-0000-4000-8000-000000000001";
      const { path, unfinished } = await openOutputFolder(
        join(folder, "kept", "20260601-20260630", dying),
        "kept",
      );
      writeFileSync(join(path, `${unfinished}0123456789abcdef`), "left by a killed write");
      upstream.bill.set(second, { "r-1": "20" });
      t.strictSame((await run()).errors, []);
      const after = pathsBelow(folder);
      t.strictSame(
        after.filter((path) => path.includes("202605")),
        before.filter((path) => path.includes("202605")),
      );
      t.strictSame(namesBelow(join(folder, "kept", "20260601-20260630")), [
        "RUN/manifest.json",
        "RUN/notes.txt",
        "RUN/part_0001.parquet",
      ]);
      t.not(
        manifestIn(join(folder, "kept", "20260601-20260630")).path,
        relative(join(folder, "kept", "20260601-20260630"), join(folder, mine)),
      );
      t.strictSame((await runOnce(runContext(stores), config, "reader")).errors, []);
      t.strictSame(await charged("reader"), await charged("kept"), "the reader reads the new dataset");
    });
  });

  await t.test("a dataset can be gzipped CSV of version 1.2", async (t) => {
    const folder = out("packed");
    const { upstream, run } = writer(
      "packed",
      focusEmitter(folder, { format: "csv.gz", focus_version: "1.2" }),
    );
    upstream.bill.set(first, { "r-1": "10" });
    t.strictSame((await run()).errors, []);
    const { path, manifest } = manifestIn(folder);
    const text = gunzipSync(readFileSync(join(folder, path, "..", "part_0001.csv.gz"))).toString();
    const [header = "", ...lines] = text.trimEnd().split("\n");
    t.equal(header.split(",").at(0), "AvailabilityZone");
    t.strictSame(
      [lines.length, manifest.blobs[0].dataRowCount, manifest.exportConfig.dataVersion],
      [2, 2, "1.2"],
    );
  });

  await t.test("a failed manifest in a bucket leaves the old month complete", async (t) => {
    const { upstream, run } = writer("bucket", focusEmitter("s3://costs/teams", { s3: inS3 }));
    upstream.bill.set(first, { "r-1": "10" });
    t.strictSame((await run()).errors, []);
    const names = () => [...objects.keys()].sort();
    const before = names();
    t.strictSame(
      before.map((name) => name.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, "RUN")),
      [
        "teams/bucket/20260601-20260630/RUN/manifest.json",
        "teams/bucket/20260601-20260630/RUN/part_0001.parquet",
      ],
    );
    t.strictSame((await runOnce(runContext(stores), config, "borrower")).errors, []);
    t.strictSame(await charged("borrower"), await charged("bucket"));

    upstream.bill.set(first, { "r-1": "30" });
    refused = (name) => name.endsWith("manifest.json");
    const failed = await run();
    t.equal(failed.errors.length, 1);
    t.match(failed.errors[0]?.message, /^emitter focus \(chargeback\): .*manifest\.json: returned 403/);
    t.strictSame(
      names().filter((name) => before.includes(name)),
      before,
    );
    t.equal(names().length, 3, "the new part belongs to no complete run");
    await run();
    t.equal(names().length, 3, "the next attempt replaces the part");
    const waiting = (await runOnce(runContext(stores), config, "borrower")).errors;
    t.strictSame(
      waiting.map(({ message }) => message.replace(/.*: its/, "its")),
      ["its manifest.json is not there (yet)"],
    );
    t.strictSame(
      (await charged("borrower")).map(({ amount }) => amount),
      ["5", "5"],
      "readers have the old month",
    );

    refused = () => false;
    t.strictSame((await run()).errors, []);
    t.equal(names().length, 2, "incomplete runs are removed");
    t.strictSame((await runOnce(runContext(stores), config, "borrower")).errors, []);
    t.strictSame(await charged("borrower"), await charged("bucket"));
  });

  await t.test("a provisional month waits, or is marked as provisional", async (t) => {
    const folder = out("waiting");
    mkdirSync(folder);
    const { upstream, run } = writer("waiting", focusEmitter(folder, { provisional: "wait" }));
    upstream.bill.set(first, { "metered-1": "10" });
    upstream.gaps.add(first);
    await run();
    t.strictSame(namesBelow(folder), []);
    const marking = writer("waiting", focusEmitter(folder));
    marking.upstream.bill.set(first, { "metered-1": "10" });
    marking.upstream.gaps.add(first);
    await marking.run();
    const { manifest } = manifestIn(folder);
    t.strictSame(
      [manifest.provisional, manifest.metadata.Recency[0].TimeSectors[0].TimeSectorComplete],
      [true, false],
    );
  });

  await t.test("a delayed worker removes nothing of the worker that took over", async (t) => {
    const folder = out("late");
    const { upstream, run } = writer("late", focusEmitter(folder));
    upstream.bill.set(first, { "r-1": "10" });
    const watched = watchStatements(stores.postgres);
    const takenOver = (cost: string) => async () => {
      await runStatement(stores.postgres, expireLeases());
      upstream.bill.set(first, { "r-1": cost });
      t.strictSame((await run()).errors, []);
    };
    const checked = /^SELECT FROM leases/;
    const month = join(folder, "late", "20260601-20260630");
    const cost = () => manifestIn(month).manifest.totals[0].BilledCost;
    const whole = ["RUN/manifest.json", "RUN/part_0001.parquet"];
    watched.at("after", checked, takenOver("20"));
    await run();
    t.ok(watched.happened());
    t.equal(cost(), "20", "the lease was lost before the first file");
    t.strictSame(
      namesBelow(month),
      [...whole, "RUN/part_0001.parquet"],
      "its file belongs to no complete run",
    );

    upstream.bill.set(first, { "r-1": "30" });
    watched.at("after", checked, async () => watched.at("after", checked, takenOver("40")));
    await run();
    t.ok(watched.happened());
    t.equal(cost(), "40", "the lease was lost before the manifest");
    t.strictSame(namesBelow(month), whole);
  });

  await t.test("a link in the path is not followed", async (t) => {
    const folder = out("linked");
    mkdirSync(folder);
    mkdirSync(out("elsewhere"));
    symlinkSync(out("elsewhere"), join(folder, "linked"));
    const { upstream, run } = writer("linked", focusEmitter(folder));
    upstream.bill.set(first, { "r-1": "10" });
    const { errors } = await run();
    t.equal(errors.length, 1);
    t.match(errors[0]?.message, /is a link: nothing is written there$/);
    t.strictSame(readdirSync(out("elsewhere")), [], "not even folders are created");
  });
});
