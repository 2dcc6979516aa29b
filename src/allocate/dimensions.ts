import { createHash } from "node:crypto";
import type { ClickHouseClient } from "@clickhouse/client";
import { stagedTable } from "../clickhouse/staging.js";
import { type Params, readRows } from "../clickhouse/statement.js";
import {
  dimensionFields,
  dimensionIdMask,
  fingerprintSql,
  plainDimensionIdSql,
} from "../domain/dimension-id.js";

/**
 * Records the dimensions of staged days before they are published, and makes sure that no two share an id. Ids are
 * hashes, so nothing is assigned or looked up. Only new dimensions are written.
 */
interface DimensionScope {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  readonly signal: AbortSignal;
}

const fields = dimensionFields.join(", ");
const fieldsButIdentity = dimensionFields.filter((field) => field !== "identity_id").join(", ");

/**
 * Records new dimensions of the days, and gives another id to those whose id is taken. `mask` is narrower only in tests
 * that need collisions.
 */
export async function recordDimensions(
  scope: DimensionScope,
  days: readonly string[],
  mask: bigint = dimensionIdMask,
): Promise<void> {
  // Group the identities by line first, so that only distinct dimensions are hashed: 0.5 s of CPU for 2.1 M rows.
  // Hashing each row's eight texts took 2.1 s, as long as allocating.
  const newDimensions = `
SELECT ${fingerprintSql()} AS fingerprint, ${fields} FROM (
  SELECT ${fieldsButIdentity}, arrayJoin(groupUniqArray(identity_id)) AS identity_id
  FROM ${stagedTable("chargebacks", scope.epoch)} WHERE day IN {days:Array(Date)}
  GROUP BY ${fieldsButIdentity}
)
WHERE fingerprint NOT IN (SELECT fingerprint FROM dimensions)`;
  const { summary } = await scope.client.command({
    query: `
INSERT INTO dimensions (dimension_id, fingerprint, ${fields})
SELECT ${plainDimensionIdSql("fingerprint", mask)}, fingerprint, ${fields} FROM (${newDimensions})`,
    query_params: { days },
    abort_signal: scope.signal,
  });
  // The usual case: all dimensions exist already, nothing was written, and so nothing new can collide.
  if (summary?.written_rows === "0") return;
  // Repeat until there are no collisions: a dimension that was moved to its recorded id may collide with a newer one
  // there.
  for (let found = await findCollisions(scope); found.length > 0; found = await findCollisions(scope)) {
    for (const collision of found) await resolveCollision(scope, collision, mask);
  }
}

/** One id and the dimensions that share it, the oldest first. */
interface Collision {
  readonly dimension_id: string;
  readonly fingerprints: readonly string[];
}

/** Reads in key order, so that ten million dimensions cost a second and no memory. */
async function findCollisions(scope: DimensionScope): Promise<Collision[]> {
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
 * Resolves a collision of the 53-bit hashes of dimensions, which a million dimensions have in one of 18,000 stores. The
 * oldest dimension keeps the id. Each of the others gets the first free id of its salted hashes. That id is
 * recorded before the dimension is moved, so that after a crash in between the next search for collisions repairs it,
 * with the same id.
 */
async function resolveCollision(scope: DimensionScope, collision: Collision, mask: bigint): Promise<void> {
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

async function recordedId(scope: DimensionScope, fingerprint: string): Promise<string | undefined> {
  const [recorded] = await rows<{ id: string }>(
    scope,
    "SELECT toString(dimension_id) AS id FROM dimension_collisions FINAL WHERE fingerprint = {fingerprint:UInt128}",
    { fingerprint },
  );
  return recorded?.id;
}

/** The most salts to try. With 53 bits, even a second try is extremely unlikely. */
const mostSalts = 65_535;

async function recordFreeId(scope: DimensionScope, fingerprint: string, mask: bigint): Promise<string> {
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

async function isTaken(scope: DimensionScope, id: string): Promise<boolean> {
  const found = await rows(
    scope,
    `SELECT 1 FROM dimensions WHERE dimension_id = {id:UInt64}
     UNION ALL SELECT 1 FROM dimension_collisions WHERE dimension_id = {id:UInt64} LIMIT 1`,
    { id },
  );
  return found.length > 0;
}

async function rows<Row>(scope: DimensionScope, query: string, params: Params): Promise<Row[]> {
  const settings = { optimize_aggregation_in_order: 1 } as const;
  return await readRows<Row>(scope.client, { query, params }, scope.signal, settings);
}
