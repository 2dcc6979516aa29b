import { createHash } from "node:crypto";
import type { ClickHouseClient } from "@clickhouse/client";
import { type Params, readRows } from "../clickhouse/statement.js";
import { dimensionFields } from "../domain/dimension-id.js";

/**
 * Resolves collisions of dimension ids. If the 53-bit hashes of two dimensions are equal, the one recorded first keeps
 * the id, and the other gets one from a salted hash. With a million dimensions this happens in one of 18,000 stores,
 * and no result is ever wrong.
 */
interface CollisionScope {
  readonly client: ClickHouseClient;
  readonly signal: AbortSignal;
}

/** One id and the dimensions that share it, the oldest first. */
export interface Collision {
  readonly dimension_id: string;
  readonly fingerprints: readonly string[];
}

/** Reads in key order, so that ten million dimensions cost a second and no memory. */
export async function findCollisions(scope: CollisionScope): Promise<Collision[]> {
  return await rows<Collision>(
    scope,
    `
SELECT toString(dimension_id) AS dimension_id,
  arrayDistinct(arrayMap(f -> toString(f.2), arraySort(groupArray((recorded_at, fingerprint))))) AS fingerprints
FROM dimensions
WHERE dimension_id IN (SELECT dimension_id FROM dimensions GROUP BY dimension_id HAVING min(fingerprint) != max(fingerprint))
GROUP BY dimension_id ORDER BY dimension_id`,
    {},
  );
}

/**
 * The oldest dimension keeps the id. Each of the others gets the first free id of its salted hashes. That id is
 * recorded before the dimension is moved, so that after a crash in between the next search for collisions repairs it,
 * with the same id.
 */
export async function resolveCollision(
  scope: CollisionScope,
  collision: Collision,
  mask: bigint,
): Promise<void> {
  const { client } = scope;
  const columns = dimensionFields.join(", ");
  for (const fingerprint of collision.fingerprints.slice(1)) {
    const id = (await recordedId(scope, fingerprint)) ?? (await recordFreeId(scope, fingerprint, mask));
    await client.command({
      query: `
INSERT INTO dimensions (dimension_id, fingerprint, ${columns}, recorded_at)
SELECT {id:UInt64}, fingerprint, ${columns}, recorded_at FROM dimensions
WHERE fingerprint = {fingerprint:UInt128} AND dimension_id = {taken:UInt64} LIMIT 1`,
      query_params: { id, fingerprint, taken: collision.dimension_id },
    });
    await client.command({
      query:
        "ALTER TABLE dimensions DELETE WHERE fingerprint = {fingerprint:UInt128} AND dimension_id = {taken:UInt64}",
      query_params: { fingerprint, taken: collision.dimension_id },
      clickhouse_settings: { mutations_sync: "1" },
    });
  }
}

async function recordedId(scope: CollisionScope, fingerprint: string): Promise<string | undefined> {
  const [recorded] = await rows<{ id: string }>(
    scope,
    "SELECT toString(dimension_id) AS id FROM dimension_collisions FINAL WHERE fingerprint = {fingerprint:UInt128}",
    { fingerprint },
  );
  return recorded?.id;
}

/** The most salts to try. With 53 bits, even a second try is extremely unlikely. */
const mostSalts = 65_535;

async function recordFreeId(scope: CollisionScope, fingerprint: string, mask: bigint): Promise<string> {
  for (let salt = 1; salt <= mostSalts; salt += 1) {
    const dimension_id = saltedId(fingerprint, salt, mask);
    if (await isTaken(scope, dimension_id)) continue;
    await scope.client.insert({
      table: "dimension_collisions",
      values: [{ fingerprint, dimension_id, salt }],
      format: "JSONEachRow",
    });
    return dimension_id;
  }
  throw new RangeError(`no free dimension id in ${mostSalts} attempts`);
}

/** Derives an id from a dimension's fingerprint and a salt: 53 bits of a hash. */
function saltedId(fingerprint: string, salt: number, mask: bigint): string {
  const digest = createHash("sha256").update(`${fingerprint}:${salt}`).digest();
  return (digest.readBigUInt64LE(0) & mask).toString();
}

async function isTaken(scope: CollisionScope, id: string): Promise<boolean> {
  const found = await rows(
    scope,
    `SELECT 1 FROM dimensions WHERE dimension_id = {id:UInt64}
     UNION ALL SELECT 1 FROM dimension_collisions WHERE dimension_id = {id:UInt64} LIMIT 1`,
    { id },
  );
  return found.length > 0;
}

async function rows<Row>(scope: CollisionScope, query: string, params: Params): Promise<Row[]> {
  const settings = { optimize_aggregation_in_order: 1 } as const;
  return await readRows<Row>(scope.client, { query, params }, scope.signal, settings);
}
