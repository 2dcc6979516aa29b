/**
 * Rows on their way into the staging tables of an epoch: collected per table and inserted in large batches. Whoever adds
 * rows waits while a batch is on its way, so memory holds one batch a table however much an upstream sends.
 */
import { Readable } from "node:stream";
import type { ClickHouseClient } from "@clickhouse/client";
import { stagedTable } from "../../store/clickhouse/staging.js";
import { type StagedInput, stagedColumns } from "./row-text.js";

export interface StagingWriter {
  add(table: StagedInput, rows: Iterable<string>): Promise<void>;
  /** Sends what is left; also prepares the tables when there was nothing to send. Throws when any insert failed, also an earlier one. */
  finish(): Promise<void>;
}

/** About 400,000 usage facts: large enough for few parts (8 MiB took the engine a tenth more), small enough to hold one for each table. */
const BATCH_CHARACTERS = 32 * 1_048_576;

export interface StagingWriterOptions {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  /** Makes room in the tables: runs once, before the first insert, so that an upstream that is down costs nothing. */
  readonly prepare: () => Promise<void>;
  readonly signal: AbortSignal;
}

export function createStagingWriter({ client, epoch, prepare, signal }: StagingWriterOptions): StagingWriter {
  const pending = new Map<StagedInput, { rows: string[]; characters: number }>();
  /** One insert at a time: queries that run at the same time share one sink, and the next batch waits for the last. */
  let queue: Promise<void> | undefined;
  const prepared = (): Promise<void> => {
    queue ??= prepare();
    return queue;
  };

  async function insert(table: StagedInput, rows: readonly string[]): Promise<void> {
    signal.throwIfAborted();
    await client.insert({
      table: stagedTable(table, epoch),
      columns: [...stagedColumns[table]],
      values: Readable.from(rows, { objectMode: false }),
      format: "TabSeparated",
      abort_signal: signal,
      clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    });
  }

  function flush(table: StagedInput): Promise<void> {
    const batch = pending.get(table);
    pending.delete(table);
    if (batch === undefined || batch.rows.length === 0) return prepared();
    const joined = [batch.rows.join("")];
    const inserted = prepared().then(() => insert(table, joined));
    inserted.catch(() => undefined); // whoever awaits it next gets the failure
    queue = inserted;
    return inserted;
  }

  return {
    async add(table, rows) {
      const batch = pending.get(table) ?? { rows: [], characters: 0 };
      pending.set(table, batch);
      for (const row of rows) {
        batch.rows.push(row);
        batch.characters += row.length;
      }
      if (batch.characters >= BATCH_CHARACTERS) await flush(table);
    },
    async finish() {
      for (const table of [...pending.keys()]) await flush(table);
      await prepared();
    },
  };
}
