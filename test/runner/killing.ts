import type { Test } from "tap";
import { temporaryFolder } from "../stores.js";
import { billOf, daysWithoutMetrics } from "./changing-upstream.js";
import { childProcess } from "./child.js";
import type { KillPoint } from "./kill-points.js";
import { shortTenants } from "./runs.js";
import type { Recovery, WorkerInput } from "./worker-process.js";

type Stores = Record<"engine" | "postgres", number>;
type Said = { recovery?: Recovery; stores?: Stores; run?: number; completed?: number; hit?: string };

/** The process to kill; `all` is the worker and its stores at once. */
export const victims = ["worker", "engine", "postgres", "all"] as const;
export type Victim = (typeof victims)[number];

/** Kills at a point, or after some ms. If a store is killed, the worker continues until it has completed a run. */
export type Kill = { readonly point: KillPoint } | { readonly victim: Victim; readonly after: number };

/**
 * A tenant whose workers are killed one after another. Each first reports what its predecessor left, and that a run
 * repairs it.
 */
export function killedTenant(t: Test) {
  const folder = temporaryFolder(t);
  const settings = ["allocation_retry_limit: 1", "topic_attribution_retry_limit: 1"];
  const tenant = shortTenants(["acme"], settings).replace("lookback_days: 8", "lookback_days: 12");
  const yaml = `data_dir: ${folder}/data\n${tenant}`;
  /** Versions that may be visible: the last completed run's, and later ones. */
  let versions: readonly number[] = [];
  /** True if the last kill was at a point within a run. Only such a kill certainly leaves an open record. */
  let withinRun = false;
  let version = 0;

  return {
    /**
     * Compares the remaining data and the result of the next run with the bills, then kills that worker in turn.
     * Returns the ms until a run was completed after a store was killed.
     */
    async nextWorker(t: Test, kill: Kill) {
      version += 7;
      const point = "point" in kill ? kill.point : undefined;
      const input: WorkerInput = { yaml, folder, version, point };
      const child = childProcess(t, "./worker-process.js", input);
      const messages: Said[] = [];
      const listen = async (): Promise<Said | undefined> => {
        const line = await child.message();
        if (line !== undefined) messages.push(JSON.parse(line));
        return line === undefined ? undefined : messages.at(-1);
      };
      const recovery = (await listen())?.recovery;
      if (recovery === undefined) throw new Error("the worker died before it reported anything");
      isWhole(t, recovery, versions, version);
      t.strictSame(
        recovery.cutOff,
        withinRun || recovery.cutOff.length > 0
          ? ["failed: the run was orphaned: its process ended before it did"]
          : [],
        "no record stays open",
      );
      const pids = (await listen())?.stores;
      if (pids === undefined) throw new Error("the worker did not say where its stores are");
      await listen();
      const resumed = "point" in kill ? undefined : await killVictim(kill, pids);
      while ((await listen()) !== undefined);
      const [, signal] = await child.exited;
      t.equal(signal, "SIGKILL");
      const last = messages.findLast(({ run }) => run !== undefined)?.run ?? version;
      const completed = messages.findLast((message) => message.completed !== undefined)?.completed ?? version;
      versions = Array.from({ length: last - completed + 1 }, (_, i) => completed + i);
      withinRun = point !== undefined;
      version = last;
      return { recovery, resumed, hit: messages.findLast(({ hit }) => hit !== undefined)?.hit };

      async function killVictim({ victim, after }: Exclude<Kill, { point: unknown }>, pids: Stores) {
        await new Promise((resolve) => setTimeout(resolve, after));
        const killed =
          victim === "all" ? [pids.engine, pids.postgres] : victim === "worker" ? [] : [pids[victim]];
        for (const pid of killed) process.kill(pid, "SIGKILL");
        const since = performance.now();
        if (killed.length === 1) {
          const before = messages.findLast(({ run }) => run !== undefined)?.run ?? version;
          for (let message = await listen(); (message?.completed ?? 0) <= before; message = await listen())
            if (message === undefined)
              throw new Error("the worker ended, though only a store of it was killed");
        }
        child.kill("SIGKILL");
        return killed.length === 1 ? performance.now() - since : undefined;
      }
    },
  };
}

/**
 * The allowed errors of a run of a version. The upstream never returns the metrics of some days, which become final
 * after one attempt, as the tenant is configured. A run that died may have finished some of those days, so each error
 * may be missing.
 */
function errorsOf(version: number): string[] {
  const lacking = daysWithoutMetrics(version);
  const spans = [...lacking, `${lacking.length} days from ${lacking[0]} to ${lacking.at(-1)}`];
  const sentences = [
    ["chargebacks", "usage", "work of metered-1"],
    ["attributions to topics", "usage of topics", "topic_bytes_in of metered-1, r-1, r-2"],
  ].flatMap(([what, usage, metric]) => {
    const failure = `${metric} could not be fetched: the test says so`;
    return [
      `the ${what} are final without it after 1 attempt: ${failure}`,
      // An earlier run whose stores were killed may have published some of its days.
      `${failure}: the ${usage} that is published stays`,
    ];
  });
  return sentences.flatMap((sentence) => [...spans.map((span) => `${span}: ${sentence}`), sentence]);
}

function isWhole(t: Test, recovery: Recovery, versions: readonly number[], version: number): void {
  const known = versions.map(billOf);
  const days = [...new Set(known.flatMap(Object.keys))].sort();
  const torn = days.filter((day) => known.every((bill) => bill[day] !== recovery.left[day]));
  t.strictSame(torn, [], "before anything is repaired, each day is that of one version");
  t.strictSame(
    Object.keys(recovery.left).filter((day) => !days.includes(day)),
    [],
    "and there is no other",
  );
  t.strictSame(recovery.visible, billOf(version), "after it each day is that of the next");
  t.strictSame(recovery.leftUnbalanced, [], "and adds up for readers");
  const {
    left,
    leftUnbalanced: _unbalanced,
    visible,
    finished,
    cutOff: _,
    attributed,
    errors,
    ...rest
  } = recovery;
  t.strictSame(
    errors.filter((error) => !errorsOf(version).includes(error)),
    [],
  );
  t.equal(new Set(errors).size, errors.length, "each is reported once");
  t.strictSame(rest, { off: [], staged: 0, attributedOff: [], open: 0 });
  t.strictSame(attributed, Object.keys(visible).sort(), "all days are attributed to topics");
}

/** Kills one worker after another, each at its point. The next one completes a recorded intent, or there is none. */
export async function killAtEach(t: Test, points: readonly KillPoint[]): Promise<void> {
  const tenant = killedTenant(t);
  let finishedByTheNext = false;
  for (const point of points) {
    await t.test(point.name, async (t) => {
      const { recovery, hit } = await tenant.nextWorker(t, { point });
      t.equal(recovery.finished, finishedByTheNext, "the run after the last kill finishes what it has to");
      t.equal(hit, point.name, "it died there");
    });
    finishedByTheNext = point.finishedByTheNext;
  }
  await t.test("the data of the last kill is complete", async (t) => {
    const { recovery } = await tenant.nextWorker(t, { victim: "worker", after: 0 });
    t.equal(recovery.finished, finishedByTheNext);
  });
}
