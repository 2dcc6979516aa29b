/**
 * Names, types and teams of identities and resources, from the copy of the inventory next to the facts. They are looked up when
 * rows are grouped or a page is known, and never joined before that, so the cost of a read does not depend on them.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { readRows, type Statement } from "../../store/clickhouse/statement.js";
import { INVENTORY_NAMES } from "../../store/postgres/inventory-names.js";
import { readPostgres } from "../../store/postgres/statement.js";
import type { ValueFilter } from "../value-filters.js";

/** Team of identities that have none, as a bucket and in a filter. */
export const UNASSIGNED = "UNASSIGNED";

/** By what a name is found, and where it stands in the constant of `knownSql`. */
export const nameColumns = {
  identity_name: { id: "identity_id", known: "known_identities", at: 2, unknown: "" },
  identity_type: { id: "identity_id", known: "known_identities", at: 3, unknown: "" },
  team: { id: "identity_id", known: "known_identities", at: 4, unknown: UNASSIGNED },
  resource_name: { id: "resource_id", known: "known_resources", at: 2, unknown: "" },
  resource_type: { id: "resource_id", known: "known_resources", at: 3, unknown: "" },
} as const;
export type NameColumn = keyof typeof nameColumns;

export function isNameColumn(column: string): column is NameColumn {
  return Object.hasOwn(nameColumns, column);
}

/** Constants that stand behind WITH: lists of ids, and of what is known of each. */
const knownSql = {
  known_identities: (where: string) => `(
    SELECT (groupArray(identity_id), groupArray(identity_name), groupArray(toString(identity_type)), groupArray(toString(team))) FROM identities${where}
  ) AS known_identities`,
  known_resources: (where: string) => `(
    SELECT (groupArray(resource_id), groupArray(resource_name), groupArray(toString(resource_type))) FROM resources${where}
  ) AS known_resources`,
} as const;

/**
 * What has to stand behind WITH for these columns. `given`: ids of which no others come up than those in the parameter of that name. One identity
 * by day takes 26 ms where 50,000 identities are known, and 62 ms if it is looked up among all of them.
 */
export function knownNames(
  columns: readonly string[],
  given: readonly ("identity_id" | "resource_id")[] = [],
): string[] {
  const lists = new Map(
    columns.filter(isNameColumn).map((column) => [nameColumns[column].known, nameColumns[column].id]),
  );
  return [...lists]
    .sort()
    .map(([known, id]) => knownSql[known](given.includes(id) ? ` WHERE ${id} IN {${id}:Array(String)}` : ""));
}

/** The name as an expression over an id, which is that of the column unless another one is given. */
export function nameSql(column: NameColumn, id: string): string {
  const { known, at, unknown } = nameColumns[column];
  return `transform(${id}, ${known}.1, ${known}.${at}, '${unknown}')`;
}

/** Identities of some teams, or of no one of them: a condition over `identity_id`, ready to follow another one. */
export function ofTeam({
  isExcluding,
  values,
  param,
}: Pick<ValueFilter, "isExcluding" | "values" | "param">): string {
  // Identities that are not known have no team either.
  const isComplement = values.includes(UNASSIGNED);
  const known = `(SELECT identity_id FROM identities WHERE team ${isComplement ? "NOT IN" : "IN"} {${param}:Array(String)})`;
  return ` AND identity_id ${isComplement === isExcluding ? "IN" : "NOT IN"} ${known}`;
}

export interface TeamLookup {
  /** Stand behind WITH. */
  readonly names: readonly string[];
  /** UInt32 by `identity_id`: place of its team in `teams`. */
  readonly place: string;
  /** Array(String), ascending, with `UNASSIGNED` among them. */
  readonly teams: string;
}

/** The team as a number that rows are grouped by. */
export const teamLookup: TeamLookup = {
  teams: "team_names",
  place: `transform(identity_id, team_places.1, team_places.2, toUInt32(indexOf(team_names, '${UNASSIGNED}')))`,
  names: [
    `(SELECT arraySort(arrayDistinct(arrayPushBack(groupUniqArray(toString(team)), '${UNASSIGNED}'))) FROM identities) AS team_names`,
    `(
    SELECT (groupArray(identity_id), groupArray(toUInt32(transform(toString(team), team_names, range(1, length(team_names) + 1), 0))))
    FROM identities
  ) AS team_places`,
  ],
};

