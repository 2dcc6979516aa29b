import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../clickhouse/statement.js";
import { type LedgerName, ledgerNames } from "../../domain/ledger.js";

/** The identity of a store, and the state of its published days. */
export interface StoreState {
  /** Null if no run has used the store yet. */
  readonly storeId: string | null;
  readonly ledgers: Readonly<Record<LedgerName, ReadonlyMap<string, StoredDay>>>;
}

export interface StoredDay {
  /** Hash of the input of the visible rows, as recorded when they were published. Undefined if nothing was recorded. */
  readonly hash: string | undefined;
  /** Number of rows when they were published. */
  readonly recordedRows: number;
  /** Number of rows now. */
  readonly rows: number;
  /** True if the day has lines of a bill. */
  readonly isBilled: boolean;
}

/** Takes milliseconds: it reads the list of parts and one small table, but no facts. */
export async function readStoreState(client: ClickHouseClient, signal?: AbortSignal): Promise<StoreState> {
  const read = async <Row>(query: string) => await readRows<Row>(client, { query, params: {} }, signal);
  const [identity] = await read<{ store_id: string }>(
    "SELECT toString(store_id) AS store_id FROM store_identity",
  );
  const noted = await read<{ ledger: string; name: string; input_hash: string; noted: number }>(
    "SELECT ledger, toString(day) AS name, input_hash, row_count AS noted FROM published_days FINAL WHERE input_hash != ''",
  );
  const counted = await read<{ table: string; day: string; n: number }>(`
SELECT table, partition AS day, sum(rows) AS n FROM system.parts
WHERE database = currentDatabase() AND active AND table IN ('billing', 'next_billing', 'chargebacks', 'topic_attributions')
GROUP BY table, partition`);
  const key = (table: string, day: string) => `${table} ${day}`;
  const rows = new Map(counted.map(({ table, day, n }) => [key(table, day), n]));
  const notes = new Map(noted.map((note) => [key(note.ledger, note.name), note]));
  const daysOf = (ledger: LedgerName) => {
    const days = new Set([
      ...noted.filter((note) => note.ledger === ledger).map(({ name }) => name),
      ...counted.filter(({ table }) => table === ledger).map(({ day }) => day),
    ]);
    return new Map(
      [...days].map((day): [string, StoredDay] => {
        const note = notes.get(key(ledger, day));
        return [
          day,
          {
            hash: note?.input_hash,
            recordedRows: note?.noted ?? 0,
            rows: rows.get(key(ledger, day)) ?? 0,
            isBilled: ["billing", "next_billing"].some((table) => (rows.get(key(table, day)) ?? 0) > 0),
          },
        ];
      }),
    );
  };
  return {
    storeId: identity?.store_id ?? null,
    ledgers: { chargebacks: daysOf("chargebacks"), topic_attributions: daysOf("topic_attributions") },
  };
}

/** A published day, with the hash of its input and its number of rows. */
export interface RecordedDay {
  readonly day: string;
  readonly hash: string;
  readonly rows: number;
}

/** Records the published state of days in the store. The latest epoch wins, and within an epoch the latest record. */
export async function recordPublishedDays(
  client: ClickHouseClient,
  {
    ledger,
    epoch,
    days,
  }: { readonly ledger: LedgerName; readonly epoch: number; readonly days: readonly RecordedDay[] },
): Promise<void> {
  if (days.length === 0) return;
  await client.insert({
    table: "published_days",
    format: "JSONEachRow",
    values: days.map(({ day, hash, rows }) => ({
      ledger,
      day,
      input_hash: hash,
      row_count: rows,
      epoch,
    })),
  });
}

/** Gives a store its id. */
export async function writeStoreId(client: ClickHouseClient, storeId: string): Promise<void> {
  await client.command({ query: "TRUNCATE TABLE store_identity" });
  await client.insert({ table: "store_identity", format: "JSONEachRow", values: [{ store_id: storeId }] });
}

/** Deletes the records of days that retention has dropped. */
export async function deletePublishedDays(
  client: ClickHouseClient,
  before: Readonly<Record<LedgerName, string>>,
): Promise<void> {
  const condition = ledgerNames.map((name) => `(ledger = '${name}' AND day < {${name}:Date})`).join(" OR ");
  const query = `SELECT 1 FROM published_days WHERE ${condition} LIMIT 1`;
  if ((await readRows(client, { query, params: before })).length === 0) return;
  await client.command({
    query: `ALTER TABLE published_days DELETE WHERE ${condition}`,
    query_params: { ...before },
    clickhouse_settings: { mutations_sync: "1" },
  });
}
