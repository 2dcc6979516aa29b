/** Bills in memory, and a tenant whose lease the test holds. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Test } from "tap";
import { readRows } from "../../../src/clickhouse/statement.js";
import type {
  DeliveryStore,
  LoadSettings,
} from "../../../src/ingest/ecosystems/focus/deliveries/delivery-store.js";
import { loadDelivery } from "../../../src/ingest/ecosystems/focus/deliveries/load-delivery.js";
import type {
  BillSource,
  DeliveredFile,
  Delivery,
} from "../../../src/ingest/ecosystems/focus/sources/delivery.js";
import { createBackupLock } from "../../../src/stores/backup-lock.js";
import { EPOCH, openGatheringStores } from "../gathering-stores.js";

export const loadSettings: LoadSettings = {
  cost: "EffectiveCost",
  currency: undefined,
  shrinkLimit: 0.5,
  hash: "h",
  today: "2026-07-15",
  keepFrom: "2000-01-01",
  spread: "none",
  overlaps: { precedence: [], adding: new Set() },
};

export async function openDeliveryStore(t: Test): Promise<DeliveryStore> {
  const { postgres, store } = await openGatheringStores(t);
  const backupLock = createBackupLock();
  return { client: store.client, postgres, backupLock, tenantName: store.tenantName, epoch: EPOCH };
}

export function fileOf(name: string, content: Buffer | string, maxUnpackedMib = 100): DeliveredFile {
  const bytes = Buffer.from(content);
  const version = createHash("sha256").update(bytes).digest("hex");
  return {
    name,
    size: bytes.length,
    version,
    maxUnpackedMib,
    open: async () => Readable.from([bytes], { objectMode: false }),
  };
}

export function deliveryOf(files: readonly DeliveredFile[], changes: Partial<Delivery> = {}): Delivery {
  const id = createHash("sha256")
    .update(JSON.stringify(files.map(({ name, version }) => [name, version])))
    .digest("hex");
  return { source: "bills", billing_period: "2026-05", kind: "snapshot", id, files, remarks: [], ...changes };
}

export function testBillSource(...deliveries: readonly Delivery[]): BillSource {
  return {
    name: "bills",
    list: async () => ({ deliveries, pending: [], waiting: [], remarks: [] }),
    close: async () => undefined,
  };
}

const columns = [
  "BilledCost",
  "EffectiveCost",
  "ContractedCost",
  "ListCost",
  "BillingCurrency",
  "ChargePeriodStart",
  "ChargePeriodEnd",
  "BillingAccountId",
  "SubAccountId",
  "ServiceCategory",
  "ServiceName",
  "ResourceId",
  "ResourceType",
  "Tags",
  "x_Extra",
] as const;
/** Creates a bill whose rows state the period. */
const furtherColumns = ["ResourceName", "SubAccountName"] as const;
type Row = Partial<Record<(typeof columns)[number] | (typeof furtherColumns)[number], string>>;

/** Creates a bill as CSV. Each row is a plain line of 1 May with some changes. */
export function csv(rows: readonly Row[]): string {
  const plain: Row = {
    BilledCost: "1",
    EffectiveCost: "1",
    ContractedCost: "1",
    ListCost: "1",
    BillingCurrency: "USD",
    ChargePeriodStart: "2026-05-01T00:00:00Z",
    ChargePeriodEnd: "2026-05-02T00:00:00Z",
    BillingAccountId: "payer",
    SubAccountId: "team",
    ServiceCategory: "Compute",
    ServiceName: "EC2",
    ResourceId: "i-1",
    ResourceType: "Instance",
    Tags: "",
    x_Extra: "",
  };
  const quoted = (value: string) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const shown = [...columns, ...furtherColumns.filter((name) => rows.some((row) => row[name] !== undefined))];
  const text = rows.map((row) => shown.map((name) => quoted({ ...plain, ...row }[name] ?? "")).join(","));
  return [shown.join(","), ...text, ""].join("\n");
}

export async function loadBills(
  store: DeliveryStore,
  delivery: Delivery,
  changes: Partial<LoadSettings> = {},
) {
  return await loadDelivery(
    store,
    delivery,
    { old: [], moved: [], known: [], others: [] },
    { ...loadSettings, ...changes },
    new AbortController().signal,
  );
}

export async function loadedRows<Row>(store: DeliveryStore, query: string): Promise<Row[]> {
  return await readRows<Row>(store.client, { query, params: {} });
}

/** Reads the recorded deliveries, oldest first. */
export async function recorded(store: DeliveryStore): Promise<Record<string, unknown>[]> {
  const query =
    "SELECT state, lines::int, sums, findings, problem, remarks, first_day::text, last_day::text, files FROM deliveries ORDER BY delivery_id";
  return (await store.postgres.query(query)).rows;
}
