/** A client library of another author works: @apla/clickhouse, which does many things in its own way. */
import { createRequire } from "node:module";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import t from "tap";
import { portOfSocket, startEngine } from "../clickhouse/engine-under-test.js";

/** The part of the untyped library that is used here. */
interface AplaClient {
  querying(
    sql: string,
    options?: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly data: unknown[]; readonly rows: number }>;
  pinging(): Promise<unknown>;
  query(sql: string, options: Readonly<Record<string, unknown>>): Readable;
  query(
    sql: string,
    options: Readonly<Record<string, unknown>>,
    done: (error: Error | null) => void,
  ): Writable;
}

const ClickHouse: new (options: object) => AplaClient = createRequire(import.meta.url)("@apla/clickhouse");

t.test("the client @apla/clickhouse works with the embedded engine", async (t) => {
  const { endpoint } = await startEngine(t);
  const client = new ClickHouse({
    host: "127.0.0.1",
    port: await portOfSocket(t, endpoint.socketPath),
    user: endpoint.username,
    password: endpoint.password,
    queryOptions: { output_format_json_quote_64bit_integers: 0 },
  });

  await t.test("@apla/clickhouse can ping the embedded engine", async (t) => {
    await t.resolves(client.pinging());
  });

  await t.test("@apla/clickhouse creates a table, inserts a stream and reads rows", async (t) => {
    await client.querying("CREATE DATABASE d");
    await client.querying("CREATE TABLE d.t (a UInt32, b String) ENGINE = MergeTree ORDER BY a");
    await new Promise<void>((resolve, reject) => {
      const rows = client.query("INSERT INTO d.t", { format: "TSV" }, (error) =>
        error ? reject(error) : resolve(),
      );
      for (let a = 0; a < 1000; a += 1) rows.write([a, `it's\t${a}`]);
      rows.end();
    });
    const { data, rows } = await client.querying("SELECT a, b FROM d.t WHERE a < 2 ORDER BY a");
    t.equal(rows, 2);
    t.same(data, [
      [0, "it's\t0"],
      [1, "it's\t1"],
    ]);
  });

  await t.test("@apla/clickhouse streams a long result", async (t) => {
    const stream = client.query("SELECT number FROM numbers(200000)", { format: "JSON" });
    let rows = 0;
    stream.on("data", () => {
      rows += 1;
    });
    // A duplex whose writing side never ends.
    await finished(stream, { writable: false });
    t.equal(rows, 200_000);
  });

  await t.test("@apla/clickhouse receives errors", async (t) => {
    await t.rejects(client.querying("SELECT * FROM nothing"), { message: /nothing/ });
  });
});
