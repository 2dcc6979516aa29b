/** The engine alone refuses these statements to a SQL user's role, without the checks of the port. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { engineConfigXml } from "../../src/embedded-clickhouse/server/config.js";
import { openEngine } from "../../src/embedded-clickhouse/server/engine.js";
import { roleOf, usersConfigXml } from "../../src/embedded-clickhouse/server/sql-port/roles.js";

t.test("a role reads its own databases, and the engine refuses it everything else", async (t) => {
  const folder = join(t.testdir(), "a & b");
  await mkdir(folder);
  const [configFile, usersFile] = [join(folder, "engine.xml"), join(folder, "users.xml")];
  const readers = [
    { user: "bi", databases: ["facts"] },
    { user: "other.<user>-1", databases: ["another"] },
    { user: "nobody", databases: [] },
  ];
  await writeFile(usersFile, usersConfigXml(readers));
  await writeFile(configFile, engineConfigXml(1 << 30, usersFile));
  const engine = openEngine(join(folder, "engine"), configFile);
  t.teardown(() => engine.close());
  const service = engine.open();
  t.teardown(() => service.close());
  for (const sql of [
    "CREATE DATABASE `sql-port`",
    "CREATE DATABASE facts",
    "CREATE DATABASE another",
    "CREATE TABLE facts.t (a UInt8) ENGINE = MergeTree ORDER BY a",
    "CREATE TABLE another.t (a UInt8) ENGINE = MergeTree ORDER BY a",
    "INSERT INTO facts.t VALUES (1)",
    "INSERT INTO another.t VALUES (2)",
    "CREATE VIEW facts.way_out AS SELECT a FROM another.t",
    "SYSTEM FLUSH LOGS",
  ])
    await service.run(sql);

  const as = async (user: string, sql: string) => {
    const session = engine.open();
    try {
      await session.run(`SET ROLE ${roleOf(user)}`);
      await session.run("SET readonly = 1");
      return Buffer.from((await session.run(sql)).output)
        .toString("utf8")
        .trimEnd();
    } catch (error) {
      return String((error as { type?: string }).type);
    } finally {
      session.close();
    }
  };

  t.equal(await as("bi", "SELECT a FROM facts.t"), "1");
  t.equal(await as("other.<user>-1", "SELECT a FROM another.t"), "2");
  t.equal(await as("bi", "SELECT currentRoles()"), `['${roleOf("bi")}']`);
  t.equal(await as("bi", "SELECT DISTINCT database FROM system.tables"), "facts");
  t.equal(await as("bi", "SELECT DISTINCT database FROM system.columns"), "facts");
  t.equal(await as("bi", "SELECT DISTINCT database FROM system.parts"), "facts");
  t.equal(await as("bi", "SELECT name FROM system.databases ORDER BY name"), "facts\nsql-port");
  t.equal(await as("nobody", "SELECT name FROM system.databases"), "sql-port");
  for (const sql of [
    "SELECT a FROM another.t",
    "SELECT count() FROM another.t",
    "SELECT 1 IN another.t",
    "SELECT a FROM facts.way_out",
    "DESCRIBE TABLE another.t",
    "SHOW CREATE TABLE another.t",
    "SELECT hasColumnInTable('another', 't', 'a')",
    "SELECT * FROM mergeTreeIndex('another', 't')",
    "SELECT * FROM file('/etc/hostname', 'LineAsString')",
    "SELECT * FROM `/etc/hostname`",
    "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')",
    "SELECT * FROM s3('http://127.0.0.1:1/bucket/x.csv', 'CSV', 'a String')",
    "SELECT * FROM remote('127.0.0.1', facts.t)",
    "SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
    "SELECT * FROM executable('x', 'CSV', 'a String')",
    "SELECT * FROM format('CSV', '1')",
    "SELECT * FROM viewExplain('EXPLAIN', '', (SELECT 1))",
    "INSERT INTO facts.t VALUES (3)",
    "CREATE TABLE facts.u (a UInt8) ENGINE = Memory",
    "CREATE TEMPORARY TABLE u (a UInt8)",
    "CREATE DATABASE u",
    "CREATE FUNCTION f AS (x) -> x",
    "DROP TABLE facts.t",
    "TRUNCATE TABLE facts.t",
    "ALTER TABLE facts.t DELETE WHERE 1",
    "OPTIMIZE TABLE facts.t",
    "BACKUP TABLE facts.t TO Null",
    "SYSTEM FLUSH LOGS",
    "SHOW USERS",
    "SHOW ACCESS",
    "GRANT SELECT ON *.* TO default",
  ])
    t.match(await as("bi", sql), /^(ACCESS_DENIED|READONLY)$/, sql);
  t.equal(await as("bi", "SELECT * FROM merge('another', '.*')"), "CANNOT_EXTRACT_TABLE_STRUCTURE");

  await t.test("hints at similar names contain only what the user may read", async (t) => {
    await service.run("CREATE TABLE another.secrets (a UInt8) ENGINE = MergeTree ORDER BY a");
    const hint = async (sql: string, user?: string) => {
      const session = engine.open();
      try {
        if (user !== undefined) await session.run(`SET ROLE ${roleOf(user)}`);
        await session.run("USE facts");
        await session.run(sql);
        return "no error";
      } catch (error) {
        return /Maybe you meant (.*?)\?/.exec(String(error))?.[1];
      } finally {
        session.close();
      }
    };
    for (const form of ["SELECT * FROM", "EXPLAIN SELECT 1 FROM", "DESCRIBE TABLE", "SHOW CREATE TABLE"]) {
      t.equal(await hint(`${form} way_outt`, "bi"), "facts.way_out", form);
      for (const [name, meant] of [
        ["secrett", "another.secrets"],
        ["facts.secrett", "another.secrets"],
        ["another.secrett", "another.secrets"],
        ["anothe.secrets", "another"],
      ]) {
        t.equal(await hint(`${form} ${name}`), meant, `${form} ${name} without a role`);
        t.equal(await hint(`${form} ${name}`, "bi"), undefined, `${form} ${name}`);
      }
    }
  });

  await t.test("the port's own checks are needed for statements that no role refuses", async (t) => {
    t.not(await as("bi", "SELECT length(file('/etc/hostname')) > 0"), "ACCESS_DENIED");
    t.equal(await as("bi", "SELECT length(getServerSetting('path')) > 0"), "1");
    t.equal(await as("bi", "SELECT sleep(0.001)"), "0");
    t.equal(await as("bi", "SET ROLE service"), "");
    t.equal(await as("bi", "SELECT count() > 0 FROM system.processes"), "1");
  });
});

t.test("users and databases with any name are separate in the users file", async (t) => {
  const names = ["a", "A", "a.b", "a-b", "a_b", "<a>", "&", "é"];
  t.equal(new Set(names.map(roleOf)).size, names.length);
  for (const name of names) t.match(roleOf(name), /^reader_[0-9a-f]+$/);
  const written = usersConfigXml([{ user: "x", databases: ["a<b&c`d"] }]);
  t.ok(written.includes("GRANT SELECT ON `a&lt;b&amp;c\\`d`.*"), written);
});
