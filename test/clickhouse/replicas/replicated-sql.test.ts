import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { replicated } from "../../../src/clickhouse/replicas/replicated-sql.js";
import { literal } from "../../../src/clickhouse/sql-text.js";
import { splitStatements } from "../../../src/common/migrate/statements.js";
import { migrationFolders } from "../../../src/stores/open-stores.js";
import { engineResponseText, quietClient, startEngine } from "../engine-under-test.js";

t.test("engines of the MergeTree family become replicated, with their parameters", async (t) => {
  const cases = [
    ["CREATE TABLE a (b UInt8) ENGINE = MergeTree ORDER BY b", "ENGINE = ReplicatedMergeTree ORDER BY b"],
    ["ENGINE=ReplacingMergeTree(v, d)", "ENGINE=ReplicatedReplacingMergeTree(v, d)"],
    ["ENGINE = AggregatingMergeTree", "ENGINE = ReplicatedAggregatingMergeTree"],
    ["ENGINE = `Null`", "ENGINE = `Null`"],
    ["ENGINE = ReplicatedMergeTree", "ENGINE = ReplicatedMergeTree"],
    ["ENGINE = SharedMergeTree", "ENGINE = SharedMergeTree"],
    ["x COMMENT 'ENGINE = MergeTree', -- ENGINE = MergeTree", undefined],
    ["`ENGINE = MergeTree` /* ENGINE = MergeTree */ 'it''s ENGINE = MergeTree'", undefined],
    ["SELECT 'a\\'b' ENGINE = MergeTree 'c'", "SELECT 'a\\'b' ENGINE = ReplicatedMergeTree 'c'"],
  ] as const;
  for (const [statement, expected = statement] of cases)
    t.ok(replicated(statement).endsWith(expected), `${statement} → ${replicated(statement)}`);
});

t.test("the schema becomes replicated", async (t) => {
  const folder = migrationFolders.clickhouse;
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
  const statements = files.flatMap(splitStatements);
  const engines = (each: string) => /\bENGINE = (\w+)/.exec(each)?.[1];

  await t.test("every table that stores rows becomes replicated", async (t) => {
    const tables = statements.filter((each) => engines(each) !== undefined);
    t.ok(tables.length >= 20, `${tables.length} tables`);
    for (const each of tables) t.equal(engines(replicated(each)), `Replicated${engines(each)}`);
    for (const each of statements.filter((one) => !tables.includes(one))) t.equal(replicated(each), each);
  });

  await t.test("the engine's parser accepts every replicated statement", async (t) => {
    const { endpoint } = await startEngine(t);
    const client = quietClient(t, endpoint);
    for (const each of statements) {
      const parsed = await engineResponseText(
        client,
        `SELECT formatQuerySingleLine(${literal(replicated(each))})`,
      );
      t.ok(/^(CREATE|ALTER TABLE|DROP VIEW) /.test(parsed), parsed.slice(0, 80));
    }
    await t.rejects(engineResponseText(client, "SELECT formatQuery('CREATE TABLE a (b) ENGINE = = x')"), {
      code: "62",
    });
  });
});
