/**
 * `check-config --connect` with every query of every tenant on a real Prometheus, and lists and bills of a simulated
 * vendor.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { checkConfig } from "../../src/cli/check-config.js";
import { tenantsSection } from "../../src/cli/simulation.js";
import { midnightSeconds } from "../../src/common/days.js";
import { startConfluentCloud } from "../../src/simulator/confluent/cloud.js";
import { confluentTenant } from "../../src/simulator/confluent/tenant.js";
import { daysAgo } from "../ingest/generic_metrics_only/tenant.js";
import { PASSWORD, startRealPrometheus } from "../ingest/prometheus/real-prometheus.js";
import { needs } from "../programs.js";
import { temporaryFolder } from "../stores.js";
import { commandIo } from "./command-io.js";

t.test("check-config --connect", async (t) => {
  const folder = temporaryFolder(t);
  const check = async (tenants: unknown, ...options: readonly string[]) => {
    const file = join(folder, "chargehouse.yaml");
    writeFileSync(file, JSON.stringify({ tenants }));
    const { io, written } = commandIo();
    const code = await checkConfig.run(["--config", file, "--connect", ...options], io);
    for (const line of written.stdout.split("\n")) t.ok(line.length <= 80, line);
    return { code, ...written };
  };

  await t.test(
    "the table shows what each query returns, or the error of Prometheus",
    needs("prometheus", "promtool"),
    async (t) => {
      const from = Date.parse(`${daysAgo(8)}T00:05:00Z`) / 1000;
      const until = midnightSeconds(daysAgo(5));
      const each = (series: string) =>
        Array.from({ length: (until - from) / 300 + 1 }, (_, index) => `${series} 7 ${from + index * 300}`);
      const databases = ["orders", "users"].flatMap((name) => each(`size_bytes{datname="${name}",host="a"}`));
      const text = ["# TYPE size_bytes gauge", ...databases, "# EOF", ""].join("\n");
      const { url } = await startRealPrometheus(t, text);
      const costType = (name: string, cost: string, usage: string) => ({
        name,
        product_category: "postgres",
        rate: "0.1",
        cost_quantity: { type: "storage_gib", query: cost },
        allocation_strategy: "usage_ratio",
        allocation_query: usage,
        allocation_label: "datname",
      });
      const tenant = (name: string, cost_types: readonly unknown[]) => ({
        ecosystem: "generic_metrics_only",
        tenant_id: name,
        lookback_days: 30,
        storage: { connection_string: `embedded:${name}` },
        plugin_settings: {
          cluster_id: name,
          metrics: { type: "prometheus", url, auth_type: "basic", username: "me", password: PASSWORD },
          identity_source: {
            source: "prometheus",
            label: "datname",
            discovery_query: "last_over_time(size_bytes[10d])",
          },
          cost_types,
        },
      });
      const good = costType("GOOD", "sum(size_bytes)", "sum by (datname) (size_bytes)");
      const tenants = {
        good: tenant("good", [good]),
        bad: tenant("bad", [
          good,
          costType("BROKEN", "sum(size_bytes", "sum by (datname) (size_bytes)"),
          costType("ABSENT", "sum(size_byte)", "sum by (host) (size_bytes)"),
        ]),
      };
      const one = await check(tenants, "--tenant", "good");
      t.strictSame(one, {
        code: 0,
        stdout: [
          "good (generic_metrics_only)",
          "  ok     resources         1 cluster",
          "  ok     identities        2 principal",
          "  ok     cost GOOD         1 series, 3 days",
          "  ok     usage discovery   2 series, 2 identities, 3 days; labels: datname, host",
          "  ok     usage alloc_GOOD  2 series, 2 identities, 3 days; labels: datname",
          "",
        ].join("\n"),
        stderr: "The configuration is valid, and every upstream responds.\n",
      });
      const both = await check(tenants);
      t.equal(both.code, 1);
      t.equal(
        both.stderr,
        "The configuration is valid; 2 of 14 requests to upstreams failed.\nLook at 1 response, which is marked `look` above.\n",
      );
      const output = both.stdout.replaceAll(/\s+/g, " ");
      t.match(
        output,
        /FAILS cost BROKEN \S+\/query: returned 400: bad_data: .*1:15: parse error: unclosed left parenthesis/,
      );
      t.match(
        output,
        /FAILS cost ABSENT no series on any of these days, and none now: does the metric exist\?/,
      );
      t.match(
        output,
        /look usage alloc_ABSENT 1 series, 0 identities, 3 days; labels: host; no series has the label datname/,
      );
      t.notOk(`${both.stdout}${both.stderr}`.includes(PASSWORD));

      const onlyNow = `vector(time()) > ${midnightSeconds(daysAgo(0))}`;
      const young = await check({ young: tenant("young", [costType("NEW", onlyNow, onlyNow)]) });
      t.equal(young.code, 0);
      const newer = `there is no sample from ${daysAgo(30)} to ${daysAgo(6)}, only a newer one`;
      const saidOfYoung = young.stdout.replaceAll(/\s+/g, " ");
      t.match(saidOfYoung, new RegExp(`look cost NEW 1 series, 0 days; ${newer}`));
      t.match(
        saidOfYoung,
        new RegExp(
          `look usage alloc_NEW 1 series, 0 identities, 0 days; ${newer}.*; no series has the label datname`,
        ),
      );
    },
  );

  await t.test("the table shows what each source of FOCUS bills has, or why it has nothing", async (t) => {
    const bills = join(folder, "bills");
    mkdirSync(join(bills, "empty"), { recursive: true });
    const [month, older] = [daysAgo(40).slice(0, 7), daysAgo(400).slice(0, 7)];
    for (const each of [month, older]) writeFileSync(join(bills, `${each}.csv`), `a bill of ${each}\n`);
    const source = (name: string, location: string, settle_seconds = 0) => ({
      name,
      location,
      limits: { settle_seconds },
    });
    const tenant = (...sources: readonly unknown[]) => ({
      acme: {
        ecosystem: "focus",
        tenant_id: "acme",
        storage: { connection_string: "embedded:acme" },
        plugin_settings: { sources },
      },
    });
    // Lines are wrapped if the folder's name makes them too long.
    const squeezed = (text: string) =>
      text.replaceAll(/\s+/g, "").replaceAll(/\/[^`:]*?chargehouse-[^/]*\/bills/g, "/bills");
    const { code, stdout, stderr } = await check(
      tenant(source("aws", bills), source("azure", `${bills}/empty`), source("glob", `${bills}/*.parquet`)),
    );
    t.strictSame(
      [code, squeezed(stdout), stderr],
      [
        0,
        squeezed(
          "acme (focus) ok resources none ok identities none ok source aws 2 bills, 2 files; " +
            `${older} to ${month}; charged: ${daysAgo(200)} to ${daysAgo(2)} ` +
            `look source aws the bill of ${older} lies before ${daysAgo(200)} (lookback_days) and will not be charged: \`run --from DAY --to DAY\` charges older days ` +
            "look source azure /bills/empty has no files: check `location` " +
            "look source glob no file matches /bills/*.parquet: check `location`",
        ),
        "The configuration is valid, and every upstream responds.\nLook at 3 responses, which are marked `look` above.\n",
      ],
    );
    const failing = await check(tenant(source("aws", `${bills}/none`), source("new", bills, 86_400)));
    t.equal(failing.code, 1);
    t.equal(
      squeezed(failing.stdout),
      squeezed(
        "acme (focus) ok resources none ok identities none FAILS source aws /bills/none: there is no such folder " +
          `FAILS source new ${older}: ${older}.csv changed less than 86400 seconds ago (limits.settle_seconds) ` +
          `FAILS source new ${month}: ${month}.csv changed less than 86400 seconds ago (limits.settle_seconds)`,
      ),
    );
  });

  await t.test("older runs of an Azure export are counted, with the rows of their manifests", async (t) => {
    const month = daysAgo(40).slice(0, 7);
    const [first, last] = [`${month}-01`, `${month}-28`].map((day) => day.replaceAll("-", ""));
    const run = (name: string, at: number, stated: object, blob: object = {}) => {
      const folderOfRun = join(folder, "azure", name, `${first}-${last}`, `run${at}`);
      mkdirSync(folderOfRun, { recursive: true });
      writeFileSync(join(folderOfRun, "part.csv"), "ChargePeriodStart\n");
      const submittedTime = `${month}-1${at}T04:00:00Z`;
      const blobs = [{ blobName: `run${at}/part.csv`, ...blob }];
      writeFileSync(
        join(folderOfRun, "manifest.json"),
        JSON.stringify({ ...stated, blobs, runInfo: { submittedTime } }),
      );
    };
    run("daily", 1, { dataRowCount: 900 });
    run("daily", 2, {}, { dataRowCount: 1000 });
    run("daily", 3, { dataRowCount: 1100 });
    run("older", 1, { dataRowCount: 5 });
    run("older", 2, {});
    run("older", 3, {});
    run("one", 4, { dataRowCount: 7 });
    const source = (name: string) => ({
      name,
      location: join(folder, "azure", name),
      limits: { settle_seconds: 0 },
    });
    const { code, stdout, stderr } = await check({
      acme: {
        ecosystem: "focus",
        tenant_id: "acme",
        storage: { connection_string: "embedded:acme" },
        plugin_settings: { sources: ["daily", "older", "one"].map(source) },
      },
    });
    const words = stdout.replaceAll(/\s+/g, " ").replaceAll(/; charged: \S+ to \S+/g, "");
    t.equal(code, 0);
    t.equal(stderr, "The configuration is valid, and every upstream responds.\n", "nothing is reported");
    t.equal(
      words,
      "acme (focus) ok resources none ok identities none " +
        `ok source daily 1 bill, 1 file; ${month} ` +
        `ok source daily 2 older runs, 1900 rows; of ${month}, superseded by ${first}-${last}/run3 ` +
        `ok source older 1 bill, 1 file; ${month} ` +
        `ok source older 2 older runs; of ${month}, superseded by ${first}-${last}/run3 ` +
        `ok source one 1 bill, 1 file; ${month} `,
    );
  });

  await t.test("tags of a bill whose case differs from the configuration are pointed out", async (t) => {
    const bills = join(folder, "tagged");
    mkdirSync(bills);
    const lines = [
      ["94", { CostCenter: "7" }],
      ["-4", { CostCenter: "7", costcenter: "8" }],
      ["1.5", [{ Key: "COSTCENTER", Value: "7" }]],
      ["0.5", { other: "x" }],
      ["0", { Costcenter: "x" }],
    ] as const;
    const quoted = (tags: unknown) => `"${JSON.stringify(tags).replaceAll('"', '""')}"`;
    const rows = lines.map(([cost, tags]) => `2026-05-01;${cost};USD;${quoted(tags)}`);
    const header = "ChargePeriodStart;EffectiveCost;BillingCurrency;Tags";
    const [before, month] = [daysAgo(70).slice(0, 7), daysAgo(35).slice(0, 7)];
    writeFileSync(join(bills, `${before}.csv`), `${header}\n`);
    writeFileSync(join(bills, `${month}.csv`), [header, ...rows, "broken", ""].join("\n"));
    const tenant = (identity: unknown, rules: unknown) => ({
      acme: {
        ecosystem: "focus",
        tenant_id: "acme",
        storage: { connection_string: "embedded:acme" },
        allocation: { identity, rules },
        plugin_settings: { sources: [{ name: "aws", location: bills, limits: { settle_seconds: 0 } }] },
      },
    });
    const shown = async (...[identity, rules]: Parameters<typeof tenant>) => {
      const { code, stdout } = await check(tenant(identity, rules));
      t.equal(code, 0);
      return stdout
        .replaceAll(/\s+/g, " ")
        .replace(/.* source aws 2 bills, 2 files; \S+ to \S+; charged: \S+ to \S+ ?/, "");
    };
    const output = (share: string, key: string) =>
      `look source aws ${share} of the cost (in the first 5 lines of ${month}.csv) has the tag "${key}" instead of "costcenter". Set \`ignore_case: true\` to read both. `;
    const split = [{ by: "line" }];
    t.equal(
      await shown([{ tag: "costcenter" }], [{ name: "all", split }]),
      output("94 %", "CostCenter") + output("1 %", "COSTCENTER"),
    );
    t.equal(await shown([{ tag: "costcenter", ignore_case: true }], [{ name: "all", split }]), "");
    t.equal(
      await shown([{ tag: "x" }], [{ name: "all", where: { "tag.costcenter": "7" }, split }]),
      output("94 %", "CostCenter") + output("1 %", "COSTCENTER"),
      "a rule reads the tag as well",
    );
  });

  await t.test("the bill and every list of Confluent Cloud are requested", async (t) => {
    const cloud = await startConfluentCloud({ size: "tiny", days: 9 });
    t.teardown(() => cloud.close());
    const tenants = tenantsSection([confluentTenant(cloud)]);
    const { code, stdout } = await check(tenants);
    t.equal(code, 0, stdout);
    const output = stdout.replaceAll(/\s+/g, " ");
    t.match(output, /ok resources \d+ environment, \d+ kafka_cluster, /);
    t.match(output, /ok bill \d+ lines, [123] days/);
    t.match(output, /ok usage bytes_in \d+ series, \d+ identities, \d+ days; labels: kafka_id, principal_id/);

    cloud.setFaults([
      { kind: "status", status: 403, match: "/connect/" },
      { kind: "status", status: 403, match: "/billing/" },
    ]);
    const refused = await check(tenants);
    t.equal(refused.code, 1);
    const failures = refused.stdout.split("\n").filter((line) => line.startsWith("  FAILS"));
    t.strictSame(
      failures.map((line) => line.split(/\s+/)[2]),
      ["inventory", "bill"],
    );
    t.match(
      refused.stdout.replaceAll(/\s+/g, " "),
      /FAILS inventory connectors: .* returned 403: a configured fault/,
    );
  });
});
