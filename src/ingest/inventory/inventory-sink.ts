/**
 * The sink of an inventory gathering. Records are collected and written to Postgres in large batches, one statement
 * each, because a gatherer that queries cluster by cluster sends hundreds of small ones.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { digestOf } from "../../common/digest.js";
import type { TenantConfig } from "../../config/config.js";
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import { runStatement } from "../../postgres/statement.js";
import type { IdentityRecord, InventorySink, ResourceRecord } from "../ecosystem.js";
import { type InventoryFindings, noFindings } from "./findings.js";
import { refuseKey } from "./refuse-key.js";
import { mergeSelected, notStored } from "./selected.js";
import { areMerged, recordMerged } from "./sql/merged-resources.js";
import { UPSERT_IDENTITIES } from "./sql/upsert-identities.js";
import { UPSERT_RESOURCES, UPSERT_SELECTED_RESOURCES } from "./sql/upsert-resources.js";

export interface InventoryOwner {
  readonly tenantName: string;
  readonly tenantId: string;
  readonly ecosystem: string;
  /** Teams of identities in the configuration. They override those of the ecosystem. */
  readonly teams?: Readonly<Record<string, string>>;
  /** Keys of tags whose values are identities as they are. */
  readonly identityTags?: readonly string[];
}

export function inventoryOwner(tenant: TenantConfig): InventoryOwner {
  return {
    tenantName: tenant.tenant_name,
    tenantId: tenant.tenant_id,
    ecosystem: tenant.ecosystem,
    teams: tenant.identity_to_team,
    identityTags: tenant.allocation.identity.flatMap(({ tag, map, pattern }) =>
      tag !== undefined && map === undefined && pattern === undefined ? [tag] : [],
    ),
  };
}

const LARGEST_BATCH = 5000;

export interface FlushedInventorySink extends InventorySink {
  /** Writes the remaining records. `findings` are complete only then. */
  flush(): Promise<void>;
}

export interface InventoryDestination {
  readonly postgres: Pool;
  /** Client of the tenant's store, where `resourceRows` are selected. */
  readonly client: ClickHouseClient;
  readonly owner: InventoryOwner;
  /** Time of the gathering, by the clock of Postgres. */
  readonly seenAt: string;
  readonly signal: AbortSignal;
}

export function createInventorySink(destination: InventoryDestination): {
  sink: FlushedInventorySink;
  findings: InventoryFindings;
} {
  const { postgres, client, owner, seenAt, signal } = destination;
  const findings = noFindings();
  const common = [owner.tenantName, owner.ecosystem, owner.tenantId, seenAt];

  /**
   * Yields the records that can be stored, each id once, because a statement cannot update a row twice. The last record
   * of an id counts.
   */
  function* batchesOf<Item>(
    kind: "resource" | "identity",
    records: readonly Item[],
    key: (item: Item) => Key,
  ) {
    const byId = new Map<string, Item>();
    for (const record of records) {
      const { id, type } = key(record);
      const refusal = refuseKey(id, type);
      if (refusal === undefined) byId.set(id, record);
      else {
        findings.incomplete.add(`${kind}:${type}`);
        findings.errors.push(notStored(kind, id, refusal));
      }
    }
    const storableRecords = [...byId.values()];
    for (const record of storableRecords) {
      const type = `${kind}:${key(record).type}`;
      findings.counts.set(type, (findings.counts.get(type) ?? 0) + 1);
    }
    for (let from = 0; from < storableRecords.length; from += LARGEST_BATCH)
      yield storableRecords.slice(from, from + LARGEST_BATCH);
  }

  const collected: { resources: ResourceRecord[]; identities: IdentityRecord[] } = {
    resources: [],
    identities: [],
  };

  const write = {
    async resources() {
      const records = collected.resources.splice(0);
      const key = (record: ResourceRecord) => ({ id: record.resource_id, type: record.resource_type });
      for (const batch of batchesOf("resource", records, key)) {
        await runStatement(postgres, {
          query: UPSERT_RESOURCES,
          params: [
            ...common,
            batch.map((record) => record.resource_id),
            batch.map((record) => record.resource_type),
            batch.map((record) => storable(record.display_name)),
            batch.map((record) => storable(record.parent_id)),
            batch.map((record) => storable(record.owner_id)),
            batch.map((record) => record.created_at),
            batch.map((record) => storableJson(record.metadata)),
          ],
        });
      }
    },
    async identities() {
      const records = collected.identities.splice(0);
      const key = (record: IdentityRecord) => ({ id: record.identity_id, type: record.identity_type });
      for (const batch of batchesOf("identity", records, key)) {
        await runStatement(postgres, {
          query: UPSERT_IDENTITIES,
          params: [
            ...common,
            batch.map((record) => record.identity_id),
            batch.map((record) => record.identity_type),
            batch.map((record) => storable(record.display_name)),
            batch.map((record) => record.created_at),
            batch.map((record) => storableJson({ ...record.metadata, ...teamOf(owner, record) })),
          ],
        });
      }
    },
  };

  const sink: FlushedInventorySink = {
    async resources(records) {
      collected.resources.push(...records);
      if (collected.resources.length >= LARGEST_BATCH) await write.resources();
    },
    async identities(records) {
      collected.identities.push(...records);
      if (collected.identities.length >= LARGEST_BATCH) await write.identities();
    },
    async resourceRows(select) {
      await write.resources();
      const digest = digestOf([owner.ecosystem, owner.tenantId, select.query, select.params]);
      const merged = await runStatement(postgres, areMerged(owner.tenantName, digest));
      if (merged.rowCount === 1) return;
      const merge = { query: UPSERT_SELECTED_RESOURCES, params: common };
      const isWhole = await mergeSelected({
        postgres,
        client,
        kind: "resource",
        select,
        merge,
        findings,
        signal,
      });
      await runStatement(postgres, recordMerged(owner.tenantName, isWhole ? digest : null));
    },
    async flush() {
      await write.resources();
      await write.identities();
    },
  };
  return { sink, findings };
}

/** The identity of unallocated costs exists from the first gathering on, and is never deleted. */
export const unallocatedIdentity: IdentityRecord = {
  identity_id: UNALLOCATED,
  identity_type: "system",
  display_name: "Unallocated",
  created_at: null,
  metadata: {},
};

/** Returns the configured team of an identity, which is stored as `team` in its metadata. */
function teamOf({ teams = {} }: InventoryOwner, { identity_id: id }: IdentityRecord): { team?: string } {
  const team = Object.hasOwn(teams, id) ? teams[id] : undefined;
  return team === undefined ? {} : { team };
}

interface Key {
  readonly id: string;
  readonly type: string;
}

/**
 * Replaces zero bytes and lone surrogates, which Postgres or UTF-8 does not allow: a damaged name is better than none.
 */
function storable(text: string | null): string | null {
  return text === null ? null : text.replace(/[\0\p{Surrogate}]/gu, "\uFFFD");
}

function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === "string" ? storable(part) : part));
}
