/** Tests on an engine which settings the service's client always sends. */
import t from "tap";
import { openClickHouseClient } from "../../src/clickhouse/client.js";
import { startEngine } from "./engine-under-test.js";

t.test("the client of the service reads and writes exact values", async (t) => {
  const { endpoint } = await startEngine(t);
  const owner = openClickHouseClient({ ...endpoint, database: "default", applicationName: "test" });
  await owner.command({ query: "CREATE DATABASE mine" });
  await owner.close();
  const client = openClickHouseClient({ ...endpoint, database: "mine", applicationName: "test" });
  t.teardown(() => client.close());
  const read = async (query: string) => await (await client.query({ query, format: "JSONEachRow" })).json();

  await t.test("the client keeps all digits of numbers", async (t) => {
    t.same(
      await read(
        "SELECT toUInt64('18446744073709551615') AS u, toDecimal128('12345678901234567890.000000000001', 12) AS d",
      ),
      [{ u: "18446744073709551615", d: "12345678901234567890.000000000001" }],
    );
  });

  await t.test("the client writes and reads times as ISO 8601", async (t) => {
    await client.command({ query: "CREATE TABLE times (at DateTime('UTC')) ENGINE = MergeTree ORDER BY at" });
    await client.insert({ table: "times", values: [{ at: "2026-01-01T05:00:00Z" }], format: "JSONEachRow" });
    t.same(await read("SELECT at FROM times"), [{ at: "2026-01-01T05:00:00Z" }]);
  });

  await t.test("the client uses its default database", async (t) => {
    t.same(await read("SELECT currentDatabase() AS d"), [{ d: "mine" }]);
  });

  await t.test("an insert is on disk when its response is sent", async (t) => {
    const settings =
      "SELECT name, value FROM system.merge_tree_settings WHERE name IN ('fsync_after_insert', 'fsync_part_directory') ORDER BY name";
    t.same(await read(settings), [
      { name: "fsync_after_insert", value: "1" },
      { name: "fsync_part_directory", value: "1" },
    ]);
    t.same(await read("SELECT toString(getSetting('async_insert')) AS a"), [{ a: "false" }]);
  });

  await t.test("an error of the client has the engine's code and type", async (t) => {
    await t.rejects(read("SELECT * FROM nothing"), { code: "60", type: "UNKNOWN_TABLE" });
  });
});
