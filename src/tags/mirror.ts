/**
 * Brings a tenant's ClickHouse up to date with its tags, one process at a time. The owner of the lock on the tenant's
 * row in `tag_mirrors` takes the oldest changes, reads the current state of those tags, writes it under a version from
 * a sequence, and deletes the changes. Reading and numbering happen under the lock, so a newer version never has an
 * older state. After a crash between the two stores, the changes are still pending. Writing them again does no harm:
 * the engine keeps the newest version of each tag.
 */
import { randomUUID } from "node:crypto";
import type { ClickHouseClient } from "@clickhouse/client";
import { anySignal } from "any-signal";
import type { Pool, PoolClient } from "pg";
import { readRows } from "../clickhouse/statement.js";
import { runStatement } from "../postgres/statement.js";
import { withTransaction } from "../postgres/transaction.js";
import { fillMirror } from "./fill-mirror.js";
import { forgetChanges, isWaiting, oldestChanges, type WaitingTag } from "./outbox.js";

export interface MirrorTarget {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly signal: AbortSignal;
}

/**
 * The limit of each statement. Meanwhile the transaction with the lock is idle, which Postgres allows for a minute.
 * Thus a store that accepts connections and never responds does not block others forever.
 */
const STATEMENT_MS = 45_000;

async function withTimeout<T>(
  signal: AbortSignal,
  statement: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const either = anySignal([signal, AbortSignal.timeout(STATEMENT_MS)]);
  try {
    return await statement(either);
  } finally {
    either.clear();
  }
}

/** Mirrors all pending changes. */
export async function mirrorWaiting(target: MirrorTarget): Promise<void> {
  while (await mirrorSome(target)) target.signal.throwIfAborted();
}

/** Returns whether more changes may be pending. */
async function mirrorSome(target: MirrorTarget): Promise<boolean> {
  const { client, postgres, tenantName, signal } = target;
  return await withTransaction(postgres, async (transaction) => {
    const expected = await lockMirror(transaction, tenantName);
    const { outboxIds, tags } = await oldestChanges(transaction, tenantName);
    if (outboxIds.length === 0) return false;
    // Write the mirror's id with the first tags. Without it, the next check would take the mirror for another one and
    // refill it.
    if (expected.version === 0) await fillIfOutdated(target, transaction, expected);
    const version = await nextVersion(transaction);
    await withTimeout(signal, (limit) => writeMirror(client, tags, version, limit));
    await forgetChanges(transaction, outboxIds);
    await recordVersion(transaction, tenantName, version);
    return true;
  });
}

/** The state of a tenant's ClickHouse: the newest version, and the id of the mirror. */
interface MirrorState {
  readonly version: number;
  readonly mirror_id: string | null;
}

/**
 * Refills the mirror if it is not the one that was last written: the database was recreated, moved, or reset to an
 * older state. Returns whether it was refilled.
 */
export async function checkMirror(target: MirrorTarget): Promise<boolean> {
  const { postgres, tenantName } = target;
  return await withTransaction(postgres, async (transaction) => {
    const expected = await lockMirror(transaction, tenantName);
    // A tenant that never had a tag needs no mirror.
    if (expected.version === 0 && !(await isWaiting(transaction, tenantName))) return false;
    return await fillIfOutdated(target, transaction, expected);
  });
}

/** Requires the lock of the mirror. Returns whether it was filled. */
async function fillIfOutdated(
  { client, tenantName, signal }: MirrorTarget,
  transaction: PoolClient,
  expected: ExpectedMirror,
): Promise<boolean> {
  const mirrored = await withTimeout(signal, (limit) => readMirrorState(client, limit));
  if (mirrored.mirror_id === expected.mirror_id && mirrored.version === expected.version) return false;
  const version = await nextVersion(transaction, mirrored.version);
  const mirrorId = randomUUID();
  const write = (tags: readonly WaitingTag[]) =>
    withTimeout(signal, (limit) => writeMirror(client, tags, version, limit));
  const filled = await fillMirror({ client, transaction, tenantName, version, mirrorId, write, signal });
  await recordVersion(transaction, tenantName, filled === 0 ? 0 : version, mirrorId);
  return true;
}

interface ExpectedMirror {
  readonly mirror_id: string;
  readonly version: number;
}

async function lockMirror(transaction: PoolClient, tenantName: string): Promise<ExpectedMirror> {
  await runStatement(transaction, {
    query: "INSERT INTO tag_mirrors (tenant_name) VALUES ($1) ON CONFLICT DO NOTHING",
    params: [tenantName],
  });
  const { rows } = await runStatement<ExpectedMirror>(transaction, {
    query: "SELECT mirror_id, version FROM tag_mirrors WHERE tenant_name = $1 FOR UPDATE",
    params: [tenantName],
  });
  const [expected] = rows;
  if (expected === undefined) throw new Error("a row that was just added is missing");
  return expected;
}

/**
 * Returns a version newer than all before and than `mirrored`. If Postgres was reset, ClickHouse may have newer ones.
 */
async function nextVersion(transaction: PoolClient, mirrored = 0): Promise<number> {
  const next = { query: "SELECT nextval('tag_mirror_versions') AS version", params: [] };
  const version = (await runStatement<{ version: number }>(transaction, next)).rows[0]?.version ?? 0;
  if (version > mirrored) return version;
  await runStatement(transaction, {
    query: "SELECT setval('tag_mirror_versions', $1)",
    params: [mirrored + 1],
  });
  return mirrored + 1;
}

async function recordVersion(
  transaction: PoolClient,
  tenantName: string,
  version: number,
  mirrorId: string | null = null,
): Promise<void> {
  await runStatement(transaction, {
    query: "UPDATE tag_mirrors SET version = $2, mirror_id = coalesce($3, mirror_id) WHERE tenant_name = $1",
    params: [tenantName, version, mirrorId],
  });
}

async function readMirrorState(client: ClickHouseClient, signal: AbortSignal): Promise<MirrorState> {
  const read = {
    query: `
SELECT (SELECT max(version) FROM dimension_tags) AS version,
  (SELECT if(count() = 1, toString(any(mirror_id)), '') FROM dimension_tags_mirror) AS mirror_id`,
    params: {},
  };
  const [mirrored] = await readRows<{ version: number; mirror_id: string }>(client, read, signal);
  return { version: mirrored?.version ?? 0, mirror_id: mirrored?.mirror_id ?? null };
}

/** Writes removed tags, too, marked as deleted. */
async function writeMirror(
  client: ClickHouseClient,
  tags: readonly WaitingTag[],
  version: number,
  signal: AbortSignal,
): Promise<void> {
  if (tags.length === 0) return;
  await client.insert({
    table: "dimension_tags",
    columns: ["dimension_id", "tag_id", "tag_key", "display_name", "is_deleted", "version"],
    format: "JSONCompactEachRow",
    abort_signal: signal,
    values: tags.map(({ dimension_id, tag_id, tag_key, display_name }) => [
      dimension_id,
      tag_id,
      tag_key ?? "",
      display_name ?? "",
      tag_key === null ? 1 : 0,
      version,
    ]),
  });
}
