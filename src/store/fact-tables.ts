/**
 * The fact tables: their columns, in order, and what each of them is. They are declared here, once. The records of an ecosystem,
 * how they are checked, written and hashed when they are staged, what is copied from a line of the bill to its rows, and the
 * stored columns of lists and exports all follow from this. A test checks that it agrees with the migrations. To add a column, see
 * docs/how-to/add-a-line-column.md.
 */

/** What the values of a column are, and its type in the engine. */
export const columnTypes = {
  /** A UTC day, `2026-01-01`. */
  day: "Date",
  /** The start of a period, `2026-01-01T05:00:00Z`. */
  time: "DateTime('UTC')",
  /** Text of an upstream that is never empty. */
  id: "LowCardinality(String)",
  /** Text of an upstream. */
  text: "LowCardinality(String)",
  /** Text of our own. */
  word: "LowCardinality(String)",
  /** Three capital letters, ISO 4217. */
  currency: "LowCardinality(String)",
  /** A plain decimal with at most 12 places and 26 digits before the point. */
  decimal: "Decimal(38, 12)",
  /** What of an amount fits whole ten-thousandths. */
  ten_thousandths: "Decimal(18, 4)",
  /** A quantity in millionths of its unit, or in `scale` decimal places more than that: a whole number, 0 or more, as text. */
  micro_units: "Int128",
  /** How many decimal places `micro_units` has beyond six: a number of up to 48, as text. Left out: none. */
  scale: "UInt8",
  /** A number of up to 255. */
  number: "UInt8",
  flag: "Bool",
  /** One sentence, without secrets. */
  sentence: "String",
  /** A JSON object. */
  json: "String",
  /** Text by key; keys in byte order, so that equal maps are equal in their bytes. */
  map: "Map(LowCardinality(String), String)",
  /** 53 bits, which a number of JavaScript holds. */
  hash: "UInt64",
} as const;
export type ColumnKind = keyof typeof columnTypes;

export interface Column {
  readonly kind: ColumnKind;
  /**
   * Who states the value of staged input: a record of the upstream, unless it is the tenant or the table itself. `engine`: only bills
   * that the engine itself reads have it, or it is worked out once a day is staged; of other records the default of the table stands.
   */
  readonly statedBy?: "tenant" | "table" | "engine";
  /** Of the bill. `key`: lines that differ in it are two lines. `same`: it is the same in all lines of a key. Both are copied to the rows of the line, where their table has the column. */
  readonly line?: "key" | "same";
  /** False: another value of it is no new input, so that a day is not calculated anew. All others count. */
  readonly hashed?: false;
  /** Not shown by itself in lists and exports: part of another field. */
  readonly hidden?: true;
}

type Columns = Readonly<Record<string, Column>>;

const dayOfTimestamp = { kind: "day", statedBy: "table", hidden: true } as const;
const ofTenant = { kind: "word", statedBy: "tenant", line: "same" } as const;

/** What happens to be the same in the bill and in both ledgers. */
const lineStart = {
  day: dayOfTimestamp,
  timestamp: { kind: "time", line: "key" },
  ecosystem: ofTenant,
  tenant_id: ofTenant,
  env_id: { kind: "text", line: "key", hidden: true },
} as const;
const lineProduct = {
  product_category: { kind: "text", line: "key" },
  product_type: { kind: "text", line: "key" },
} as const;
const lineCurrency = { currency: { kind: "currency", line: "key" } } as const;
/** What the bill of a cloud says besides; of other bills it is empty, as `line_id` is 0. */
const lineOfCloud = {
  /** Tells apart lines that are equal in the rest of the key. */
  line_id: { kind: "hash", line: "key", statedBy: "engine", hidden: true },
  charge_category: { kind: "word", line: "same", statedBy: "engine" },
  service_provider: { kind: "text", line: "same", statedBy: "engine" },
  account_id: { kind: "text", line: "same", statedBy: "engine" },
  region_id: { kind: "text", line: "same", statedBy: "engine" },
  sku_id: { kind: "text", line: "same", statedBy: "engine" },
  line_tags: { kind: "map", line: "same", statedBy: "engine" },
  /** The configured rule that took the line; empty: that of its product type. */
  rule: { kind: "text", line: "same", statedBy: "engine" },
} as const;
const amount = {
  amount_hi: { kind: "ten_thousandths", hidden: true },
  amount_lo: { kind: "decimal", hidden: true },
} as const;

const gap = {
  day: { kind: "day" },
  metric: { kind: "id" },
  /** What it could not be fetched for. */
  resource_id: { kind: "text" },
  /** Its words change from one failed attempt to the next: a day whose input seems new would never run out of attempts. */
  reason: { kind: "sentence", hashed: false },
} as const;

