/**
 * The fact tables: their columns, in order, with kind and origin. This is the only declaration. It determines the
 * records of an ecosystem, how they are checked, written and hashed when they are staged, which columns are copied from
 * a bill's line to its rows, and the stored columns of lists and exports. A test checks that it agrees with the
 * migrations. To add a column, see docs/how-to/add-a-line-column.md.
 */

/** Kinds of columns, and their types in ClickHouse. */
export const columnTypes = {
  /** A UTC day, `2026-01-01`. */
  day: "Date",
  /** The start of a period, `2026-01-01T05:00:00Z`. */
  time: "DateTime('UTC')",
  /** Text of an upstream, never empty. */
  id: "LowCardinality(String)",
  /** Text of an upstream. */
  text: "LowCardinality(String)",
  /** Text that chargehouse itself writes. */
  word: "LowCardinality(String)",
  /** Three capital letters, ISO 4217. */
  currency: "LowCardinality(String)",
  /** A plain decimal with at most 12 places and 26 digits before the point. */
  decimal: "Decimal(38, 12)",
  /** A part of another cost of the line than the charged one; null if the bill has one cost. */
  cost_part: "Nullable(Decimal(38, 12))",
  /** The part of an amount that is a multiple of 0.0001. */
  ten_thousandths: "Decimal(18, 4)",
  /** A quantity in millionths of its unit, or with `scale` more decimal places: a whole number, 0 or more, as text. */
  micro_units: "Int128",
  /** How many decimal places `micro_units` has beyond six: a number up to 48, as text. Omitted: none. */
  scale: "UInt8",
  /** A number up to 255. */
  number: "UInt8",
  flag: "Bool",
  /** One sentence, without secrets. */
  sentence: "String",
  /** A JSON object. */
  json: "String",
  /** Text by key. Keys are in byte order, so that equal maps have equal bytes. */
  map: "Map(String, String)",
  /** The steps that passed a cost on, and from whom. */
  path: "Array(Tuple(step UInt8, identity_id String, tier UInt8, allocation_method String, allocation_detail String, metric String))",
  /** 53 bits, so that a JavaScript number represents it exactly. */
  hash: "UInt64",
} as const;
export type ColumnKind = keyof typeof columnTypes;

export interface Column {
  readonly kind: ColumnKind;
  /**
   * Origin of the value in staged input: a record of the upstream, unless it is the tenant or the table itself.
   * `engine`: ClickHouse sets it when it reads the bill itself, or after a day is staged. Other records get the table's
   * default.
   */
  readonly statedBy?: "tenant" | "table" | "engine";
  /**
   * For columns of the bill. `key`: lines that differ in it are different lines. `same`: equal in all lines with the
   * same key. Both are copied to the rows of the line if their table has the column.
   */
  readonly line?: "key" | "same";
  /** False: a changed value does not count as new input, so the day is not calculated again. */
  readonly hashed?: false;
  /** Not listed or exported on its own: it is part of another field. */
  readonly hidden?: true;
}

type Columns = Readonly<Record<string, Column>>;

const dayOfTimestamp = { kind: "day", statedBy: "table", hidden: true } as const;
const tenantColumn = { kind: "word", statedBy: "tenant", line: "same" } as const;

