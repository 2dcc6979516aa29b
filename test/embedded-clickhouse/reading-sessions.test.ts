/** Reads of the service reuse sessions, and no state of one reaches the next. */
import type { ClickHouseSettings } from "@clickhouse/client";
import t from "tap";
import { type Params, readRows, readSettings } from "../../src/clickhouse/statement.js";
import type { EngineSession } from "../../src/embedded-clickhouse/server/engine.js";
import { readingSessions, sessionKey } from "../../src/embedded-clickhouse/server/reading-sessions.js";
import { quietClient, startEngine } from "../clickhouse/engine-under-test.js";
import { until } from "../until.js";

t.test("reads that reuse a session do not affect each other", async (t) => {
  const { endpoint } = await startEngine(t);
  const client = quietClient(t, endpoint);
  const read = async (query: string, params: Params = {}, settings: ClickHouseSettings = {}) =>
    await readRows<{ value: unknown }>(client, { query, params }, undefined, settings);
  const one = async (...requested: Parameters<typeof read>) => (await read(...requested))[0]?.value;

  await t.test("a read in a reused session has only its own parameters", async (t) => {
    t.equal(await one("SELECT {a:UInt8} + {b:UInt8} AS value", { a: 1, b: 2 }), 3);
    t.equal(await one("SELECT {a:UInt8} + {b:UInt8} AS value", { a: 10, b: 20 }), 30);
    t.equal(await one("SELECT {b:String} AS value", { b: "it's" }), "it's");
    for (const params of [{}, { a: 1 }, { b: 1 }, { c: 1 }, { a: 1, c: 1 }])
      await t.rejects(
        read("SELECT {a:UInt8} + {b:UInt8} AS value", params),
        { code: "456" },
        JSON.stringify(params),
      );
  });

  await t.test("a read in a reused session has only its own settings", async (t) => {
    const threads = "SELECT toUInt32(getSetting('max_block_size')) AS value";
    const usual = await one(threads);
    t.equal(await one(threads, {}, { max_block_size: "1234" }), 1234);
    t.equal(await one(threads), usual);
    t.equal(await one(`${threads} SETTINGS max_block_size = 4321`), 4321);
    t.equal(await one(threads), usual);
  });

  await t.test("a read in a reused session has its own mark, followed by the client's comment", async (t) => {
    const comment = async (query_id: string, log_comment: string) => {
      const query = "SELECT getSetting('log_comment') AS value";
      const clickhouse_settings = { ...readSettings, log_comment };
      const response = await client.query({ query, query_id, clickhouse_settings, format: "JSONEachRow" });
      const [row] = await response.json<{ value: string }>();
      return row?.value.replace(/^\/\*q:[0-9a-f]{16} /, "");
    };
    t.equal(await comment("first", "one"), "query_id:first*/ one");
    t.equal(await comment("second", "two"), "query_id:second*/ two");
  });

  await t.test("a read in a reused session uses its own database", async (t) => {
    await client.command({ query: "CREATE DATABASE other" });
    const other = quietClient(t, endpoint, "other");
    const query = "SELECT currentDatabase() AS value";
    for (const [of, name] of [
      [client, "default"],
      [other, "other"],
      [client, "default"],
    ] as const)
      t.strictSame(await readRows(of, { query, params: {} }), [{ value: name }]);
  });

  await t.test("a read in a reused session is refused like the previous one", async (t) => {
    const unknown = { no_such_setting: "1" } as ClickHouseSettings;
    for (let turn = 0; turn < 3; turn++)
      await t.rejects(read("SELECT 1 AS value", {}, unknown), { code: "115" });
  });

  await t.test("a read gets no output of a previous read that failed among its rows", async (t) => {
    for (let turn = 0; turn < 5; turn++) {
      const failing = "SELECT throwIf(number = 900000, 'wanted') AS value FROM numbers(1000000)";
      await t.rejects(read(failing), /wanted/);
      t.strictSame(await read("SELECT 1 AS value"), [{ value: 1 }]);
    }
  });

  await t.test("a read gets no output of a cancelled read, and is not stopped instead of it", async (t) => {
    const slow = "SELECT sleepEachRow(0.05) AS value FROM numbers(1000) SETTINGS max_block_size = 1";
    const running = "SELECT count() AS value FROM system.processes WHERE query LIKE '%sleepEachRow(0.05)%'";
    for (let turn = 0; turn < 5; turn++) {
      const ending = new AbortController();
      const given = t.rejects(readRows(client, { query: slow, params: {} }, ending.signal), /aborted/);
      // The query finds itself among the results.
      await until("the slow read runs", async () => Number(await one(running)) > 1);
      ending.abort();
      await given;
      for (let again = 0; again < 5; again++) t.strictSame(await read("SELECT 1 AS value"), [{ value: 1 }]);
    }
  });

  await t.test("a reused session stays read-only", async (t) => {
    await client.command({ query: "CREATE TABLE written (a UInt8) ENGINE = Memory" });
    t.equal(await one("SELECT 1 AS value"), 1);
    const write = (settings: ClickHouseSettings) =>
      client.command({ query: "INSERT INTO written SELECT 1", clickhouse_settings: settings });
    await t.rejects(write(readSettings), { code: "164" });
    await write({});
    t.equal(await one("SELECT toUInt8(count()) AS value FROM written"), 1);
  });

  await t.test("concurrent reads in reused sessions get their own results", async (t) => {
    const numbers = Array.from({ length: 400 }, (_, number) => number);
    const found = await Promise.all(
      numbers.map((n) => one("SELECT {n:UInt32} + 1 AS value", { n }, n % 3 === 0 ? { max_threads: 1 } : {})),
    );
    t.strictSame(
      found,
      numbers.map((number) => number + 1),
    );
  });
});

t.test("the most recently used sessions are kept, up to a limit", async (t) => {
  const closed: string[] = [];
  const session = (name: string): EngineSession => ({
    run: () => Promise.reject(new Error(name)),
    write: () => Promise.reject(new Error(name)),
    close: () => void closed.push(name),
  });
  const [a, b, c] = [session("a"), session("b"), session("c")];
  const of = (database: string) =>
    sessionKey({
      database,
      settings: new Map<string, string>(),
      parameters: new Map<string, string>(),
    });
  const kept = readingSessions(2);
  kept.give(of("1"), a);
  kept.give(of("2"), b);
  t.equal(kept.take(of("3")), undefined);
  t.equal(kept.take(of("1")), a);
  t.equal(kept.take(of("1")), undefined, "a session is used by one read at a time");
  kept.give(of("1"), a);
  kept.give(of("1"), c);
  t.strictSame(closed, ["b"]);
  kept.closeAll();
  t.strictSame(closed.sort(), ["a", "b", "c"]);
  t.equal(kept.take(of("1")), undefined);
});
