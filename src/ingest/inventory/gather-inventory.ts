/**
 * Gathers resources and identities into Postgres, and marks missing ones as deleted.
 *
 * Only a complete gathering of a type proves that something is missing. Types that are seen only while they are active
 * (principals in metrics) may be absent for a grace period first. If suddenly nothing of a type is returned, a broken
 * source is more likely than an empty one, so nothing is deleted until that has happened
 * `zero_gather_deletion_threshold` times in a row (-1: never).
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import type { Logger } from "pino";
import { runStatement } from "../../postgres/statement.js";
import type { Gatherer } from "../ecosystem.js";
import type { InventoryReport } from "../reports.js";
import type { InventoryFindings } from "./findings.js";
import { createInventorySink, type InventoryOwner, unallocatedIdentity } from "./inventory-sink.js";
import { ACTIVE_TYPES } from "./sql/active-types.js";
import { MARK_IDENTITIES_DELETED } from "./sql/mark-identities-deleted.js";
import { MARK_RESOURCES_DELETED } from "./sql/mark-resources-deleted.js";
import { READ_ZERO_GATHERS } from "./sql/read-zero-gathers.js";
import { WRITE_ZERO_GATHERS } from "./sql/write-zero-gathers.js";

export interface GatherInventoryOptions {
  readonly postgres: Pool;
  /** Client of the tenant's store. */
  readonly client: ClickHouseClient;
  readonly owner: InventoryOwner;
  readonly gatherer: Gatherer;
  /** `zero_gather_deletion_threshold`: -1 for never; 0 counts as 1. */
  readonly zeroGatherDeletionThreshold: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

export interface GatheredInventory {
  readonly resources: number;
  readonly identities: number;
  readonly deletedResources: number;
  readonly deletedIdentities: number;
  /** Sentences: failures of data that days need. If empty, days may use this inventory. */
  readonly lacks: readonly string[];
  /** Types that were gathered completely, such as `resource:cluster`. */
  readonly completeTypes: readonly string[];
  readonly errors: readonly string[];
  readonly notes: readonly string[];
}

/** Throws if nothing could be gathered or Postgres fails. Then nothing is marked as deleted. */
export async function gatherInventory(options: GatherInventoryOptions): Promise<GatheredInventory> {
  const { postgres, client, owner, gatherer, signal, logger } = options;
  const { tenantName } = owner;
  const { zeroGathers, now } = await readTenant(postgres, tenantName);
  const { sink, findings } = createInventorySink({ postgres, client, owner, seenAt: now, signal });
  const report = await gatherer.gatherInventory(sink, signal);
  await sink.flush();
  const resources = countOf(findings, "resource:");
  const identities = countOf(findings, "identity:");
  await sink.identities([unallocatedIdentity]);
  await sink.flush();

  const complete = completeTypes(report, findings);
  const active = await activeTypes(postgres, tenantName);
  const { provenTypes, counters } = countZeroGathers(complete, { active, findings, zeroGathers }, options);
  await runStatement(postgres, { query: WRITE_ZERO_GATHERS, params: [tenantName, JSON.stringify(counters)] });
  const mark = async (statement: string, kind: string): Promise<number> => {
    const types = provenTypes.filter((type) => type.startsWith(kind)).map((type) => type.slice(kind.length));
    const grace = types.map((type) => report.absenceGraceSeconds?.[type] ?? 0);
    return (
      (await runStatement(postgres, { query: statement, params: [tenantName, now, types, grace] }))
        .rowCount ?? 0
    );
  };
  const deletedResources = await mark(MARK_RESOURCES_DELETED, "resource:");
  const deletedIdentities = await mark(MARK_IDENTITIES_DELETED, "identity:");
  if (deletedResources + deletedIdentities > 0) {
    logger.info(
      { tenant: tenantName, deletedResources, deletedIdentities },
      "entities are no longer in the upstream",
    );
  }
  return {
    resources,
    identities,
    deletedResources,
    deletedIdentities,
    lacks: report.requiredForDays === false ? [] : [...report.errors, ...findings.errors],
    completeTypes: complete,
    errors: [...report.errors, ...findings.errors, ...(report.warnings ?? [])],
    notes: report.notes ?? [],
  };
}

async function readTenant(postgres: Pool, tenantName: string) {
  const { rows } = await runStatement<{ zero_gathers: Record<string, number>; now: string }>(postgres, {
    query: READ_ZERO_GATHERS,
    params: [tenantName],
  });
  const [tenant] = rows;
  if (tenant === undefined) throw new Error(`tenant ${tenantName} is not registered`);
  return { zeroGathers: tenant.zero_gathers, now: tenant.now };
}

async function activeTypes(postgres: Pool, tenantName: string): Promise<ReadonlySet<string>> {
  const { rows } = await runStatement<{ type: string }>(postgres, {
    query: ACTIVE_TYPES,
    params: [tenantName],
  });
  return new Set(rows.map(({ type }) => type));
}

function completeTypes(report: InventoryReport, { incomplete }: InventoryFindings): string[] {
  const types = [
    ...report.completeResourceTypes.map((type) => `resource:${type}`),
    ...report.completeIdentityTypes.map((type) => `identity:${type}`),
  ];
  return types.filter((type) => !incomplete.has(type));
}

interface ZeroGatherInput {
  readonly active: ReadonlySet<string>;
  readonly findings: InventoryFindings;
  readonly zeroGathers: Readonly<Record<string, number>>;
}

/** Returns the types whose missing entities are deleted, and the counters for the next gathering. */
function countZeroGathers(
  complete: readonly string[],
  { active, findings, zeroGathers }: ZeroGatherInput,
  { zeroGatherDeletionThreshold: threshold, logger, owner }: GatherInventoryOptions,
): { provenTypes: string[]; counters: Record<string, number> } {
  const counters: Record<string, number> = { ...zeroGathers };
  const provenTypes = complete.filter((type) => {
    const isZero = !findings.counts.has(type) && active.has(type);
    const count = isZero ? (counters[type] ?? 0) + 1 : 0;
    const proven = !isZero || (threshold >= 0 && count >= Math.max(1, threshold));
    if (proven) delete counters[type];
    else counters[type] = count;
    if (!proven) {
      logger.warn(
        { tenant: owner.tenantName, type, in_a_row: count, threshold },
        "the upstream returned nothing of a type that has active entities: nothing is deleted",
      );
    }
    return proven;
  });
  return { provenTypes, counters };
}

function countOf({ counts }: InventoryFindings, kind: string): number {
  return [...counts].reduce((sum, [type, count]) => (type.startsWith(kind) ? sum + count : sum), 0);
}
