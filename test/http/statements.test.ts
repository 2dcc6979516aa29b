/** All statements of a period as a ZIP, which is unpacked by a program that others wrote. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { defaultExportColumns } from "../../src/export/columns.js";
import { needs } from "../programs.js";
import { temporaryFolder } from "../stores.js";
import { insertChargebacks, startService } from "./service.js";

const acme = "/api/v1/tenants/acme";
const period = "start_date=2026-03-01&end_date=2026-03-02";
/** Names that would leave the folder, overwrite each other, or break a line of CSV. */
const hostile = [
  "../../etc/passwd",
  "..",
  "/absolute",
  "C:\\Windows\\x",
  "CON",
  "gateway",
  "GATEWAY",
  "名前",
  "Zoë Ünal",
  '=cmd("x"),y',
  "line\nbreak",
  `long-${"x".repeat(300)}`,
  "\u202egnp.exe",
];

t.test("GET /api/v1/tenants/{tenant_name}/statements", needs("unzip"), async (t) => {
  const { app, stores } = await startService(t);
  await insertChargebacks(
    stores,
    "acme",
    hostile.flatMap((identity_id, index) => [
      { timestamp: "2026-03-01T00:00:00Z", identity_id, amount: `${index + 1}.5` },
      { timestamp: "2026-03-02T00:00:00Z", identity_id, amount: "1", resource_id: "r-2" },
      { timestamp: "2026-03-02T00:00:00Z", identity_id, amount: "2", currency: "EUR" },
      { timestamp: "2026-03-03T00:00:00Z", identity_id: "later", amount: "9" },
    ]),
  );
  const unpacked = async (query: string) => {
    const { statusCode, headers, rawPayload } = await app.inject({ url: `${acme}/statements?${query}` });
    t.equal(statusCode, 200);
    t.equal(headers["content-type"], "application/zip");
    const folder = temporaryFolder(t);
    const file = join(folder, "statements.zip");
    writeFileSync(file, rawPayload);
    t.match(execFileSync("unzip", ["-t", file], { encoding: "utf8" }), /No errors detected/);
    execFileSync("unzip", ["-q", file, "-d", join(folder, "unpacked")]);
    const names = readdirSync(join(folder, "unpacked"), { recursive: true }).map(String).sort();
    return {
      names,
      times:
        execFileSync("unzip", ["-l", file], { encoding: "utf8" }).match(/\d{4}-\d\d-\d\d \d\d:\d\d/g) ?? [],
      name: headers["content-disposition"],
      read: (name: string) => readFileSync(join(folder, "unpacked", name), "utf8"),
    };
  };
  const sorted = [...hostile].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const exportColumns = defaultExportColumns.flatMap((name) =>
    name === "amount" ? [name, "currency"] : [name],
  );

  await t.test("each identity has a file, whose name is safe in every file system", async (t) => {
    const { names, name } = await unpacked(period);
    t.equal(name, 'attachment; filename="statements_acme_2026-03-01_2026-03-02_0-of-2-days_incomplete.zip"');
    t.strictSame(
      names,
      [
        "00001.csv",
        "00002_etc-passwd.csv",
        "00003_absolute.csv",
        "00004_cmd-x-y.csv",
        "00005_C-Windows-x.csv",
        "00006_CON.csv",
        "00007_GATEWAY.csv",
        "00008_Zoe-Unal.csv",
        "00009_gateway.csv",
        "00010_line-break.csv",
        `00011_long-${"x".repeat(55)}.csv`,
        "00012_gnp-exe.csv",
        "00013.csv",
        "index.csv",
      ].sort(),
    );
    t.notOk(names.includes("later"), "what is paid on other days has no file");
  });

  await t.test("a file is the export of its identity, with whose it is in its head", async (t) => {
    const { names, read } = await unpacked(`${period}&raw=true`);
    for (const [index, id] of sorted.entries()) {
      const columns = exportColumns.map((column) => `columns=${column}`).join("&");
      const url = `${acme}/export?${period}&format=csv&head=true&raw=true&${columns}&identity_id=${encodeURIComponent(id)}`;
      const { payload } = await app.inject({ url });
      const text = read(names[index] ?? "");
      t.equal(text.slice(text.indexOf("Tenant,acme")), payload, id);
      t.ok(text.startsWith("Statement of,"), id);
    }
  });

  await t.test(
    "the time of a download is not in its bytes, so equal rows have one ETag and one ZIP",
    async (t) => {
      const { times } = await unpacked(period);
      t.strictSame(
        times,
        Array.from({ length: hostile.length + 1 }, () => "2000-01-01 00:00"),
      );
    },
  );

  await t.test("the index lists the files with the sums of each currency", async (t) => {
    const { read } = await unpacked(period);
    const lines = read("index.csv").split("\n");
    t.equal(lines[0], "file,id,name,currency,amount");
    t.strictSame(lines.slice(1, 3), ["00001.csv,..,,EUR,2", "00001.csv,..,,USD,3.5"]);
    t.ok(lines.includes(`00004_cmd-x-y.csv,"'=cmd(""x""),y",,EUR,2`), "a formula is not run");
    t.ok(read("index.csv").includes('00010_line-break.csv,"line\nbreak",,USD,'));
  });

  await t.test("teams have a file each, with a byte order mark on request, also without rows", async (t) => {
    const teams = await unpacked(`${period}&by=team&bom=true`);
    t.strictSame(teams.names, ["00001_UNASSIGNED.csv", "index.csv"]);
    t.match(teams.read("00001_UNASSIGNED.csv"), /^\uFEFFStatement of,UNASSIGNED\nTenant,acme\n/);
    t.match(
      teams.read("index.csv"),
      /^\uFEFFfile,id,name,currency,amount\n00001_UNASSIGNED\.csv,UNASSIGNED,,EUR,26\n/,
    );
    const none = await unpacked("start_date=2026-02-01&end_date=2026-02-02");
    t.strictSame(none.names, ["index.csv"]);
    t.equal(none.read("index.csv"), "file,id,name,currency,amount\n");
  });
});
