/** Flink statements: their owners, and which of them ran on a day. */
import type { KnownInventory, KnownResource } from "../../known.js";
import { inventoryText } from "./inventory/fields.js";
import { existedDuring, type Span } from "./lifetimes.js";
import { principalId } from "./owners.js";

/** A statement as a metric names it. The id is missing from older series. */
export interface MeasuredStatement {
  readonly pool: string;
  readonly uid: string | undefined;
  readonly name: string | undefined;
}

export interface Statements {
  /** Undefined if the statement or its owner is unknown. */
  ownerOf(statement: MeasuredStatement, during: Span): string | undefined;
  /** Statements of a pool that existed during the span. */
  ofPool(pool: string, during: Span): readonly KnownResource[];
  /** Statements of a pool that existed and had not stopped before the span. */
  runningIn(pool: string, during: Span): readonly KnownResource[];
}

export function statementOwner(statement: KnownResource): string | undefined {
  return principalId(statement.owner_id) ?? undefined;
}

export function indexStatements({ resources }: KnownInventory): Statements {
  const byUid = new Map<string, KnownResource>();
  const byPool = new Map<string, KnownResource[]>();
  const byName = new Map<string, KnownResource[]>();
  for (const statement of resources) {
    if (statement.resource_type !== "flink_statement") continue;
    byUid.set(statement.resource_id, statement);
    const pool = inventoryText(statement.metadata, "compute_pool_id");
    if (pool === null) continue;
    put(byPool, pool, statement);
    const name = inventoryText(statement.metadata, "statement_name");
    if (name !== null) put(byName, nameKey(pool, name), statement);
  }
  const ofPool = (pool: string, during: Span) =>
    (byPool.get(pool) ?? []).filter((statement) => existedDuring(statement, during));
  return {
    ofPool,
    runningIn: (pool, during) =>
      ofPool(pool, during).filter((statement) => !stoppedBefore(statement, during)),
    ownerOf({ pool, uid, name }, during) {
      const known = uid === undefined ? undefined : byUid.get(uid);
      if (known !== undefined) return statementOwner(known);
      // A name may be reused: take the newest statement with this name at that time.
      const named = (byName.get(nameKey(pool, name ?? "")) ?? [])
        .filter((statement) => existedDuring(statement, during))
        .sort((a, b) => (b.created_at ?? 0) - (a.created_at ?? 0));
      return named[0] && statementOwner(named[0]);
    },
  };
}

/** A stopped statement without a known time counts as never having run. */
function stoppedBefore({ metadata }: KnownResource, { start }: Span): boolean {
  if (metadata.is_stopped !== true) return false;
  const at = Date.parse(inventoryText(metadata, "stopped_at") ?? "");
  return Number.isNaN(at) || at < start;
}

function nameKey(pool: string, name: string): string {
  return `${pool} ${name}`;
}

function put(map: Map<string, KnownResource[]>, key: string, statement: KnownResource): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [statement]);
  else list.push(statement);
}