/** Columns that the bill and both ledgers happen to share. */
const lineStart = {
  day: dayOfTimestamp,
  timestamp: { kind: "time", line: "key" },
  ecosystem: tenantColumn,
  tenant_id: tenantColumn,
  env_id: { kind: "text", line: "key", hidden: true },
} as const;
const lineProduct = {
  product_category: { kind: "text", line: "key" },
  product_type: { kind: "text", line: "key" },
} as const;
const lineCurrency = { currency: { kind: "currency", line: "key" } } as const;
/** Columns of cloud bills. Other bills leave them empty, and `line_id` is 0. */
const cloudLine = {
  /** Distinguishes lines that are equal in the rest of the key. */
  line_id: { kind: "hash", line: "key", statedBy: "engine", hidden: true },
  charge_category: { kind: "word", line: "same", statedBy: "engine" },
  service_provider: { kind: "text", line: "same", statedBy: "engine" },
  account_id: { kind: "text", line: "same", statedBy: "engine" },
  region_id: { kind: "text", line: "same", statedBy: "engine" },
  sku_id: { kind: "text", line: "same", statedBy: "engine" },
  line_tags: { kind: "map", line: "same", statedBy: "engine" },
  /** The configured rule that claimed the line. Empty: the rule of its product type. */
  rule: { kind: "text", line: "same", statedBy: "engine" },
} as const;
const amount = {
  amount_hi: { kind: "ten_thousandths", hidden: true },
  amount_lo: { kind: "decimal", hidden: true },
} as const;

const gap = {
  day: { kind: "day" },
  metric: { kind: "id" },
  /** The resource that the metric is missing for. */
  resource_id: { kind: "text" },
  /**
   * Not hashed: the text differs between failed attempts, so the input would always look new and the day would be
   * retried forever.
   */
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
    ...cloudLine,
    billed_cost: { kind: "decimal", statedBy: "engine" },
    /** Not hashed: the metadata of the line has it, too. */
    effective_cost: { kind: "decimal", statedBy: "engine", hashed: false },
    list_cost: { kind: "decimal", statedBy: "engine" },
    /** The identity that the line names, by `allocation.identity`. */
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
    ...cloudLine,
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
    /** Hash of the day's input. Equal revisions of a day have equal bills. */
    revision: { kind: "word", hidden: true },
    /** The identity that the last step of `pass_on` took the cost from. Empty if none did. */
    passed_from: { kind: "id" },
    passed_path: { kind: "path", hidden: true },
    provisional: { kind: "flag" },
    ...amount,
    billed_cost: { kind: "cost_part", hidden: true },
    effective_cost: { kind: "cost_part", hidden: true },
    list_cost: { kind: "cost_part", hidden: true },
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

/** Names of a table's columns whose declaration matches `Like`. */
export type ColumnLike<Table extends FactTable, Like> = {
  [Name in keyof ColumnsOf<Table>]: ColumnsOf<Table>[Name] extends Like ? Name : never;
}[keyof ColumnsOf<Table>] &
  string;

/** Returns the columns of a table, in order. */
export function columnsOf<Table extends FactTable>(
  table: Table,
): [name: keyof ColumnsOf<Table> & string, column: Column][] {
  return Object.entries(factTableColumns[table]) as [keyof ColumnsOf<Table> & string, Column][];
}

/** Stored columns that lists and exports contain unchanged. */
export type ShownColumn<Table extends FactTable> = Exclude<
  keyof ColumnsOf<Table> & string,
  ColumnLike<Table, { readonly hidden: true }>
>;

/** Values of the shown columns in lists: text, except for maps. */
export type ShownValues<Table extends FactTable> = {
  readonly [Name in ShownColumn<Table>]: ColumnsOf<Table>[Name] extends { readonly kind: "map" }
    ? Readonly<Record<string, string>>
    : string;
};

export function shownColumns<Table extends FactTable>(table: Table): ShownColumn<Table>[] {
  return columnsOf(table).flatMap(([name, { hidden }]) => (hidden ? [] : [name as ShownColumn<Table>]));
}

/** A fact as an upstream states it. */
export type FactRecord<Table extends FactTable> = {
  readonly [Name in Exclude<
    keyof ColumnsOf<Table>,
    ColumnLike<Table, { readonly statedBy: string }> | ColumnLike<Table, { readonly kind: "scale" }>
  >]: ColumnsOf<Table>[Name] extends { readonly kind: "json" } ? Readonly<Record<string, unknown>> : string;
} & {
  readonly [Name in ColumnLike<Table, { readonly kind: "scale" }>]?: string;
};
