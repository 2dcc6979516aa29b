import { setMaxListeners } from "node:events";
import t from "tap";
import { readPostgres } from "../../src/postgres/statement.js";
import { temporaryPool } from "../embedded-postgres/temporary.js";
import { until } from "../until.js";

t.test("reads on Postgres end when their signal is aborted", async (t) => {
  const pool = await temporaryPool(t);
  const active = async () => {
    const rows = await readPostgres(pool, {
      query: "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'",
      params: [],
    });
    return rows.length;
  };
  const reached = (count: number) => until(`${count} active`, async () => (await active()) === count, 20);

  await t.test("a read returns its rows with and without a signal", async (t) => {
    const read = { query: "SELECT $1::text AS word", params: ["a"] };
    t.same(await readPostgres(pool, read), [{ word: "a" }]);
    t.same(await readPostgres(pool, read, new AbortController().signal), [{ word: "a" }]);
  });

  await t.test("an aborted statement is cancelled in the server, and its connection is reused", async (t) => {
    const stop = new AbortController();
    const reading = readPostgres(pool, { query: "SELECT pg_sleep(60)", params: [] }, stop.signal);
    reading.catch(() => undefined);
    await reached(1);
    stop.abort(new Error("enough"));
    await t.rejects(reading, { message: "enough" });
    await reached(0);
    t.same(await readPostgres(pool, { query: "SELECT 1 AS one", params: [] }), [{ one: 1 }]);
  });

  await t.test(
    "statements on all connections of the pool are cancelled, and so are reads that wait for one",
    async (t) => {
      const most = pool.options.max;
      const watcher = await pool.connect();
      const count = async () => {
        const { rows } = await watcher.query(
          "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active'",
        );
        return rows.length;
      };
      const deadline = Date.now() + 20_000;
      const stop = new AbortController();
      setMaxListeners(0, stop.signal);
      const reading = Array.from({ length: most + 5 }, () =>
        readPostgres(pool, { query: "SELECT pg_sleep(60)", params: [] }, stop.signal).catch(
          (error: unknown) => error,
        ),
      );
      while ((await count()) < most - 1 && Date.now() < deadline);
      stop.abort(new Error("enough"));
      t.same(new Set((await Promise.all(reading)).map(String)), new Set(["Error: enough"]));
      while ((await count()) > 0 && Date.now() < deadline);
      t.equal(await count(), 0);
      watcher.release();
      const reads = Array.from({ length: most }, () =>
        readPostgres(pool, { query: "SELECT 1 AS one", params: [] }),
      );
      t.equal((await Promise.all(reads)).length, most, "all connections are reused");
    },
  );

  await t.test("an error of a statement is thrown, and its connection is reused", async (t) => {
    const { signal } = new AbortController();
    await t.rejects(readPostgres(pool, { query: "SELECT 1 / 0", params: [] }, signal), /division by zero/);
    t.same(await readPostgres(pool, { query: "SELECT 2 AS two", params: [] }, signal), [{ two: 2 }]);
  });

  await t.test("a read with an aborted signal sends nothing", async (t) => {
    await t.rejects(
      readPostgres(pool, { query: "SELECT 1", params: [] }, AbortSignal.abort(new Error("before"))),
      { message: "before" },
    );
  });
});
