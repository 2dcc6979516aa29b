/**
 * Subqueries for resources or identities as they were known at some time, for lists, searches and counts of the
 * inventory. `resources` and `identities` have the present, `resource_versions` and `identity_versions` the past.
 *
 * The versions of an entity follow each other without a gap, and a deletion is a version of its own. So one version has
 * everything about a time: whether the entity was deleted before it, and its name then.
 */
import type { Bind } from "../../postgres/bindings.js";
import type { Moment } from "./moment.js";

export type InventoryKind = "resources" | "identities";

interface InventoryTables {
  readonly present: string;
  readonly versions: string;
  readonly id: string;
  readonly type: string;
  /** Columns besides id, type and those that both kinds have. */
  readonly own: readonly string[];
}

export const inventoryTables: Readonly<Record<InventoryKind, InventoryTables>> = {
  resources: {
    present: "resources",
    versions: "resource_versions",
    id: "resource_id",
    type: "resource_type",
    own: ["parent_id", "owner_id", "status"],
  },
  identities: {
    present: "identities",
    versions: "identity_versions",
    id: "identity_id",
    type: "identity_type",
    own: [],
  },
};

/** Columns of an entity, without `last_seen_at`, which the history handles separately. */
export function inventoryColumns(kind: InventoryKind): string[] {
  const { id, type, own } = inventoryTables[kind];
  return ["ecosystem", "tenant_id", id, type, "display_name", ...own, "created_at", "deleted_at", "metadata"];
}

/** Selects every entity that was known at the time, including deleted ones, in its state then. */
export function knownAt(kind: InventoryKind, tenantName: string, moment: Moment, bind: Bind): string {
  const { present, versions, id } = inventoryTables[kind];
  const tenant = bind(tenantName);
  const columns = inventoryColumns(kind);
  if (moment.kind === "present") {
    return `SELECT ${[...columns, "last_seen_at"].join(", ")} FROM ${present} WHERE tenant_name = ${tenant}`;
  }
  const { covers, begun } = versionAt(moment, bind);
  // A look-up per row of the page, after sorting and cutting. A join would do it for all rows.
  const lastSeen = `(SELECT last_seen_at FROM ${present} AS present WHERE present.tenant_name = version.tenant_name AND present.${id} = version.${id})`;
  return `
  SELECT ${columns.join(", ")}, coalesce(version.last_seen_at, ${lastSeen}) AS last_seen_at
  FROM ${versions} AS version
  WHERE tenant_name = ${tenant} AND ${covers} AND (created_at IS NULL OR ${begun})`;
}

/** Matches the version that an entity was in at the instant; for a period, the version at its end. */
function versionAt(moment: Exclude<Moment, { kind: "present" }>, bind: Bind) {
  if (moment.kind === "instant") {
    const at = `${bind(moment.at)}::timestamptz`;
    return { covers: `valid_from <= ${at} AND valid_to > ${at}`, begun: `created_at <= ${at}` };
  }
  const [start, end] = [`${bind(moment.start)}::timestamptz`, `${bind(moment.end)}::timestamptz`];
  // A period without length is an instant. Otherwise, neither version of an entity renamed at that time would match.
  const covers = `CASE WHEN ${start} < ${end} THEN valid_from < ${end} AND valid_to >= ${end} ELSE valid_from <= ${start} AND valid_to > ${start} END`;
  return { covers, begun: `created_at < ${end}` };
}

/** Keeps entities that were active at the time. For the present, keeps all, because its list includes deleted ones. */
export function activeThen(moment: Moment, bind: Bind): string {
  if (moment.kind === "present") return "true";
  if (moment.kind === "instant") return "deleted_at IS NULL";
  return `(deleted_at IS NULL OR deleted_at > ${bind(moment.start)}::timestamptz)`;
}
