/** Long results and long uploads pass in bounded memory, at the pace of the client. */
import { createHash } from "node:crypto";
import { request } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import t, { type Test } from "tap";
import {
  type EngineUnderTest,
  engineResponseText,
  newDatabase,
  quietClient,
  residentMiB,
  sendRequest,
  startEngine,
} from "../clickhouse/engine-under-test.js";
import { until } from "../until.js";

const ROWS = 5_000_000;
const MAX_GROWTH_MIB = 250;

/** Samples the engine's memory while `work` runs, and returns the growth. */
async function growth(t: Test, { engine }: EngineUnderTest, work: () => Promise<void>): Promise<number> {
  const pid = engine.pid() ?? 0;
  const before = await residentMiB(pid);
  let peak = before;
  const sampler = setInterval(() => {
    residentMiB(pid).then(
      (now) => {
        peak = Math.max(peak, now);
      },
      () => undefined,
    );
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(sampler);
  }
  t.comment(`grew by ${Math.round(peak - before)} MiB above ${Math.round(before)} MiB`);
  return peak - before;
}

t.test(
  "uploads and results stream in constant memory",
  { skip: process.platform === "linux" ? false : "memory is read from /proc" },
  async (t) => {
    const under = await startEngine(t);
    const client = quietClient(t, under.endpoint);
    const db = await newDatabase(t, client);
    await client.command({
      query: `CREATE TABLE ${db}.t (a UInt64, b String) ENGINE = MergeTree ORDER BY a`,
    });
    await engineResponseText(client, "SELECT sum(number) FROM numbers(10000000)");

    await t.test(`an upload of ${ROWS} rows`, async (t) => {
      const grown = await growth(t, under, async () => {
        const lines = function* () {
          for (let a = 0; a < ROWS; a += 1000) {
            yield Array.from({ length: 1000 }, (_, index) => `${a + index},row number ${a + index}\n`).join(
              "",
            );
          }
        };
        await client.insert({
          table: `${db}.t`,
          values: Readable.from(lines(), { objectMode: false }),
          format: "CSV",
        });
      });
      t.equal(await engineResponseText(client, `SELECT count() FROM ${db}.t`), String(ROWS));
      t.ok(grown < 2 * MAX_GROWTH_MIB, `memory grew by ${grown} MiB`);
    });

    await t.test(`a result of ${ROWS} rows`, async (t) => {
      let bytes = 0;
      const grown = await growth(t, under, async () => {
        const { stream } = await client.exec({ query: `SELECT a, b FROM ${db}.t FORMAT CSV` });
        for await (const chunk of stream) bytes += chunk.length;
      });
      t.ok(bytes > ROWS * 20, `${bytes} bytes`);
      t.ok(grown < MAX_GROWTH_MIB, `memory grew by ${grown} MiB`);
    });

    await t.test(
      "a client that stops reading pauses its query in constant memory, and others go on",
      async (t) => {
        const { username, password, url, socketPath } = under.endpoint;
        const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
        const elapsed = async () =>
          Number(
            await engineResponseText(
              client,
              "SELECT max(elapsed) FROM system.processes WHERE query LIKE '%slow reader%' AND query NOT LIKE '%system.processes%'",
            ),
          );
        let lines = 0;
        const grown = await growth(t, under, async () => {
          await new Promise<void>((resolve, reject) => {
            const requested = request(
              url,
              { method: "POST", headers: { authorization }, socketPath },
              (response) => {
                response.pause();
                until("the query to have waited", async () => (await elapsed()) > 1.5).then(() => {
                  response.on("data", (chunk: Buffer) => {
                    for (const byte of chunk) if (byte === 10) lines += 1;
                  });
                  response.on("end", resolve);
                  response.resume();
                }, reject);
              },
            );
            requested.on("error", reject);
            requested.end(`/* slow reader */ SELECT number FROM numbers(${ROWS})`);
          });
        });
        t.equal(lines, ROWS);
        t.ok(grown < MAX_GROWTH_MIB, `memory grew by ${grown} MiB`);
      },
    );

    await t.test("concurrent clients that read at any pace get their own results", async (t) => {
      const rows = 400_000;
      const read = async (name: string, pause: number) => {
        const { stream } = await client.exec({
          query: `SELECT concat('${name} ', leftPad(toString(number), 12, '0')) FROM numbers(${rows})`,
        });
        const whole = createHash("sha256");
        let at = 0;
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          whole.update(chunk);
          at += chunk.length;
          if (pause > 0 && at < 2_000_000) await wait(pause);
        }
        return whole.digest("hex");
      };
      const written = (name: string) => {
        const whole = createHash("sha256");
        for (let row = 0; row < rows; row += 1) whole.update(`${name} ${String(row).padStart(12, "0")}\n`);
        return whole.digest("hex");
      };
      const paces = { a: 0, b: 1, c: 5, d: 20, e: 0 };
      t.strictSame(
        await Promise.all(Object.entries(paces).map(([name, pause]) => read(name, pause))),
        Object.keys(paces).map(written),
      );
    });

    await t.test("a client that disconnects frees its slot and its pipe", async (t) => {
      for (let round = 0; round < 40; round += 1) {
        const abort = new AbortController();
        const { stream } = await client.exec({
          query: "SELECT number FROM numbers(10000000000)",
          abort_signal: abort.signal,
        });
        stream.once("error", () => undefined);
        await new Promise((resolve) => stream.once("data", resolve));
        abort.abort();
        stream.destroy();
        await turn();
      }
      await until(
        "the engine to be idle",
        async () => (await engineResponseText(client, "SELECT count() FROM system.processes")) === "1",
      );
      const { body } = await sendRequest(under.endpoint, "/", { body: "SELECT 1" });
      t.equal(body.toString(), "1\n");
    });
  },
);
