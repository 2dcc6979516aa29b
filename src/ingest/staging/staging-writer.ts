/**
 * Collects rows for the staging tables of an epoch, and inserts them in large batches. A caller that adds rows waits
 * while a batch is sent, so memory holds one batch for each table, however much an upstream sends.
 */
import { Readable } from "node:stream";
import { type ClickHouseClient, drainStream } from "@clickhouse/client";
import { isoDay } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import type { Statement } from "../../clickhouse/statement.js";
import type { LineAssignment } from "../configured/assign-lines.js";
import type { GapOfBilled } from "../ecosystem.js";
import { selectFromSeries } from "./series-bytes.js";
import { type StagedInput, selectedColumns, stagedColumns, type TenantColumns } from "./staged-row.js";

/** Rows of a table as text, or series of `usage` as bytes. */
type StagedRows = StagedInput | "usage_series";

export interface StagingWriter {
  add(rowsOf: StagedRows, rows: Iterable<string | Buffer>): Promise<void>;
  /** Inserts lines of the bill that the engine selects. Returns their number. */
  insertLines(select: Statement, tenant: TenantColumns): Promise<number>;
  /** Inserts usage facts that the engine selects. Returns their number. */
  insertUsage(select: Statement): Promise<number>;
  /** Inserts the gaps of resources that are billed on the day, according to the inserted lines. */
  insertGapsOfBilled(gaps: readonly GapOfBilled[]): Promise<number>;
  /**
   * Sends the remaining rows. Prepares the tables even if there is nothing to send. Throws if any insert failed,
   * including earlier ones.
   */
  finish(): Promise<void>;
}

/**
 * About 400,000 usage facts as text, 1.6 M in series: large enough for few parts (8 MiB took the engine a tenth more),
 * small enough to hold one for each table.
 */
const BATCH_LENGTH = 32 * 1_048_576;

export interface StagingWriterOptions {
  readonly client: ClickHouseClient;
  readonly epoch: number;
  /** Rule and identity of lines that the engine selects. Without it, they have none yet. */
  readonly assignment?: LineAssignment | undefined;
  /** Makes room in the tables. Runs once, before the first insert, so that an upstream that is down costs nothing. */
  readonly prepare: () => Promise<void>;
  readonly signal: AbortSignal;
}

export function createStagingWriter(options: StagingWriterOptions): StagingWriter {
  const { client, epoch, assignment, prepare, signal } = options;
  const pending = new Map<StagedRows, { rows: (string | Buffer)[]; length: number }>();
  /** One insert at a time: concurrent queries share one sink, and the next batch waits for the last one. */
  let queue: Promise<void> | undefined;
  const prepared = (): Promise<void> => {
    queue ??= prepare();
    return queue;
  };

  async function insert(rowsOf: StagedRows, rows: readonly (string | Buffer)[]): Promise<void> {
    signal.throwIfAborted();
    const { stream } = await client.exec({
      query: insertOf(rowsOf, epoch),
      values: Readable.from(rows, { objectMode: false }),
      abort_signal: signal,
      clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    });
    await drainStream(stream);
  }

  function flush(table: StagedRows): Promise<void> {
    const batch = pending.get(table);
    pending.delete(table);
    if (batch === undefined || batch.rows.length === 0) return prepared();
    const joined = [joinedRows(batch.rows)];
    const inserted = prepared().then(() => insert(table, joined));
    inserted.catch(() => undefined); // the next caller that awaits it gets the error
    queue = inserted;
    return inserted;
  }

  async function insertSelected({ query, params }: Statement): Promise<number> {
    signal.throwIfAborted();
    const { summary } = await client.command({
      query,
      query_params: { ...params },
      abort_signal: signal,
      clickhouse_settings: { max_partitions_per_insert_block: "1000" },
    });
    return Number(summary?.written_rows);
  }

  /** Queues a statement behind the earlier inserts. */
  function insertInOrder(statement: Statement): Promise<number> {
    const inserted = prepared().then(() => insertSelected(statement));
    queue = inserted.then(() => undefined);
    queue.catch(() => undefined); // the next caller that awaits it gets the error
    return inserted;
  }

  return {
    insertLines: (select, tenant) => insertInOrder(linesInto(epoch, select, tenant, assignment)),
    insertUsage: (select) => insertInOrder(usageInto(epoch, select)),
    insertGapsOfBilled: (gaps) => insertInOrder(gapsOfBilled(epoch, gaps)),
    async add(table, rows) {
      const batch = pending.get(table) ?? { rows: [], length: 0 };
      pending.set(table, batch);
      for (const row of rows) {
        batch.rows.push(row);
        batch.length += row.length;
      }
      if (batch.length >= BATCH_LENGTH) await flush(table);
    },
    async finish() {
      for (const table of [...pending.keys()]) await flush(table);
      await prepared();
    },
  };
}

