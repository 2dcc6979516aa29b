/** The engine is killed many times while it replaces partitions. A day never has rows of two versions, or none. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import t, { type Test } from "tap";
import { replacesPartitions } from "../../src/embedded-clickhouse/server/partition-replacement-log.js";
import { createEmbeddedClickHouse } from "../../src/embedded-clickhouse/supervisor.js";
import { engineResponseText, quietClient } from "../clickhouse/engine-under-test.js";
import { until } from "../until.js";

const DAYS = Array.from({ length: 8 }, (_, i) => `2026-01-0${i + 1}`);
const SWAP = `ALTER TABLE f ${DAYS.map((day) => `REPLACE PARTITION '${day}' FROM s`).join(", ")}`;
/** The rows of a day's two parts. */
const PARTS = [50, 60] as const;
const KILLS = 12;

async function folder(t: Test): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "replacements-"));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Starts an engine on the folder, and records its output. */
async function opened(t: Test, dataDir: string, database = "d") {
  const said: string[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => void said.push(JSON.parse(line).text) });
  const engine = createEmbeddedClickHouse({ dataDir, logger });
  t.teardown(() => engine.stop());
  const client = quietClient(t, await engine.endpoint(), database);
  return { engine, client, said };
}

t.test(
  "an engine that is killed at any moment of a replacement completes it at its next start",
  async (t) => {
    const dataDir = await folder(t);
    const notes = async () => (await readdir(join(dataDir, "replacements"))).length;
    let { engine, client, said } = await opened(t, dataDir, "default");
    await client.command({ query: "CREATE DATABASE d" });
    client = quietClient(t, await engine.endpoint(), "d");
    for (const table of ["f", "s"])
      await client.command({
        query: `CREATE TABLE ${table} (day Date, version UInt32, a UInt64) ENGINE = MergeTree PARTITION BY day ORDER BY a`,
      });
    const stage = async (version: number) => {
      await client.command({ query: "TRUNCATE TABLE s" });
      for (const rows of PARTS)
        await client.command({
          query: `INSERT INTO s SELECT toDate('${DAYS[0]}') + number % ${DAYS.length}, ${version}, number FROM numbers(${rows * DAYS.length})`,
        });
    };
    const shown = async () =>
      await engineResponseText(
        client,
        "SELECT day, groupUniqArray(version), count() FROM f GROUP BY day ORDER BY day",
      );
    const ofVersion = (version: number) => DAYS.map((day) => `${day}\t[${version}]\t110`).join("\n");
    await stage(0);
    await client.command({ query: SWAP });
    t.equal(await notes(), 0, "the note of a completed statement is removed");

    const ended = { finished: 0, notBegun: 0 };
    for (let version = 1; version <= KILLS; version += 1) {
      await stage(version);
      const swapped = client.command({ query: SWAP }).catch(() => undefined);
      await until("the statement is written down", async () => (await notes()) > 0);
      // The kills are spread from the start of the statement to about its end.
      await delay((version / KILLS) * 30);
      process.kill(engine.pid() ?? 0, "SIGKILL");
      const noted = await notes();
      await swapped;
      await engine.stop();
      ({ engine, client, said } = await opened(t, dataDir));
      t.equal(await notes(), 0);
      t.strictSame(said, []);
      const now = await shown();
      // A kill after the creation of the note's file and before its content counts as one before the statement.
      const left = noted === 1 && now === ofVersion(version - 1) ? "notBegun" : "finished";
      t.equal(now, ofVersion(left === "notBegun" ? version - 1 : version), `kill ${version}`);
      ended[left] += 1;
      await client.command({ query: SWAP });
    }
    t.ok(ended.finished >= KILLS / 2, `the next engine completed most of them: ${ended.finished}`);
  },
);

t.test("a replacement that cannot be rerun is reported, and the engine starts anyway", async (t) => {
  const dataDir = await folder(t);
  const notes = join(dataDir, "replacements");
  await mkdir(notes, { recursive: true });
  const sql = "ALTER TABLE gone REPLACE PARTITION '2026-01-01' FROM elsewhere";
  const note = { sql, database: "default", settings: [], parameters: [] };
  await writeFile(join(notes, "1.json"), JSON.stringify(note));
  await writeFile(join(notes, "2.json"), JSON.stringify(note).slice(0, 20));
  const { client, said } = await opened(t, dataDir, "default");
  t.equal(await engineResponseText(client, "SELECT 1"), "1");
  await until("it is said", () => said.length > 0);
  t.equal(said.length, 1);
  t.ok(said[0]?.startsWith(`Could not finish a statement that was interrupted: ${sql}: `), String(said[0]));
  t.strictSame(await readdir(notes), []);
});

t.test("a statement is rerun with its settings and parameters", async (t) => {
  const dataDir = await folder(t);
  const first = await opened(t, dataDir, "default");
  const create =
    "(day Date, a UInt64) ENGINE = MergeTree PARTITION BY day ORDER BY a AS SELECT toDate('2026-01-01') AS day, ";
  await first.client.command({ query: `CREATE TABLE f ${create} 1 AS a` });
  await first.client.command({ query: `CREATE TABLE s ${create} 2 AS a` });
  await first.client.command({ query: "TRUNCATE TABLE s" });
  await first.engine.stop();
  const note = {
    sql: "ALTER TABLE f REPLACE PARTITION {day:String} FROM s",
    database: "default",
    settings: [["allow_replace_partition_from_empty_source", "1"]],
    parameters: [["day", "2026-01-01"]],
  };
  await writeFile(join(dataDir, "replacements", "1.json"), JSON.stringify(note));
  const { client, said } = await opened(t, dataDir, "default");
  t.equal(await engineResponseText(client, "SELECT count() FROM f"), "0");
  t.strictSame(said, []);
});

t.test("only statements that replace partitions are recorded", (t) => {
  const cases: readonly (readonly [string, boolean])[] = [
    ["ALTER TABLE f REPLACE PARTITION '2026-01-01' FROM s", true],
    ["alter table f drop partition 1, replace /* x */ partition 2 from s", true],
    ["ALTER TABLE f MODIFY COMMENT 'REPLACE PARTITION'", false],
    ["ALTER TABLE f DROP PARTITION 1", false],
    ["ALTER TABLE replace DROP PARTITION 1", false],
    ["SELECT 1 AS replace, 2 AS partition", false],
    ["SELECT replace partition", false],
    ["", false],
  ];
  for (const [sql, expected] of cases) t.equal(replacesPartitions(sql), expected, sql);
  t.end();
});
