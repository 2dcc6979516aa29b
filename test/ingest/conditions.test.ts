/**
 * Conditions of configured rules, evaluated by the engine: bounds are exclusive, and `*` is the only wildcard of a
 * glob.
 */
import t from "tap";
import { readRows } from "../../src/clickhouse/statement.js";
import { type WrittenWhere, whereOf } from "../../src/config/allocation/condition.js";
import { ruleColumns } from "../../src/domain/rule-columns.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { whereSql } from "../../src/ingest/configured/condition-sql.js";
import { testLogger } from "../stores.js";

const columns = ruleColumns({ cost: { sql: "total_cost", type: "decimal" } });
const lines = [
  ["below", "10.499999999999", "r_1"],
  ["exact", "10.5", "rx1"],
  ["above", "10.500000000001", "50%"],
  ["refund", "-10.5", "50 percent"],
  ["zero", "0", String.raw`a\b`],
] as const;

t.test("conditions of a rule select the expected lines", async (t) => {
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());
  await engine.client.command({
    query: `CREATE TABLE lines (name String, total_cost Decimal(38, 12), resource_id String, product_type String, line_tags Map(String, String))
      ENGINE = Memory`,
  });
  await engine.client.insert({
    table: "lines",
    values: lines.map(([name, total_cost, resource_id]) => ({ name, total_cost, resource_id })),
    format: "JSONEachRow",
  });
  const taken = async (where: WrittenWhere) => {
    const query = `SELECT name FROM lines WHERE ${whereSql(whereOf(where), columns)} ORDER BY name`;
    return (await readRows<{ name: string }>(engine.client, { query, params: {} })).map(({ name }) => name);
  };

  await t.test("a cost exactly at a bound is neither above nor below it", async (t) => {
    t.strictSame(await taken({ cost: { above: "10.5" } }), ["above"]);
    t.strictSame(await taken({ cost: { below: "10.5" } }), ["below", "refund", "zero"]);
    t.strictSame(await taken({ cost: { above: "10.499999999999", below: "10.500000000001" } }), ["exact"]);
    t.strictSame(await taken({ cost: { above: "0" } }), ["above", "below", "exact"]);
    t.strictSame(await taken({ cost: { below: "0" } }), ["refund"]);
    t.strictSame(await taken({ cost: { below: "-10.5" } }), []);
  });

  await t.test("an underscore, a percent sign and a backslash in a glob match themselves", async (t) => {
    t.strictSame(await taken({ resource_id: "r_*" }), ["below"]);
    t.strictSame(await taken({ resource_id: "50%*" }), ["above"]);
    t.strictSame(await taken({ resource_id: "*%" }), ["above"]);
    t.strictSame(await taken({ resource_id: String.raw`a\*` }), ["zero"]);
    t.strictSame(await taken({ resource_id: "r*1" }), ["below", "exact"]);
    t.strictSame(await taken({ resource_id: "*" }), ["above", "below", "exact", "refund", "zero"]);
    t.strictSame(
      await taken({ resource_id: "r_1" }),
      ["below"],
      "a pattern without a wildcard matches the whole text",
    );
    t.strictSame(await taken({ resource_id: { not: ["r_*", "50%*"] } }), ["exact", "refund", "zero"]);
  });

  await t.test("a rule matches if all of its conditions and one of its alternatives match", async (t) => {
    t.strictSame(
      await taken({ cost: { above: "0" }, any: [{ resource_id: "rx*" }, { resource_id: "50*" }] }),
      ["above", "exact"],
    );
    t.strictSame(await taken({}), ["above", "below", "exact", "refund", "zero"]);
  });
});