export interface IdentityNames {
  /** Null when there is none. */
  readonly identity_name: string | null;
  readonly identity_type: string | null;
  readonly team: string;
}

export interface ResourceNames {
  readonly resource_name: string | null;
  readonly resource_type: string | null;
}

export interface KnownNames {
  identity(id: string): IdentityNames;
  resource(id: string): ResourceNames;
}

/** Whose names are looked up. */
export interface NamedIds {
  readonly identities: readonly string[];
  readonly resources: readonly string[];
}

/**
 * Rows `{kind, id, name, type, team}` of those that are known. Both kinds in one scan of the table behind the views `identities` and `resources`, as
 * planning a scan takes longer than reading: 9.5 ms of processor time instead of 14.4 ms for the two views.
 */
export function inventoryNames({ identities, resources }: NamedIds): Statement {
  return {
    query: `
SELECT toString(kind) AS kind, entity_id AS id, display_name AS name, toString(entity_type) AS type, toString(team) AS team
FROM inventory_names
WHERE generation = (SELECT max(generation) FROM inventory_generations)
  AND ((kind = 'identity' AND entity_id IN {identities:Array(String)}) OR (kind = 'resource' AND entity_id IN {resources:Array(String)}))`,
    params: { identities, resources },
  };
}

export interface NameRow {
  readonly kind: "identity" | "resource";
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly team: string;
}

/** Those of the rows of a page. */
export async function readNames(
  client: ClickHouseClient,
  rows: readonly Named[],
  signal?: AbortSignal,
): Promise<KnownNames> {
  const found =
    rows.length === 0 ? [] : await readRows<NameRow>(client, inventoryNames(namedBy(rows)), signal);
  return knownNamesOf(found);
}

/** The same from the inventory itself, which takes a quarter of the time: for responses that no ETag stands for, because it has new names a moment before the copy. */
export async function readNamesOfInventory(
  { postgres, tenantName }: { readonly postgres: Pool; readonly tenantName: string },
  rows: readonly Named[],
  signal?: AbortSignal,
): Promise<KnownNames> {
  const { identities, resources } = namedBy(rows);
  const query = `
SELECT kind, entity_id AS id, display_name AS name, entity_type AS type, team FROM (${INVENTORY_NAMES}) AS n
WHERE (kind = 'identity' AND entity_id = ANY ($2::text[])) OR (kind = 'resource' AND entity_id = ANY ($3::text[]))`;
  const params = [tenantName, identities, resources];
  return knownNamesOf(await readPostgres<NameRow>(postgres, { query, params }, signal));
}

interface Named {
  readonly identity_id?: string;
  readonly resource_id: string;
}

/** Each id once. */
export function namedBy(rows: readonly Named[]): NamedIds {
  const distinct = (ids: (string | undefined)[]) => [...new Set(ids.filter((id) => id !== undefined))];
  return {
    identities: distinct(rows.map(({ identity_id }) => identity_id)),
    resources: distinct(rows.map(({ resource_id }) => resource_id)),
  };
}

export function knownNamesOf(found: readonly NameRow[]): KnownNames {
  const known = new Map(found.map((row) => [`${row.kind} ${row.id}`, row]));
  return {
    identity(id) {
      const row = known.get(`identity ${id}`);
      return {
        identity_name: row?.name || null,
        identity_type: row?.type || null,
        team: row?.team ?? UNASSIGNED,
      };
    },
    resource(id) {
      const row = known.get(`resource ${id}`);
      return { resource_name: row?.name || null, resource_type: row?.type || null };
    },
  };
}

/** Of a bucket: behind the values of its columns stand the names of those that are called something. */
export function displayNames<Column extends string>(
  columns: readonly Column[],
  called: readonly Column[],
  values: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    called.flatMap((column, index) => {
      const name = values[columns.length + index] ?? "";
      return name === "" ? [] : [[column, name]];
    }),
  );
}
