/**
 * A worker that is to be killed. First says what a predecessor left behind and what a run makes of it; then runs its tenant
 * again and again, the input different each time, until it dies at the point that it was given, or of its parent. Its stores may be
 * killed before: it says which runs were completed.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { reconcileAttributions } from "../../src/query/state/reconcile.js";
import { expireLeases } from "../../src/runner/sql/leases.js";
import { openStores } from "../../src/store/open-stores.js";
import { runStatement } from "../../src/store/postgres/statement.js";
import { testConfig, testLogger } from "../stores.js";
import { billOf, changingUpstream } from "./changing-upstream.js";
import { dieAt } from "./die-at.js";
import type { KillPoint } from "./kill-points.js";
import {
  lossSaidBefore,
  reconciled,
  recordingLogger,
  rowsOf,
  runContext,
  runOnce,
  runRecords,
} from "./runs.js";
import { withTopics } from "./topic-upstream.js";

export interface WorkerInput {
  readonly yaml: string;
  readonly folder: string;
  readonly version: number;
  /** Where it dies. Without one it waits to be killed. */
  readonly point?: KillPoint | undefined;
}

/** What the first run found and made. */
export interface Recovery {
  /** Sums of the chargebacks that were visible before anything ran, by day. */
  readonly left: Record<string, string>;
  /** Days of which readers then saw another bill than their chargebacks. */
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
  /** How the records of runs that were cut off ended. */
  readonly cutOff: readonly string[];
}

const { yaml, folder, version, point }: WorkerInput = JSON.parse(process.argv[2] ?? "{}");
const config = withTopics(testConfig(yaml, folder));
const stores = await openStores({ config, logger: testLogger });
await runStatement(stores.postgres, expireLeases());
const { client } = await stores.tenant("acme");
const say = (fact: object) => console.log(JSON.stringify(fact));

async function sums(): Promise<Record<string, string>> {
  const rows = await rowsOf<{ day: string; charged: string }>(
    stores,
    "acme",
    "SELECT toString(day) AS day, toString(sum(amount)) AS charged FROM chargebacks GROUP BY day ORDER BY day",
  );
  return Object.fromEntries(rows.map(({ day, charged }) => [day, charged]));
}

async function recover(): Promise<Recovery> {
  const left = await sums();
  const leftUnbalanced = await rowsOf(
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

/** Whether a run of that version could begin, and made all of it visible. */
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
