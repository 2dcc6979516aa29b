/**
 * A worker that is killed. It first reports what a predecessor left and the result of a run, then runs its tenant
 * repeatedly with new input until it dies at its point, or its parent kills it. Its stores may be killed before; it
 * reports completed runs.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { runStatement } from "../../src/postgres/statement.js";
import { reconcileAttributions } from "../../src/query/state/reconcile.js";
import { expireLeases } from "../../src/runner/sql/leases.js";
import { openStores } from "../../src/stores/open-stores.js";
import { testConfig, testLogger } from "../stores.js";
import { billOf, changingUpstream } from "./changing-upstream.js";
import { dieAt } from "./die-at.js";
import type { KillPoint } from "./kill-points.js";
import {
  lossSaidBefore,
  reconciled,
  recordingLogger,
  runContext,
  runOnce,
  runRecords,
  runRows,
} from "./runs.js";
import { clusterWithTopics } from "./topic-upstream.js";

export interface WorkerInput {
  readonly yaml: string;
  readonly folder: string;
  readonly version: number;
  /** The point at which it dies. Without one it waits to be killed. */
  readonly point?: KillPoint | undefined;
}

/** The data that the first run found and produced. */
export interface Recovery {
  /** Sums by day of the chargebacks that were visible before anything ran. */
  readonly left: Record<string, string>;
  /** Days whose bill then differed from their chargebacks for readers. */
  readonly leftUnbalanced: readonly unknown[];
  readonly finished: boolean;
  readonly errors: readonly string[];
  readonly visible: Record<string, string>;
  readonly off: readonly unknown[];
  readonly attributed: readonly string[];
  readonly attributedOff: readonly unknown[];
  readonly staged: number;
  /** Days that still have an intent or wait for a calculation. */
  readonly open: number;
  /** Results in the records of interrupted runs. */
  readonly cutOff: readonly string[];
}

const { yaml, folder, version, point }: WorkerInput = JSON.parse(process.argv[2] ?? "{}");
const config = clusterWithTopics(testConfig(yaml, folder));
const stores = await openStores({ config, logger: testLogger });
await runStatement(stores.postgres, expireLeases());
const { client } = await stores.tenant("acme");
const say = (fact: object) => console.log(JSON.stringify(fact));

async function sums(): Promise<Record<string, string>> {
  const rows = await runRows<{ day: string; charged: string }>(
    stores,
    "acme",
    "SELECT toString(day) AS day, toString(sum(amount)) AS charged FROM chargebacks GROUP BY day ORDER BY day",
  );
  return Object.fromEntries(rows.map(({ day, charged }) => [day, charged]));
}

async function recover(): Promise<Recovery> {
  const left = await sums();
  const leftUnbalanced = await runRows(
    stores,
    "acme",
    "SELECT * FROM daily_reconciliation WHERE difference != 0",
  );
  const cutOff = (await runRecords(stores, "acme")).filter((run) => run.status === "running");
  const { logger, messages } = recordingLogger();
  const context = runContext(stores, { ecosystems: changingUpstream(version), logger });
  await lossSaidBefore(stores, "acme");
  const { errors } = await runOnce(context, config, "acme");
  const { off, staged } = await reconciled(stores, "acme");
  const attributions = await reconcileAttributions(client, new AbortController().signal);
  const { rowCount } = await stores.postgres.query(
    `SELECT FROM tracking_dates WHERE publishing_hash IS NOT NULL OR staged_hash IS NOT NULL
     UNION ALL SELECT FROM topic_attribution_dates WHERE publishing_hash IS NOT NULL OR staged_hash IS NOT NULL`,
  );
  const ended = new Map((await runRecords(stores, "acme")).map((run) => [run.run_id, run]));
  return {
    left,
    leftUnbalanced,
    finished: messages().includes("finished an interrupted publish"),
    errors: errors.map((error) => error.message),
    visible: await sums(),
    off,
    staged,
    attributed: attributions.days.map(({ day }) => day).sort(),
    attributedOff: attributions.days.filter((day) => day.lines_off !== "0" || day.difference !== "0"),
    open: rowCount ?? 0,
    cutOff: cutOff.map(
      ({ run_id }) => `${ended.get(run_id)?.status}: ${ended.get(run_id)?.errors[0]?.message}`,
    ),
  };
}

/** True if a run of that version could start, and made all of it visible. */
async function isCompleted(run: number): Promise<boolean> {
  try {
    await lossSaidBefore(stores, "acme");
    const context = runContext(stores, { ecosystems: changingUpstream(run) });
    await runOnce(context, config, "acme");
    return isDeepStrictEqual(await sums(), billOf(run));
  } catch {
    return false;
  }
}

const [postmaster] = readFileSync(join(folder, "data/postgres/postmaster.pid"), "utf8").split("\n");
say({ recovery: await recover() });
say({ stores: { postgres: Number(postmaster), engine: stores.embeddedClickHouse?.pid() } });
if (point !== undefined) dieAt(point, client);
for (let run = version + 1; ; run += 1) {
  say({ run });
  if (await isCompleted(run)) say({ completed: run });
  else await delay(100);
}
