import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readMigrationFiles } from "../../../src/common/migrate/migration-files.js";
import { splitStatements } from "../../../src/common/migrate/statements.js";
import { migrationFolder } from "./migration-folder.js";

t.test("revisions are the .sql files, in order of their numbers", async (t) => {
  const dir = migrationFolder(t, {
    "0010_ten.sql": "SELECT 10",
    "0002_two.sql": "SELECT 2",
    "README.md": "not one",
    ".0003_hidden.sql": "not one either",
  });
  const revisions = await readMigrationFiles(dir);
  t.strictSame(
    revisions.map(({ revision, name, sql }) => ({ revision, name, sql })),
    [
      { revision: "0002", name: "two", sql: "SELECT 2" },
      { revision: "0010", name: "ten", sql: "SELECT 10" },
    ],
  );
});

t.test("a checksum is that of the text, whatever its line ends", async (t) => {
  const dir = migrationFolder(t, { "0001_a.sql": "SELECT 1;\nSELECT 2;\n" });
  const [unix] = await readMigrationFiles(dir);
  writeFileSync(join(dir, "0001_a.sql"), "SELECT 1;\r\nSELECT 2;\r\n");
  const [windows] = await readMigrationFiles(dir);
  t.equal(windows?.checksum, unix?.checksum);
  writeFileSync(join(dir, "0001_a.sql"), "SELECT 1;\nSELECT 3;\n");
  const [other] = await readMigrationFiles(dir);
  t.not(other?.checksum, unix?.checksum);
  t.match(unix?.checksum, /^[0-9a-f]{64}$/);
});

t.test("files that are no migrations are refused", async (t) => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ "tenants.sql": "" }, /tenants\.sql is no migration: the name must be like 0001_tenants\.sql/],
    [{ "0001_a.sql": "", "001_b.sql": "" }, /Two files in .* have revision 0*1\./],
    [{ "0001_a.sql": "SELECT 1;\n-- Down Migration\nSELECT 2;" }, /0001_a\.sql has a down section/],
  ];
  for (const [files, message] of cases)
    await t.rejects(readMigrationFiles(migrationFolder(t, files)), { message });
});

t.test("statements end at a semicolon that is one", async (t) => {
  const cases: [string, string[]][] = [
    ["", []],
    ["-- nothing;\n/* at; all */ ;;\n", []],
    ["SELECT 1", ["SELECT 1"]],
    ["SELECT 1;\n\n-- then\nSELECT 2;\n", ["SELECT 1", "-- then\nSELECT 2"]],
    ["SELECT ';', 'it''s; so', 'a\\';b';SELECT 2", ["SELECT ';', 'it''s; so', 'a\\';b'", "SELECT 2"]],
    ['SELECT `a;b`, "c;d"; SELECT 2', ['SELECT `a;b`, "c;d"', "SELECT 2"]],
    ["SELECT 1 -- don't; stop\n, 2; SELECT 3", ["SELECT 1 -- don't; stop\n, 2", "SELECT 3"]],
    ["SELECT 1 /* don't;\n stop; */; SELECT 2", ["SELECT 1 /* don't;\n stop; */", "SELECT 2"]],
  ];
  for (const [sql, wanted] of cases) t.strictSame(splitStatements(sql), wanted, JSON.stringify(sql));
});
