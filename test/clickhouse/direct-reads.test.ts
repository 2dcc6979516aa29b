/**
 * Reads can bypass the client's transport to the embedded engine. Tests their parameters, errors and lost connections.
 */
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TupleParam } from "@clickhouse/client";
import * as fc from "fast-check";
import t from "tap";
import { openClickHouseClient, socketAgent } from "../../src/clickhouse/client.js";
import { readDirectly } from "../../src/clickhouse/direct-reads.js";
import { paramText } from "../../src/clickhouse/param-text.js";
import { readRows, streamRows } from "../../src/clickhouse/statement.js";
import { startEngine } from "./engine-under-test.js";

t.test("direct reads of the embedded engine equal those of the client", async (t) => {
  const { endpoint } = await startEngine(t);
  const client = openClickHouseClient({ ...endpoint, database: "default", applicationName: "test" });
  t.teardown(() => client.close());

  await t.test("a direct read returns parameters as they were sent", async (t) => {
    const special = fc.constantFrom(
      "'",
      "\\",
      "\n",
      "\r",
      "\t",
      "\\'",
      "\\N",
      "&",
      "%27",
      "+",
      "🙂",
      "]",
      ",",
    );
    const text = fc.array(fc.oneof(special, fc.string())).map((parts) => parts.join("").replaceAll("\0", ""));
    let quoted = 0;
    let escaped = 0;
    await fc.assert(
      fc.asyncProperty(text, fc.array(text), fc.integer(), async (one, list, number) => {
        if ([one, ...list].some((each) => each.includes("'"))) quoted += 1;
        if ([one, ...list].some((each) => each.includes("\\"))) escaped += 1;
        const found = await readRows(client, {
          query: `SELECT {one:String} AS one, {list:Array(String)} AS list, {number:Int64} AS number,
  arrayMap(each -> each.1, {tuples:Array(Tuple(String, UInt8))}) AS firsts`,
          params: { one, list, number, tuples: list.map((each) => new TupleParam([each, 1])) },
        });
        t.strictSame(found, [{ one, list, number, firsts: list }]);
      }),
      { numRuns: 150 },
    );
    t.ok(quoted > 20 && escaped > 20, `${quoted} with quotes, ${escaped} with backslashes`);
  });

  await t.test("a direct read returns booleans as they were sent", async (t) => {
    for (const one of [true, false]) {
      const list = [one, !one];
      const query = "SELECT {one:Bool} AS one, {list:Array(Bool)} AS list";
      t.strictSame(await readRows(client, { query, params: { one, list } }), [{ one, list }]);
    }
  });

  await t.test("a value that cannot be a parameter is refused", async (t) => {
    for (const value of [null, undefined, Number.NaN, {}, [null]])
      t.throws(() => paramText(value), { message: /^not a parameter of a statement: / });
  });

  await t.test("an error of a direct read has the engine's code and type", async (t) => {
    await t.rejects(readRows(client, { query: "SELECT nothing FROM nowhere", params: {} }), {
      code: "60",
      type: "UNKNOWN_TABLE",
    });
    t.strictSame(await readRows(client, { query: "SELECT 1 AS one", params: {} }), [{ one: 1 }]);
  });

  await t.test("an aborted signal ends a direct read with its reason", async (t) => {
    const leaving = new AbortController();
    const reason = new Error("gone");
    const reading = readRows(client, { query: "SELECT sleep(3)", params: {} }, leaving.signal);
    setTimeout(() => leaving.abort(reason), 100);
    await t.rejects(reading, reason);

    const leavingLater = new AbortController();
    let rows = 0;
    const streaming = async () => {
      const many = { query: "SELECT number FROM numbers(50000000)", params: {} };
      for await (const piece of streamRows(client, many, leavingLater.signal)) {
        rows += piece.length;
        leavingLater.abort(reason);
      }
    };
    await t.rejects(streaming(), reason);
    t.ok(rows > 0 && rows < 50_000_000, `${rows} rows had come`);
  });
});

t.test("a read is repeated if its idle connection was closed by the engine", async (t) => {
  const path = join(tmpdir(), `direct-reads-${process.pid}.sock`);
  let requests = 0;
  // Each connection carries one request, and the second one on it is cut off.
  const seen = new WeakSet<object>();
  const server = createServer((request, response) => {
    requests += 1;
    if (seen.has(request.socket)) return void request.socket.destroy();
    seen.add(request.socket);
    request.resume().on("end", () => response.end('["one"]\n["UInt8"]\n[1]\n'));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  const address = { url: "http://localhost", username: "u", password: "p", database: "d" };
  const client = readDirectly(openClickHouseClient({ ...address, applicationName: "test" }), {
    ...address,
    agent: socketAgent(path, 1),
    settings: {},
    requestTimeoutMs: 60_000,
  });
  t.teardown(() => client.close());
  for (let reads = 0; reads < 3; reads++)
    t.strictSame(await readRows(client, { query: "SELECT 1 AS one", params: {} }), [{ one: 1 }]);
  t.equal(requests, 5, "the second and the third read were sent twice");
});
