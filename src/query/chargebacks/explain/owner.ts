/** Owners on the day, by the allocation and by the inventory, and what Postgres stores about the day's publication. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { addDays } from "../../../common/days.js";
import { bindings } from "../../../postgres/bindings.js";
import { instantText } from "../../../postgres/instant-text.js";
import { type PgStatement as PostgresStatement, readPostgres } from "../../../postgres/statement.js";
import { inventoryTables, knownAt } from "../../inventory/known.js";
import type { Moment } from "../../inventory/moment.js";
import type { DimensionFields } from "../dimension-row.js";

export interface OwnerOnDay {
  /** Members of the `owner` set that the day was allocated with, ascending. */
  readonly owner_ids: string[];
  /** Its last state on the day in the inventory; null if the inventory did not have it. */
  readonly identity: ExplainedIdentity | null;
  readonly resource: ExplainedResource | null;
}

export interface ExplainedIdentity {
  readonly identity_type: string;
  readonly display_name: string | null;
  readonly team: string | null;
}

export interface ExplainedResource {
  readonly resource_type: string;
  readonly display_name: string | null;
  readonly parent_id: string | null;
  readonly owner_id: string | null;
  readonly status: "active" | "deleted";
}

const shown = {
  identities: "identity_type, display_name, metadata->>'team' AS team",
  resources: "resource_type, display_name, parent_id, owner_id, status",
} as const;

function knownOnDay(
  kind: keyof typeof shown,
  tenantName: string,
  { id, day }: { readonly id: string; readonly day: string },
): PostgresStatement {
  const { bind, params } = bindings();
  const moment: Moment = { kind: "period", start: `${day}T00:00:00Z`, end: `${addDays(day, 1)}T00:00:00Z` };
  const source = knownAt(kind, tenantName, moment, bind);
  const query = `SELECT ${shown[kind]} FROM (${source}) AS known_then WHERE ${inventoryTables[kind].id} = ${bind(id)}`;
  return { query, params };
}

export interface OwnerStores {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
}

/** Reads the inventory's part of `OwnerOnDay`. The rest comes from the store. */
export async function readKnownOnDay(
  { postgres, tenantName }: Pick<OwnerStores, "postgres" | "tenantName">,
  { identity_id, resource_id }: Pick<DimensionFields, "identity_id" | "resource_id">,
  day: string,
  signal?: AbortSignal,
): Promise<Omit<OwnerOnDay, "owner_ids">> {
  const read = <Known extends object>(kind: keyof typeof shown, id: string) =>
    readPostgres<Known>(postgres, knownOnDay(kind, tenantName, { id, day }), signal);
  const [[identity], [resource]] = await Promise.all([
    read<ExplainedIdentity>("identities", identity_id),
    read<ExplainedResource>("resources", resource_id),
  ]);
  return { identity: identity ?? null, resource: resource ?? null };
}

export interface InventoryOfDay {
  /** `2026-01-01T00:00:00Z`. */
  readonly published_at: string | null;
  /** Data that was missing when the day was last gathered, as sentences. */
  readonly lacks: string[];
}

export async function readDayState(
  { postgres, tenantName }: OwnerStores,
  day: string,
  signal?: AbortSignal,
): Promise<InventoryOfDay | undefined> {
  const statement = {
    query: `SELECT ${instantText("calculated_at")} AS published_at, lacks FROM tracking_dates WHERE tenant_name = $1 AND tracking_date = $2`,
    params: [tenantName, day],
  };
  const [state] = await readPostgres<InventoryOfDay>(postgres, statement, signal);
  return state;
}