export const factTableColumns = {
  billing: {
    ...lineStart,
    resource_id: { kind: "id", line: "key" },
    ...lineProduct,
    quantity: { kind: "decimal" },
    unit_price: { kind: "decimal" },
    total_cost: { kind: "decimal" },
    ...lineCurrency,
    ...lineOfCloud,
    billed_cost: { kind: "decimal", statedBy: "engine" },
    list_cost: { kind: "decimal", statedBy: "engine" },
    /** Whom the line names, by `allocation.identity`. */
    named_identity: { kind: "text", statedBy: "engine" },
    granularity: { kind: "id" },
    metadata: { kind: "json" },
  },
  usage: {
    day: dayOfTimestamp,
    timestamp: { kind: "time" },
    metric: { kind: "id" },
    resource_id: { kind: "id" },
    identity_id: { kind: "id" },
    micro_units: { kind: "micro_units" },
    scale: { kind: "scale" },
  },
  identity_sets: {
    day: { kind: "day" },
    scope: { kind: "word" },
    /** Empty for a set of the whole tenant. */
    resource_id: { kind: "text" },
    identity_id: { kind: "id" },
  },
  usage_gaps: gap,
  chargebacks: {
    ...lineStart,
    resource_id: { kind: "id", line: "key" },
    ...lineProduct,
    ...lineCurrency,
    ...lineOfCloud,
    identity_id: { kind: "id" },
    cost_type: { kind: "word" },
    allocation_method: { kind: "word" },
    allocation_detail: { kind: "word" },
    component: { kind: "number", hidden: true },
    component_ratio: { kind: "word", hidden: true },
    tier: { kind: "number", hidden: true },
    metric: { kind: "word", hidden: true },
    rules_hash: { kind: "word", hidden: true },
    decimal_places: { kind: "number", hidden: true },
    /** Hash of what the day was calculated from: equal revisions of a day have equal bills. */
    revision: { kind: "word", hidden: true },
    provisional: { kind: "flag" },
    ...amount,
  },
  topic_usage: {
    day: dayOfTimestamp,
    timestamp: { kind: "time" },
    metric: { kind: "id" },
    /** The cluster. */
    resource_id: { kind: "id" },
    topic_name: { kind: "id" },
    micro_units: { kind: "micro_units" },
    scale: { kind: "scale" },
  },
  topic_usage_gaps: gap,
  topic_attributions: {
    ...lineStart,
    env_id: { kind: "text", line: "key" },
    /** Resource of the line. */
    cluster_resource_id: { kind: "id", line: "key" },
    ...lineProduct,
    ...lineCurrency,
    topic_name: { kind: "id" },
    attribution_method: { kind: "word" },
    attribution_detail: { kind: "word" },
    metric: { kind: "word" },
    provisional: { kind: "flag" },
    ...amount,
  },
} as const satisfies Readonly<Record<string, Columns>>;

export type FactTable = keyof typeof factTableColumns;
export const factTables = Object.keys(factTableColumns) as FactTable[];

type ColumnsOf<Table extends FactTable> = (typeof factTableColumns)[Table];

/** Names of a table's columns whose declaration is like this. */
export type ColumnLike<Table extends FactTable, Like> = {
  [Name in keyof ColumnsOf<Table>]: ColumnsOf<Table>[Name] extends Like ? Name : never;
}[keyof ColumnsOf<Table>] &
  string;

/** Columns of a table, in order. */
export function columnsOf<Table extends FactTable>(
  table: Table,
): [name: keyof ColumnsOf<Table> & string, column: Column][] {
  return Object.entries(factTableColumns[table]) as [keyof ColumnsOf<Table> & string, Column][];
}

/** Stored columns that lists and exports show as they are. */
export type ShownColumn<Table extends FactTable> = Exclude<
  keyof ColumnsOf<Table> & string,
  ColumnLike<Table, { readonly hidden: true }>
>;

/** Their values as lists show them: text, but for maps. */
export type ShownValues<Table extends FactTable> = {
  readonly [Name in ShownColumn<Table>]: ColumnsOf<Table>[Name] extends { readonly kind: "map" }
    ? Readonly<Record<string, string>>
    : string;
};

export function shownColumns<Table extends FactTable>(table: Table): ShownColumn<Table>[] {
  return columnsOf(table).flatMap(([name, { hidden }]) => (hidden ? [] : [name as ShownColumn<Table>]));
}

/** What an upstream states of a fact. */
export type FactRecord<Table extends FactTable> = {
  readonly [Name in Exclude<
    keyof ColumnsOf<Table>,
    ColumnLike<Table, { readonly statedBy: string }> | ColumnLike<Table, { readonly kind: "scale" }>
  >]: ColumnsOf<Table>[Name] extends { readonly kind: "json" } ? Readonly<Record<string, unknown>> : string;
} & {
  readonly [Name in ColumnLike<Table, { readonly kind: "scale" }>]?: string;
};
