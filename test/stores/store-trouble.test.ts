/** Errors of the real stores show whether a store cannot work, and decide the response of the API. */
import t from "tap";
import { readRows } from "../../src/clickhouse/statement.js";
import { storeInTrouble } from "../../src/stores/store-trouble.js";
import { get, insertChargebacks, startService } from "../http/service.js";
import { recordTestDimensions, sendTagRequest } from "../tags/tagging.js";
import { until } from "../until.js";

const raise = (message: string, code: string) =>
  `DO $$ BEGIN RAISE EXCEPTION '${message}' USING ERRCODE = '${code}'; END $$`;

t.test("errors of a store that cannot work are recognised", async (t) => {
  const { app, stores } = await startService(t);
  const { postgres } = stores;
  const { client } = await stores.tenant("acme");
  const caught = async (run: () => Promise<unknown>) => {
    try {
      await run();
    } catch (error) {
      return storeInTrouble(error) ?? "not the store";
    }
    return "no error";
  };

  for (const [code, name, whose] of [
    [243, "NOT_ENOUGH_SPACE", "ClickHouse"],
    [202, "TOO_MANY_SIMULTANEOUS_QUERIES", "ClickHouse"],
    [242, "TABLE_IS_READ_ONLY", "ClickHouse"],
    [999, "KEEPER_EXCEPTION", "ClickHouse"],
    [252, "TOO_MANY_PARTS", "ClickHouse"],
    [497, "ACCESS_DENIED", "ClickHouse"],
    [241, "MEMORY_LIMIT_EXCEEDED", "not the store"],
    [60, "UNKNOWN_TABLE", "not the store"],
    [407, "DECIMAL_OVERFLOW", "not the store"],
  ] as const) {
    const query = `SELECT throwIf(1, 'as it says', ${code}::Int16) SETTINGS allow_custom_error_code_in_throwif = 1`;
    t.equal(await caught(() => readRows(client, { query, params: {} })), whose, name);
  }
  for (const [sql, whose] of [
    ["DO $$ BEGIN RAISE disk_full; END $$", "Postgres"],
    ["DO $$ BEGIN RAISE too_many_connections; END $$", "Postgres"],
    ["DO $$ BEGIN RAISE io_error; END $$", "Postgres"],
    [raise("could not extend file: Disk quota exceeded", "XX000"), "Postgres"],
    [raise("Disk quota exceeded", "P0001"), "not the store"],
    [raise("cache lookup failed", "XX000"), "not the store"],
    ["BEGIN READ ONLY; CREATE TABLE t (); COMMIT", "Postgres"],
    ["SELECT 1 / 0", "not the store"],
    ["SELECT nothing", "not the store"],
  ] as const)
    t.equal(await caught(() => postgres.query(sql)), whose, sql);
  t.equal(
    storeInTrouble(new Error("no space left on device")),
    undefined,
    "the text of an error alone does not decide",
  );
  t.equal(storeInTrouble("ENOSPC"), undefined);

  await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1" }]);
  await recordTestDimensions(stores, "acme");
  const { body } = await get(
    app,
    "/api/v1/tenants/acme/chargebacks?start_date=2026-03-01&end_date=2026-03-01",
  );
  const tag = () =>
    sendTagRequest(app, "POST", `acme/chargebacks/${body.items[0].dimension_id}/tags`, {
      tag_key: "team",
      display_name: "web",
      created_by: "test",
    });
  await postgres.query("ALTER SYSTEM SET default_transaction_read_only = on");
  await postgres.query("SELECT pg_reload_conf()");
  await until("Postgres is read-only", async () => (await tag()).status === 503);
  const refused = await tag();
  t.strictSame(
    [refused.status, refused.body.code, refused.body.detail],
    [
      503,
      "store_unavailable",
      "The store of this data is not working. See the service log for this error_id.",
    ],
  );
});
