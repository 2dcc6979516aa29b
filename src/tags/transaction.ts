/**
 * One transaction that writes tags. What it changes goes into the outbox, and into the numbers of tags of each label, by
 * the same commit. The tenant's advisory lock is held, shared: who removes dimensions holds it alone, so that no tag is ever
 * written for a dimension that is just being removed.
 */
import type { Pool, PoolClient } from "pg";
import { lockKey } from "../store/postgres/advisory-lock.js";
import { runStatement } from "../store/postgres/statement.js";
import { type Interruption, withTransaction } from "../store/postgres/transaction.js";
import { addToLabelCounts } from "./labels.js";
import { noteChanges } from "./outbox.js";

export interface TagTransaction {
  readonly client: PoolClient;
  readonly tenantName: string;
  /** A label has so many tags more. */
  count(labelId: number, added: number): void;
  /** A tag was made, changed or removed. */
  changed(tagId: number, dimensionId: number): void;
  /** What the audit says besides of what is changed. Not called where nothing is: then there is no entry. */
  note(more: Readonly<Record<string, unknown>>): void;
}

/** Whose tags, and who waits for them to be written. */
export interface TagWriter {
  readonly postgres: Pool;
  readonly tenantName: string;
  /** Undefined: nobody gives up. */
  readonly stop?: Interruption | undefined;
}

export async function writeTags<T>(
  { postgres, tenantName, stop }: TagWriter,
  work: (tx: TagTransaction) => Promise<T>,
  how: "beside other writers" | "alone" = "beside other writers",
): Promise<T> {
  const lock = how === "alone" ? "pg_advisory_xact_lock" : "pg_advisory_xact_lock_shared";
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
        let noted: Readonly<Record<string, unknown>> | undefined;
        const result = await work({
          client,
          tenantName,
          count: (labelId, added) => counts.set(labelId, (counts.get(labelId) ?? 0) + added),
          changed: (tagId, dimensionId) => tags.set(tagId, dimensionId),
          note: (more) => {
            noted = more;
          },
        });
        await noteChanges(client, tenantName, tags);
        await addToLabelCounts(client, counts);
        if (noted !== undefined) await stop?.record?.(client, noted);
        return result;
      },
      stop,
    ),
  );
}

/** Everybody locks in the same order, except where two bulks meet dimensions that are both new to Postgres. */
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

/** Writers of one dimension come one after the other, so that replacing its tags never meets one that is just being added. */
export async function lockDimension(tx: TagTransaction, dimensionId: number): Promise<void> {
  const key = lockKey(`dimension ${dimensionId} of ${tx.tenantName}`);
  await runStatement(tx.client, {
    query: "SELECT pg_advisory_xact_lock($1::bigint)",
    params: [key.toString()],
  });
}
