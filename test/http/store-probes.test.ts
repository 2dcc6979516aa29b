/** A probe distinguishes a slow store from one that is down. */
import { setTimeout as delay } from "node:timers/promises";
import t from "tap";
import { CACHE_MS, createStoreProbes, PROBE_MS } from "../../src/http/store-probes.js";
import { recordingLogger } from "../runner/runs.js";

/** The timers of the probes do not keep the process alive. */
const alive = setInterval(() => undefined, 1_000);
t.teardown(() => clearInterval(alive));

const abortable = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

t.test(
  "a busy store that responded before counts as responding until it is silent for too long",
  async (t) => {
    let now = 0;
    const { logger, messages } = recordingLogger();
    const silenceMs = PROBE_MS + 1_000;
    const probes = createStoreProbes(() => new Date(now), logger, silenceMs);
    const responds = (send: (signal: AbortSignal) => Promise<unknown>) => probes.responds("the store", send);
    t.equal(await responds(async () => 1), true);
    now += CACHE_MS;
    const began = performance.now();
    t.equal(await responds(abortable), true, "a slow store still counts as responding");
    t.ok(performance.now() - began < PROBE_MS + 800, "no caller waits for it");
    t.strictSame(messages(), [], "nothing is logged");
    await delay(silenceMs);
    t.equal(await responds(abortable), false);
    t.strictSame(messages(), ["a store does not respond"]);
    now += CACHE_MS;
    t.equal(await responds(async () => 1), true);
    t.strictSame(messages(), ["a store does not respond", "a store responds again"]);
  },
);

t.test("a store that refuses connections or never responded counts as down", async (t) => {
  const probes = createStoreProbes(() => new Date(0), recordingLogger().logger);
  t.equal(await probes.responds("refusing", () => Promise.reject(new Error("refused"))), false);
  t.equal(await probes.responds("silent", abortable), false);
  t.equal(await probes.responds("good", async () => 1), true);
  probes.doubt("good");
  t.equal(await probes.responds("good", () => Promise.reject(new Error("refused"))), false);
});
