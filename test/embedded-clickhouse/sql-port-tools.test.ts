/** Statements and settings that BI tools send when they connect. */
import t from "tap";
import { roleOf } from "../../src/embedded-clickhouse/server/sql-port/roles.js";
import { createSessionMemory } from "../../src/embedded-clickhouse/server/sql-port/session-cache.js";
import { quietClient, sendRequest, sqlListener, startEngine } from "../clickhouse/engine-under-test.js";
import { freePort } from "../free-port.js";

const one = { user: "bi", password: "s3cret", databases: ["facts"] };
const both = { user: "both", password: "b0th", databases: ["facts", "other"] };

t.test("the SQL port accepts what BI tools send with their statements", async (t) => {
  const port = await freePort();
  const zone = process.env.TZ;
  process.env.TZ = "Asia/Tokyo";
  const under = await startEngine(t, {
    sqlPort: sqlListener(port, [one, both], { limits: { maxRunning: 8 } }),
  });
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  const service = quietClient(t, under.endpoint);
  for (const query of [
    "CREATE DATABASE facts",
    "CREATE DATABASE other",
    "CREATE TABLE facts.t (a UInt64, team String) ENGINE = MergeTree ORDER BY a",
    "INSERT INTO facts.t SELECT number, if(number < 3, 'it''s', 'b') FROM numbers(10)",
    "CREATE VIEW facts.v AS SELECT team, sum(a) AS cents FROM facts.t GROUP BY team",
    "CREATE TABLE other.t (a UInt64) ENGINE = MergeTree ORDER BY a",
  ])
    await service.command({ query });
  const bi = { url: `http://127.0.0.1:${port}`, username: "bi", password: "s3cret" };
  const everything = { ...bi, username: "both", password: "b0th" };
  const said = async (body: string, query = "", as = bi) =>
    (await sendRequest(as, `/?${query}`, { body })).body.toString("utf8");

  await t.test("the engine's time zone is UTC, whatever the host's is", async (t) => {
    t.equal(
      await said("SELECT timezone(), serverTimezone(), toString(toDateTime(0))"),
      "UTC\tUTC\t1970-01-01 00:00:00\n",
    );
    const { headers } = await sendRequest(bi, "/", { body: "SELECT 1" });
    t.equal(headers["x-clickhouse-timezone"], "UTC");
    t.equal((await sendRequest(under.endpoint, "/", { body: "SELECT timezone()" })).body.toString(), "UTC\n");
  });

  await t.test("SETTINGS at the end of a statement apply, before and after FORMAT", async (t) => {
    const threads = "SELECT getSetting('max_threads')";
    t.equal(await said(`${threads} SETTINGS max_threads = 1`), "1\n");
    t.equal(await said(`${threads} FORMAT TSV SETTINGS max_threads = 1`), "1\n");
    t.equal(
      await said(`${threads} AS x settings max_threads=1, max_block_size=7 format JSONEachRow`),
      '{"x":1}\n',
    );
    t.equal(await said(`${threads} UNION ALL ${threads} SETTINGS max_threads = 1`), "1\n1\n");
    t.equal(await said("SELECT 1, 2 SETTINGS format_csv_delimiter = ';' FORMAT CSV"), "1;2\n");
    t.equal(await said("SELECT 1, 2 SETTINGS format_csv_delimiter = '\\t' FORMAT CSV"), "1\t2\n");
    t.equal(await said("SELECT 1 SETTINGS format_tsv_null_representation = 'né ''x''', extremes = 0"), "1\n");
    t.equal(await said("SELECT NULL SETTINGS format_tsv_null_representation = 'né ''x'''"), "né 'x'\n");
    t.equal(await said(`${threads} SETTINGS max_threads = DEFAULT`, "max_threads=1"), await said(threads));
    t.equal(await said("SELECT 1 AS settings, settings = 1 AS `SETTINGS` FORMAT CSV"), "1,1\n");
    t.equal(await said("SELECT getSetting('log_comment') LIKE '%mine' SETTINGS log_comment = 'mine'"), "1\n");
    t.equal(await said("SELECT 1 SETTINGS readonly = 1"), "1\n");
    t.match(await said("EXPLAIN SELECT 1 SETTINGS max_threads = 1"), /ReadFrom/);
  });

  await t.test("ad-hoc filters of Grafana apply within the user's role", async (t) => {
    const filtered = (filters: string) =>
      `SELECT count() FROM facts.t SETTINGS additional_table_filters = ${filters}`;
    t.equal(await said(filtered("{'facts.t': 'a > 6'}")), "3\n");
    t.equal(await said(filtered("{'facts.t' : ' team = \\'it\\\\\\'s\\' '}")), "3\n");
    t.equal(await said(filtered("{'facts.t': 'a IN (SELECT max(number) FROM numbers(4))'}")), "1\n");
    t.equal(await said(filtered("{}")), "10\n");
    t.equal(
      await said(
        "SELECT sum(cents) FROM v SETTINGS additional_table_filters = {'facts.v': 'team = \\'b\\''}",
      ),
      "42\n",
    );
    t.equal(
      await said("SELECT count() FROM t", `additional_table_filters=${encodeURIComponent("{'t': 'a = 1'}")}`),
      "1\n",
    );
    t.equal(await said(`${filtered("{'facts.t': 'a > 6'}")} FORMAT TSV`), "3\n");
    t.equal(
      await said("SHOW DATABASES SETTINGS additional_table_filters = {'system.databases': '1'}"),
      "facts\n",
    );
    t.equal(
      await said(
        "SELECT name FROM system.tables",
        `additional_table_filters=${encodeURIComponent("{'system.tables': '1'}")}`,
      ),
      "t\nv\n",
    );
    const many = Array.from({ length: 101 }, (_, index) => `'t${index}': '1'`).join(", ");
    t.match(await said(filtered(`{${many}}`)), /^Code: 36\. .*more than 100 filters/);
    t.match(await said(filtered("{'facts.t': 'a >'}")), /^Code: 62\. /);
  });

  await t.test("SET and USE apply to the following statements of a session", async (t) => {
    const session = "session_id=s1";
    const threads = "SELECT getSetting('max_threads'), currentDatabase()";
    t.equal(await said("SET max_threads = 1", session), "");
    t.equal(await said("USE other", session, everything), "");
    t.equal(await said(threads, session), "1\tfacts\n");
    t.equal(await said("SELECT currentDatabase()", session, everything), "other\n");
    t.equal(await said("SELECT currentDatabase()", `${session}&database=facts`, everything), "facts\n");
    t.equal(await said("SET format_csv_delimiter = ';', max_block_size = 9", session), "");
    t.equal(await said("SELECT 1, 2 FORMAT CSV", session), "1;2\n");
    t.equal(await said("SELECT 1, 2 FORMAT CSV", `${session}&format_csv_delimiter=,`), "1,2\n");
    t.equal(await said("SET format_csv_delimiter = DEFAULT", session), "");
    t.equal(await said("SELECT 1, 2 FORMAT CSV", session), "1,2\n");
    t.equal(await said(threads, session), "1\tfacts\n");
    t.equal(
      await said("SELECT 1, 2 FORMAT CSV", session, everything),
      "1,2\n",
      "a session belongs to its user",
    );
    t.equal(await said("SET max_threads = 1"), "");
    t.not(
      await said("SELECT getSetting('max_threads')"),
      await said("SELECT 1 SETTINGS max_threads = 1 FORMAT Null"),
    );
    t.match(await said("USE other", session), /^Code: 81\. .*Database other does not exist/);
    t.equal(await said("SELECT currentDatabase()", session), "facts\n");
    t.match(await said("SET max_block_size = 'x'", session), /^Code: \d+\. DB::Exception/);
    t.equal(
      await said("SELECT getSetting('max_block_size')", session),
      "9\n",
      "a value that the engine refuses is not kept",
    );
    t.match(
      await said(`SET log_comment = '${"x".repeat(17_000)}'`, session),
      /^Code: 36\. .*longer than 16384/,
    );
    t.equal(await said("SET TIME ZONE 'Asia/Tokyo'", session), "");
    t.equal(await said("SELECT timezone()", session), "Asia/Tokyo\n");
  });

  await t.test("each statement runs in the user's role, and can set nothing", async (t) => {
    for (const user of [bi, everything]) {
      t.equal(
        await said("SELECT currentRoles(), enabledRoles()", "", user),
        `${`['${roleOf(user.username)}']\t`.repeat(2).trimEnd()}\n`,
      );
      t.equal(await said("SELECT getSetting('readonly')", "readonly=2", user), "1\n");
    }
  });

  await t.test("SHOW GRANTS lists what the user may read", async (t) => {
    t.equal(await said("SHOW GRANTS"), "GRANT SELECT ON facts.* TO bi\n");
    t.equal(await said("SHOW GRANTS FOR CURRENT_USER"), "GRANT SELECT ON facts.* TO bi\n");
    t.equal(
      await said("SHOW GRANTS FORMAT CSVWithNames", "", everything),
      '"GRANTS"\n"GRANT SELECT ON facts.* TO both"\n"GRANT SELECT ON other.* TO both"\n',
    );
  });

  await t.test("a lowered max_execution_time ends functions that do not check the time", async (t) => {
    const slow = "SELECT hasAny(range(300000), range(300000, 600000)), ignore(now())";
    for (const [body, query] of [
      [`${slow} SETTINGS max_execution_time = 1`, ""],
      [slow, "max_execution_time=1"],
      [slow, "session_id=slow"],
    ] as const) {
      if (query === "session_id=slow") await said("SET max_execution_time = 1", query);
      const started = performance.now();
      t.match(await said(body, query), /^Code: 159\. .*TIMEOUT_EXCEEDED/, query);
      t.ok(performance.now() - started < 20_000, `${query}: ${performance.now() - started} ms`);
    }
    const partial = "SELECT number FROM numbers(100000000000) WHERE number % 100000000 = 1";
    const { status, body } = await sendRequest(bi, "/?max_execution_time=1&timeout_overflow_mode=break", {
      body: partial,
    });
    t.equal(status, 200);
    t.match(body.toString(), /^1\n(\d+\n)*$/);
  });
});

t.test(
  "a session expires a timeout after its last SET or USE, and the oldest session is evicted first",
  async (t) => {
    let now = 0;
    const memory = createSessionMemory(() => now, 2);
    const threads = (value: string) => ({ database: undefined, settings: new Map([["max_threads", value]]) });
    const of = (user: string, id: string) => memory.of(user, id).settings.get("max_threads");
    memory.remember("a", "1", threads("1"), 60);
    memory.remember("b", "1", threads("2"), 60);
    t.equal(of("a", "1"), "1");
    t.equal(of("b", "1"), "2");
    now = 59_999;
    t.equal(of("a", "1"), "1");
    now = 60_000;
    t.equal(of("a", "1"), undefined);
    for (const id of ["2", "3", "4"]) memory.remember("a", id, threads(id), 60);
    memory.remember("b", "2", threads("5"), 60);
    t.equal(of("a", "2"), undefined, "the oldest of three sessions was evicted");
    t.equal(of("a", "3"), "3");
    t.equal(of("a", "4"), "4");
    t.equal(of("b", "2"), "5", "each user has sessions of its own");
  },
);
