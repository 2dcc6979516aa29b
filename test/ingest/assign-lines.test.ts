/** Assigns rules to staged lines, only on the requested days. */
import t from "tap";
import { claimStaging, stagedTable } from "../../src/clickhouse/staging.js";
import { readRows } from "../../src/clickhouse/statement.js";
import { planAllocation } from "../../src/config/allocation/plan.js";
import { ruleColumns } from "../../src/domain/rule-columns.js";
import { assignLines, unassignLines } from "../../src/ingest/configured/assign-lines.js";
import { openTestStores } from "../stores.js";

const epoch = 1;
const signal = new AbortController().signal;

const plan = planAllocation(
  {
    allocation: {
      decimal_places: 4,
      pass_on: [],
      identity: [{ tag: "team" }],
      rules: [{ name: "compute", where: { product_type: "COMPUTE" }, split: [{ by: "line" }] }],
    },
    identity_maps: new Map(),
    line_columns: ruleColumns(),
  },
  [],
);

t.test("lines of other days are not rewritten, and no temporary table stays behind", async (t) => {
  if (plan === undefined) throw new Error("no plan");
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  await claimStaging(client, epoch);
  const staged = stagedTable("billing", epoch);
  await client.command({
    query: `INSERT INTO ${staged} (timestamp, resource_id, product_type, line_tags, total_cost)
      SELECT toDateTime('2026-05-01', 'UTC') + INTERVAL number % 3 DAY, toString(number), if(number < 3, 'COMPUTE', 'OTHER'), map('team', 'web'), number
      FROM numbers(6)`,
  });
  const rows = async <Row>(query: string) => await readRows<Row>(client, { query, params: {} });
  const lines = async () =>
    (
      await rows<{ line: string }>(
        `SELECT concat_ws(' ', toString(day), resource_id, rule, named_identity, toString(total_cost)) AS line FROM ${staged} ORDER BY line`,
      )
    ).map(({ line }) => line);
  const partOf = async (day: string) =>
    await rows(
      `SELECT name FROM system.parts WHERE database = currentDatabase() AND table = '${staged}' AND active AND partition = '${day}'`,
    );
  const untouched = await partOf("2026-05-03");
  const before = await lines();

  await assignLines({ client, epoch, signal, days: ["2026-05-01", "2026-05-02", "2026-06-01"] }, plan);
  t.strictSame(await lines(), [
    "2026-05-01 0 compute web 0",
    "2026-05-01 3  web 3",
    "2026-05-02 1 compute web 1",
    "2026-05-02 4  web 4",
    "2026-05-03 2   2",
    "2026-05-03 5   5",
  ]);
  t.strictSame(await partOf("2026-05-03"), untouched);

  const assigned = await partOf("2026-05-02");
  await unassignLines({ client, epoch, signal, days: ["2026-05-01", "2026-05-03"] });
  t.strictSame(
    (await lines()).filter((line) => !line.startsWith("2026-05-02")),
    before.filter((line) => !line.startsWith("2026-05-02")),
  );
  t.strictSame([await partOf("2026-05-02"), await partOf("2026-05-03")], [assigned, untouched]);

  const copies =
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'assigned%'";
  t.strictSame(await rows(copies), []);
  await client.command({ query: `CREATE TABLE rewritten_days AS ${staged}` });
  await claimStaging(client, epoch + 1);
  t.strictSame(await rows(copies), [], "the next holder of the lease drops the tables of a killed run");
});
