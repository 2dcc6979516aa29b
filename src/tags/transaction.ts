/**
 * One transaction that writes tags. The same commit adds the changes to the outbox, and to the tag counts of each
 * label. The transaction has the tenant's advisory lock, shared. Removing dimensions takes it exclusively, so that no
 * tag is ever written for a dimension that is being removed.
 */
import type { Pool, PoolClient } from "pg";
import { lockKey } from "../postgres/advisory-lock.js";
import { runStatement } from "../postgres/statement.js";
import { type Interruption, withTransaction } from "../postgres/transaction.js";
import { addToLabelCounts } from "./labels.js";
import { addToOutbox } from "./outbox.js";

export interface TagTransaction {
  readonly client: PoolClient;
  readonly tenantName: string;
  /** Adds to the number of a label's tags. */
  count(labelId: number, added: number): void;
  /** A tag was added, changed or removed. */
  changed(tagId: number, dimensionId: number): void;
  /** Sets further data for the audit entry. Without a call there is no entry, because nothing changed. */
  audit(more: Readonly<Record<string, unknown>>): void;
}

/** The tenant whose tags are written, and the request that waits for it. */
export interface TagWriter {
  readonly postgres: Pool;
  readonly tenantName: string;
  /** Undefined: the write is never interrupted. */
  readonly stop?: Interruption | undefined;
}

export async function writeTags<T>(
  { postgres, tenantName, stop }: TagWriter,
  work: (tx: TagTransaction) => Promise<T>,
  lockMode: "shared" | "exclusive" = "shared",
): Promise<T> {
  const lock = lockMode === "exclusive" ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared";
  return await retryingDeadlocks(() =>
    withTransaction(
      postgres,
      async (client) => {
        await runStatement(client, {
          query: `SELECT ${lock}($1::bigint)`,
          params: [lockKey(`tags of ${tenantName}`).toString()],
        });
        const counts = new Map<number, number>();
        const tags = new Map<number, number>();
        let auditData: Readonly<Record<string, unknown>> | undefined;
        const result = await work({
          client,
          tenantName,
          count: (labelId, added) => counts.set(labelId, (counts.get(labelId) ?? 0) + added),
          changed: (tagId, dimensionId) => tags.set(tagId, dimensionId),
          audit: (more) => {
            auditData = more;
          },
        });
        await addToOutbox(client, tenantName, tags);
        await addToLabelCounts(client, counts);
        if (auditData !== undefined) await stop?.record?.(client, auditData);
        return result;
      },
      stop,
    ),
  );
}

/** All writers lock in the same order, except if two bulks meet dimensions that are both new to Postgres. */
async function retryingDeadlocks<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const isDeadlock = error instanceof Error && "code" in error && error.code === "40P01";
      if (!isDeadlock || tries === 5) throw error;
    }
  }
}

/** Serializes the writers of a dimension, so that replacing its tags never misses one that is being added. */
export async function lockDimension(tx: TagTransaction, dimensionId: number): Promise<void> {
  const key = lockKey(`dimension ${dimensionId} of ${tx.tenantName}`);
  await runStatement(tx.client, {
    query: "SELECT pg_advisory_xact_lock($1::bigint)",
    params: [key.toString()],
  });
}
