/**
 * Stores the maps of identity sources in ClickHouse, where lines are looked up in them, and has ClickHouse compile the
 * patterns.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { literal } from "../../clickhouse/sql-text.js";
import { readRows } from "../../clickhouse/statement.js";
import { whereOf } from "../../config/allocation/condition.js";
import type { IdentityMap } from "../../config/allocation/identity-map.js";
import type { AllocationPlan } from "../../config/allocation/plan.js";

type Plan = Pick<AllocationPlan, "identity" | "maps" | "configured"> &
  Partial<Pick<AllocationPlan, "assigned">>;

/** Plans of several periods mostly have the same maps and patterns. */
export async function prepareStore(
  client: ClickHouseClient,
  plans: readonly Plan[],
  signal: AbortSignal,
): Promise<void> {
  const maps = plans.flatMap((plan) => [...plan.maps.values(), plan.assigned?.map ?? []].flat());
  for (const map of new Map(maps.map((each) => [each.hash, each])).values())
    await storeMap(client, map, signal);
  await tryPatterns(client, [...new Set(plans.flatMap(patternsOf))], signal);
}

/** A map is stored once under the hash of its content, and never changed. */
async function storeMap(client: ClickHouseClient, map: IdentityMap, signal: AbortSignal): Promise<void> {
  const query = "SELECT toUInt32(count()) AS n FROM identity_maps WHERE map_hash = {hash:String}";
  const [row] = await readRows<{ n: number }>(client, { query, params: { hash: map.hash } }, signal);
  if (row?.n === map.entries.size) return;
  await client.command({
    query: "ALTER TABLE identity_maps DELETE WHERE map_hash = {hash:String}",
    query_params: { hash: map.hash },
    clickhouse_settings: { mutations_sync: "1" },
    abort_signal: signal,
  });
  if (map.entries.size === 0) return;
  await client.insert({
    table: "identity_maps",
    values: [...map.entries].map(([value, identity]) => ({ map_hash: map.hash, value, identity })),
    format: "JSONEachRow",
    abort_signal: signal,
  });
}

function patternsOf({ identity, configured }: Plan): string[] {
  const conditions = configured.flatMap(({ where }) => {
    const { conditions: all, any } = whereOf(where);
    return [all, ...any].flatMap((each) => Object.values(each));
  });
  const matches = conditions.flatMap((condition) =>
    typeof condition === "object" && "matches" in condition ? [condition.matches ?? ""] : [],
  );
  return [...matches, ...identity.flatMap(({ pattern }) => pattern ?? [])];
}

/** Throws the store's error for a pattern that it does not accept, before a single line is gathered. */
async function tryPatterns(
  client: ClickHouseClient,
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (patterns.length === 0) return;
  const matches = patterns.map((pattern) => `match(materialize(''), ${literal(pattern)})`);
  await readRows(client, { query: `SELECT ${matches.join(" + ")} AS found`, params: {} }, signal);
}
