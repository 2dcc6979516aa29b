/** Checks the FOCUS datasets of an emitter, and reads them with another tenant. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import type { Config } from "../../src/config/config.js";
import { checkFile } from "../../src/focus/check/check-file.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import type { OpenedStores } from "../../src/stores/open-stores.js";
import { testLogger } from "../stores.js";
import { runContext, runOnce, runRows } from "./runs.js";

export interface ReadAgain {
  readonly config: Config;
  readonly stores: OpenedStores;
  readonly first: string;
  readonly second: string;
  readonly now: () => Date;
}

/** Returns the YAML of a tenant that charges the datasets at a location to their own identities. */
export const readingTenant = (name: string, location: string, lookback: number) => `
  ${name}:
    ecosystem: focus
    tenant_id: ${name}
    lookback_days: ${lookback}
    retention_days: 400
    cutoff_days: 1
    storage: { connection_string: "embedded:${name}" }
    allocation: { identity: [{ column: AllocatedResourceId }] }
    plugin_settings: ${JSON.stringify({ sources: [{ name: "again", location, limits: { settle_seconds: 0 } }] })}`;

/** Returns sums of costs and of list and billed costs, by currency, category and day, and by identity. */
const groups = (from: string, keys: string, costs: readonly string[]) =>
  `SELECT concat_ws('|', currency, ${keys}, toString(day), ${costs.map((cost) => `toDecimalString(sum(${cost}), 12)`).join(", ")}) AS line
  FROM ${from} GROUP BY currency, ${keys}, day ORDER BY currency, ${keys}, day`;

// A charge without a category is exported as usage.
const category = "if(charge_category = '', 'Usage', toString(charge_category))";
const compared = [
  groups("billing", category, ["total_cost", "billed_cost", "list_cost"]),
  groups("chargebacks", "identity_id", ["amount_hi + amount_lo"]),
];

/** Returns the errors of `focus-check`, `rule column` with their number. */
export async function errorsIn(t: Test, written: string): Promise<Record<string, number>> {
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());
  const errors: Record<string, number> = {};
  const parts = readdirSync(written, { recursive: true, encoding: "utf8" }).filter((file) =>
    /part_\d+\./.test(file),
  );
  t.ok(parts.length > 0);
  for (const part of parts.sort()) {
    const { focus_version, findings } = await checkFile(engine, join(written, part));
    t.equal(focus_version, "1.4");
    for (const { id, column, level, count } of findings)
      if (level === "error") errors[`${id} ${column}`] = (errors[`${id} ${column}`] ?? 0) + count;
  }
  return errors;
}

/** Runs the second tenant, and compares its costs with those of the first. */
export async function sameCostsAgain(t: Test, { config, stores, first, second, now }: ReadAgain) {
  const { errors } = await runOnce(runContext(stores, { now }), config, second);
  t.strictSame(errors, []);
  for (const query of compared) {
    const of = async (name: string) =>
      (await runRows<{ line: string }>(stores, name, query)).map(({ line }) => line).join("\n");
    const costs = await of(first);
    t.ok(costs.length > 0);
    t.equal(await of(second), costs);
  }
}
