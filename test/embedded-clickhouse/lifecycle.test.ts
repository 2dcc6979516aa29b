/** The child process starts on demand, restarts after a crash, and ends with its parent. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pino } from "pino";
import t from "tap";
import { programArguments } from "../../src/common/program.js";
import { createEmbeddedClickHouse } from "../../src/embedded-clickhouse/supervisor.js";
import {
  alive,
  engineResponseText,
  newDatabase,
  quietClient,
  startEngine,
} from "../clickhouse/engine-under-test.js";
import { until } from "../until.js";

const LONG = "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))";

t.test("concurrent callers share one start, and the address stays the same", async (t) => {
  const { engine, endpoint } = await startEngine(t);
  t.same(await Promise.all([engine.endpoint(), engine.endpoint()]), [endpoint, endpoint]);
  t.type(engine.pid(), "number");
});

t.test(
  "after a crash the next request works on the same address, and all acknowledged inserts are there",
  async (t) => {
    const { engine, endpoint } = await startEngine(t);
    const client = quietClient(t, endpoint);
    const db = await newDatabase(t, client);
    await client.command({ query: `CREATE TABLE ${db}.t (a UInt64) ENGINE = MergeTree ORDER BY a` });
    let acknowledged = 0;
    for (let round = 0; round < 2; round += 1) {
      const pid = engine.pid() ?? 0;
      const inserting = (async () => {
        for (;;) {
          await client.insert({ table: `${db}.t`, values: [{ a: acknowledged }], format: "JSONEachRow" });
          acknowledged += 1;
        }
      })();
      await until("some inserts", () => acknowledged >= (round + 1) * 20);
      process.kill(pid, "SIGKILL");
      await t.rejects(inserting, /socket hang up|ECONNRESET/);
      await until("the child to be gone", () => !alive(pid) && engine.pid() !== pid);
      t.same(await engine.endpoint(), endpoint);
      t.not(engine.pid(), pid);
      const found = Number(await engineResponseText(client, `SELECT count() FROM ${db}.t`));
      t.ok(
        found === acknowledged || found === acknowledged + 1,
        `${acknowledged} acknowledged, ${found} found`,
      );
      acknowledged = found;
    }
  },
);

t.test("stopping does not wait for a query that takes hours, and leaves no child process", async (t) => {
  const { engine, endpoint } = await startEngine(t);
  const client = quietClient(t, endpoint);
  const pid = engine.pid() ?? 0;
  const failed = t.rejects(client.query({ query: LONG }), /socket hang up/);
  await until(
    "the query to run",
    async () => (await engineResponseText(client, "SELECT count() FROM system.processes")) !== "1",
  );
  await engine.stop();
  await failed;
  t.notOk(alive(pid));
  await t.rejects(engine.endpoint(), { message: /stopped/ });
});

t.test("the child ends when its parent is killed with -9, even during a query", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "embedded-clickhouse-"));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const script = programArguments("./orphaned-parent.js", import.meta.url);
  const parent = spawn(process.execPath, [...script, dataDir, LONG], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface({ input: parent.stdout }), "line");
  const pid = Number(line);
  t.ok(alive(pid));
  const exited = once(parent, "exit");
  parent.kill("SIGKILL");
  await exited;
  await until("the child to be gone", () => !alive(pid));
});

t.test(
  "a second engine on the same folder fails with one clear error, and does not disturb the first",
  async (t) => {
    const { endpoint, dataDir } = await startEngine(t);
    const client = quietClient(t, endpoint);
    const second = createEmbeddedClickHouse({ dataDir, logger: pino({ level: "silent" }) });
    t.teardown(() => second.stop());
    await t.rejects(second.endpoint(), { message: /did not start.*already running/s });
    t.equal(second.pid(), undefined);
    t.equal(await engineResponseText(client, "SELECT 1"), "1");
  },
);

t.test("files left by a crash are cleared at the next start", async (t) => {
  const { engine, endpoint, dataDir } = await startEngine(t);
  const left = join(dataDir, "io", "insert-left");
  await writeFile(left, "1");
  const pid = engine.pid() ?? 0;
  process.kill(pid, "SIGKILL");
  await until("the child to be gone", () => !alive(pid) && engine.pid() !== pid);
  await engine.endpoint();
  t.notOk(existsSync(left));
  t.equal(await engineResponseText(quietClient(t, endpoint), "SELECT 1"), "1");
});
