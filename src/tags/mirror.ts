/**
 * Brings a tenant's ClickHouse up to date with its tags. One at a time over all processes: whoever holds the lock on the
 * tenant's row in `tag_mirrors` takes the oldest changes, reads what those tags are now, writes them under a version from a
 * sequence, and forgets the changes. Read and numbered under the lock, a newer version is never an older state. A crash
 * between the two stores leaves the changes waiting, and to write them again does no harm: the engine keeps the newest version of each tag.
 */
import { randomUUID } from "node:crypto";
import type { ClickHouseClient } from "@clickhouse/client";
import { anySignal } from "any-signal";
import type { Pool, PoolClient } from "pg";
import { readRows } from "../store/clickhouse/statement.js";
import { runStatement } from "../store/postgres/statement.js";
import { withTransaction } from "../store/postgres/transaction.js";
import { fillMirror } from "./fill-mirror.js";
import { forgetChanges, isWaiting, oldestChanges, type WaitingTag } from "./outbox.js";

export interface MirrorTarget {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly signal: AbortSignal;
}

/**
 * No statement takes longer: the transaction that holds the lock lies idle meanwhile, which Postgres allows for a minute. A store
 * that takes connections and never answers thus keeps nobody waiting for ever.
 */
const STATEMENT_MS = 45_000;

async function limited<T>(signal: AbortSignal, statement: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const either = anySignal([signal, AbortSignal.timeout(STATEMENT_MS)]);
  try {
    return await statement(either);
  } finally {
    either.clear();
  }
}

/** Mirrors all that waits. */
export async function mirrorWaiting(target: MirrorTarget): Promise<void> {
  while (await mirrorSome(target)) target.signal.throwIfAborted();
}

/** Returns whether more may wait. */
async function mirrorSome(target: MirrorTarget): Promise<boolean> {
  const { client, postgres, tenantName, signal } = target;
  return await withTransaction(postgres, async (transaction) => {
    const noted = await lockMirror(transaction, tenantName);
    const { outboxIds, tags } = await oldestChanges(transaction, tenantName);
    if (outboxIds.length === 0) return false;
    // The first tags come with the mirror's id: without it, the next check would take the mirror for another and fill it anew.
    if (noted.version === 0) await fillIfOutdated(target, transaction, noted);
    const version = await nextVersion(transaction);
    await limited(signal, (limit) => writeMirror(client, tags, version, limit));
    await forgetChanges(transaction, outboxIds);
    await noteVersion(transaction, tenantName, version);
    return true;
  });
}

/** What a tenant's ClickHouse says of itself: the newest version, and which mirror it is. */
interface MirrorState {
  readonly version: number;
  readonly mirror_id: string | null;
}

/**
 * Fills the mirror anew when it is not the one that was written last: a database that was made anew, moved, or set back to an
 * older state. Returns whether it was.
 */
export async function checkMirror(target: MirrorTarget): Promise<boolean> {
  const { postgres, tenantName } = target;
  return await withTransaction(postgres, async (transaction) => {
    const noted = await lockMirror(transaction, tenantName);
    // A tenant that never had a tag needs no mirror.
    if (noted.version === 0 && !(await isWaiting(transaction, tenantName))) return false;
    return await fillIfOutdated(target, transaction, noted);
  });
}

/** For who holds the lock of the mirror. Returns whether it was filled. */
async function fillIfOutdated(
  { client, tenantName, signal }: MirrorTarget,
  transaction: PoolClient,
  noted: NotedMirror,
): Promise<boolean> {
  const held = await limited(signal, (limit) => readMirrorState(client, limit));
  if (held.mirror_id === noted.mirror_id && held.version === noted.version) return false;
  const version = await nextVersion(transaction, held.version);
  const mirrorId = randomUUID();
  const write = (tags: readonly WaitingTag[]) =>
    limited(signal, (limit) => writeMirror(client, tags, version, limit));
  const filled = await fillMirror({ client, transaction, tenantName, version, mirrorId, write, signal });
  await noteVersion(transaction, tenantName, filled === 0 ? 0 : version, mirrorId);
  return true;
}

interface NotedMirror {
  readonly mirror_id: string;
  readonly version: number;
}

async function lockMirror(transaction: PoolClient, tenantName: string): Promise<NotedMirror> {
  await runStatement(transaction, {
    query: "INSERT INTO tag_mirrors (tenant_name) VALUES ($1) ON CONFLICT DO NOTHING",
    params: [tenantName],
  });
  const { rows } = await runStatement<NotedMirror>(transaction, {
    query: "SELECT mirror_id, version FROM tag_mirrors WHERE tenant_name = $1 FOR UPDATE",
    params: [tenantName],
  });
  const [noted] = rows;
  if (noted === undefined) throw new Error("a row that was just made is not there");
  return noted;
}

/** Later than any before, and than `held`: after Postgres was set back, ClickHouse may hold later ones. */
async function nextVersion(transaction: PoolClient, held = 0): Promise<number> {
  const next = { query: "SELECT nextval('tag_mirror_versions') AS version", params: [] };
  const version = (await runStatement<{ version: number }>(transaction, next)).rows[0]?.version ?? 0;
  if (version > held) return version;
  await runStatement(transaction, { query: "SELECT setval('tag_mirror_versions', $1)", params: [held + 1] });
  return held + 1;
}

async function noteVersion(
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
  const [held] = await readRows<{ version: number; mirror_id: string }>(client, read, signal);
  return { version: held?.version ?? 0, mirror_id: held?.mirror_id ?? null };
}

/** Tags that are gone are written too, as removed. */
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