function joinedRows(rows: readonly (string | Buffer)[]): string | Buffer {
  if (rows.every((row) => typeof row === "string")) return rows.join("");
  return Buffer.concat(rows.map((row) => (typeof row === "string" ? Buffer.from(row) : row)));
}

function insertOf(rowsOf: StagedRows, epoch: number): string {
  const isSeries = rowsOf === "usage_series";
  const table = isSeries ? "usage" : rowsOf;
  const into = `INSERT INTO ${stagedTable(table, epoch)} (${stagedColumns(table).join(", ")})`;
  return isSeries ? `${into} ${selectFromSeries()} FORMAT RowBinary` : `${into} FORMAT TabSeparated`;
}

/**
 * Inserts lines that the engine itself selects. `select`: rows with the columns `selectedColumns`, by name. If it
 * groups by the sorting key of its table, it holds one group at a time; other groups are spilled to disk if there are
 * many.
 */
function linesInto(
  epoch: number,
  { query, params }: Statement,
  tenant: TenantColumns,
  assignment: LineAssignment | undefined,
): Statement {
  const columns = ["ecosystem", "tenant_id", ...selectedColumns].join(", ");
  const lines = `SELECT {line_ecosystem:String} AS ecosystem, {line_tenant_id:String} AS tenant_id, toDate(timestamp, 'UTC') AS day, * FROM (${query})`;
  const { rule, identity } = assignment ?? { rule: "''", identity: "''" };
  return {
    query: `
INSERT INTO ${stagedTable("billing", epoch)} (${columns}, rule, named_identity)
SELECT ${columns}, ${rule} AS rule, ${identity} AS named_identity FROM (${lines})
SETTINGS optimize_aggregation_in_order = 1, max_bytes_before_external_group_by = 268435456`,
    params: { ...params, line_ecosystem: tenant.ecosystem, line_tenant_id: tenant.tenant_id },
  };
}

/** Inserts usage facts that the engine itself selects. `select`: rows with the columns of a usage fact, by name. */
function usageInto(epoch: number, { query, params }: Statement): Statement {
  const columns = stagedColumns("usage").join(", ");
  return {
    query: `INSERT INTO ${stagedTable("usage", epoch)} (${columns}) SELECT ${columns} FROM (${query})`,
    params,
  };
}

/** Inserts the gaps of resources with a staged line on the day. A gap without a resource stands for all of them. */
function gapsOfBilled(epoch: number, gaps: readonly GapOfBilled[]): Statement {
  return {
    query: `
INSERT INTO ${stagedTable("usage_gaps", epoch)} (day, metric, resource_id, reason)
SELECT day, gap.2, resource_id, gap.3
FROM (SELECT DISTINCT day, resource_id FROM ${stagedTable("billing", epoch)} WHERE day IN {days:Array(Date)})
ARRAY JOIN arrayFilter(g -> g.1 = day AND g.4 IN ('', toString(resource_id)), arrayZip({days:Array(Date)}, {metrics:Array(String)}, {reasons:Array(String)}, {resources:Array(String)})) AS gap`,
    params: {
      days: gaps.map(({ day }) => isoDay(day)),
      metrics: gaps.map(({ metric }) => metric),
      reasons: gaps.map(({ reason }) => reason),
      resources: gaps.map(({ resource_id = "" }) => resource_id),
    },
  };
}
