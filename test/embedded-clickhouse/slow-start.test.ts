/** Engines can take long to start. SIGSTOP holds their processes, so that they use no processor time. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import t, { type Test } from "tap";
import {
  createEmbeddedClickHouse,
  type EmbeddedClickHouseOptions,
} from "../../src/embedded-clickhouse/supervisor.js";
import { alive } from "../clickhouse/engine-under-test.js";
import { recordingLogger } from "../runner/runs.js";
import { until } from "../until.js";

/** Starts an engine, and stops its process at once. */
function heldEngine(t: Test, options: Partial<EmbeddedClickHouseOptions> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), "embedded-clickhouse-"));
  const { logger, messages } = recordingLogger();
  const patience = { checkMs: 200, stalledMs: 60_000 };
  const engine = createEmbeddedClickHouse({ patience, ...options, dataDir, logger });
  t.teardown(async () => {
    await engine.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const started = engine.endpoint();
  started.catch(() => undefined);
  const pid = engine.pid() ?? 0;
  process.kill(pid, "SIGSTOP");
  return { engine, started, pid, messages };
}

t.test("a slow start is waited for, and the log shows its current step", async (t) => {
  const { engine, started, pid, messages } = heldEngine(t);
  await until("it is said", () => messages().length >= 2);
  t.strictSame([...new Set(messages())], ["the embedded ClickHouse is still starting: the process starts"]);
  process.kill(pid, "SIGCONT");
  t.type((await started).socketPath, "string");
  t.equal(engine.pid(), pid, "the process was not killed and started again");
});

t.test("a start is given up if the process does nothing for too long", async (t) => {
  const { started, pid } = heldEngine(t, { patience: { checkMs: 200, stalledMs: 1_000 } });
  await t.rejects(started, {
    message: /^the embedded ClickHouse did not start: it has done nothing for 1 s: the process starts/,
  });
  t.equal(alive(pid), false);
});

t.test("a start ends at once when its signal aborts", async (t) => {
  const stopped = new AbortController();
  const { engine, started, pid } = heldEngine(t, { signal: stopped.signal });
  stopped.abort(new Error("Interrupted by shutdown (SIGTERM)"));
  await t.rejects(started, { message: "Interrupted by shutdown (SIGTERM)" });
  t.equal(alive(pid), false);
  await t.rejects(engine.endpoint(), { message: "Interrupted by shutdown (SIGTERM)" });
});

t.test("an engine that is stopped while it starts is not waited for", async (t) => {
  const { engine, started, pid } = heldEngine(t);
  const late = delay(30_000, "late", { ref: false });
  t.equal(await Promise.race([engine.stop().then(() => "stopped"), late]), "stopped");
  await t.rejects(started, { message: "the embedded ClickHouse was stopped" });
  t.equal(alive(pid), false);
});
