/** Reads the published data of a dimension on one day: its rows, their lines, and the rules that produced them. */
import type { ClickHouseClient } from "@clickhouse/client";
import { LRUCache } from "lru-cache";
import { oneThread, readRows, type Statement } from "../../../clickhouse/statement.js";
import { midnightSeconds } from "../../../common/days.js";
import type { AllocationDetail, AllocationMethod, RuleTier, SetOf } from "../../../domain/allocation-rule.js";
import { dimensionFields } from "../../../domain/dimension-id.js";
import { ledgers, lineKeySql } from "../../../domain/ledger.js";
import { stageOfStep } from "../../../domain/passed-cost.js";
import { hashOfPoint, type LinePoint, linePoints } from "../../../domain/rounding-offsets.js";
import type { DimensionFields } from "../dimension-row.js";
import { type PassedHop, pathIdSql } from "../row-metadata.js";
import { storable, utcInstant } from "../scan.js";
import { type BilledLine, MOST_PRICES, notedFields, pricedFields } from "./priced.js";

/** Selects rows of the day that match all given fields. */
export interface RowChoice {
  /** RFC 3339, with its offset. */
  readonly timestamp?: string | undefined;
  readonly component?: number | undefined;
  readonly currency?: string | undefined;
  readonly line_id?: number | undefined;
  /** 0 selects rows that no step passed on. */
  readonly path_id?: number | undefined;
}

export interface DayRow {
  /** `2026-01-01T00:00:00Z`. */
  readonly timestamp: string;
  readonly component: number;
  readonly currency: string;
  /** 0, unless it distinguishes lines that are otherwise equal. */
  readonly line_id: number;
  /** Plain decimal. */
  readonly amount: string;
  readonly allocation_method: AllocationMethod;
  readonly allocation_detail: AllocationDetail;
  readonly component_ratio: string;
  readonly tier: number;
  /** Names joined by `+`. */
  readonly metric: string;
  /** Empty and 0 for a row from before these columns existed. */
  readonly rules_hash: string;
  readonly decimal_places: number;
  /** Configured rule of the line; empty for the rule of its product type. */
  readonly rule: string;
  readonly provisional: boolean;
  /** Distinguishes rows with different paths; 0 for a row that no step passed on. */
  readonly path_id: number;
  readonly passed_path: readonly PassedHop[];
  /** Number of rows that match the choice. */
  readonly total: number;
}

/** Billing lines with the same key, which are split together. Decimals are text. */
export interface DayLine {
  readonly timestamp: string;
  readonly currency: string;
  readonly line_id: number;
  readonly granularity: string;
  readonly quantity: string;
  /** Empty if the lines differ in it. */
  readonly unit_price: string;
  readonly total_cost: string;
  readonly bill_lines: number;
  /** The first `MOST_PRICES` of these lines. */
  readonly billed: readonly BilledLine[];
  /** The hash of each of `linePoints`, in their order. */
  readonly hashes: readonly string[];
}

/** Throws if the line was read without the hash. */
export function hashOf({ hashes }: DayLine, point: LinePoint): bigint {
  const hash = hashes[linePoints.indexOf(point)];
  if (hash === undefined) throw new Error(`the line has no hash of the point ${point}`);
  return BigInt(hash);
}

/** One tier of one component, as `allocate` stores it. */
export interface RuleTierRow {
  /** Name of a configured rule; empty for the rule of a product type. */
  readonly rule: string;
  /** `*` for product types without a rule; empty for a configured rule. */
  readonly product_type: string;
  readonly component: number;
  readonly component_ratio: string;
  readonly ratio_from: number;
  readonly ratio_to: number;
  readonly tier: number;
  readonly kind: RuleTier["kind"];
  /** Metrics, or scopes of identity sets. */
  readonly sources: readonly string[];
  readonly set_of: SetOf;
  readonly allocation_detail: AllocationDetail;
}

export interface ExplainedDay {
  /** By timestamp, component, currency and line_id; the first `MOST_ROWS`. */
  readonly rows: readonly DayRow[];
  readonly lines: readonly DayLine[];
  readonly rules: readonly RuleTierRow[];
}

/** A dimension has one row per component, line and currency. Lines are hourly at most. */
export const MOST_ROWS = 1_000;

/** `timestamp` is in seconds since 1970. */
export function rowsOfDay(
  dimension: DimensionFields,
  day: string,
  {
    timestamp,
    component,
    currency,
    line_id,
    path_id,
  }: Omit<RowChoice, "timestamp"> & { readonly timestamp?: number },
): Statement {
  const conditions = [
    ...dimensionFields.map((field) => `${field} = {${field}:String}`),
    ...(timestamp === undefined ? [] : ["timestamp = {timestamp:DateTime('UTC')}"]),
    ...(component === undefined ? [] : ["component = {component:UInt8}"]),
    ...(currency === undefined ? [] : ["currency = {currency:String}"]),
    ...(line_id === undefined ? [] : ["line_id = {line_id:UInt64}"]),
    ...(path_id === undefined ? [] : ["path_id = {path_id:UInt64}"]),
  ];
  return {
    query: `
SELECT timestamp, component, currency, line_id, toString(amount_hi + amount_lo) AS amount, allocation_method, allocation_detail, component_ratio, tier,
  metric, rules_hash, decimal_places, rule, provisional, passed_path, ${pathIdSql("passed_path")} AS path_id, count() OVER () AS total
FROM chargebacks
WHERE day = {day:Date} AND ${conditions.join(" AND ")}
ORDER BY timestamp, component, currency, line_id, path_id
LIMIT ${MOST_ROWS}`,
    params: {
      day,
      ...Object.fromEntries(dimensionFields.map((field) => [field, dimension[field]])),
      ...(timestamp !== undefined && { timestamp: utcInstant(timestamp) }),
      ...(component !== undefined && { component }),
      ...(currency !== undefined && { currency }),
      ...(line_id !== undefined && { line_id }),
      ...(path_id !== undefined && { path_id }),
    },
  };
}

const billedFields = [
  ...pricedFields.map((name) => `'${name}', toString(b.${name})`),
  ...notedFields.map((name) => `'${name}', ${notedText(name)}`),
].join(", ");

function notedText(name: (typeof notedFields)[number]): string {
  const extract = name.startsWith("tiers") ? "JSONExtractRaw" : "JSONExtractString";
  return `${extract}(metadata, '${name}')`;
}

const lineFields = ["env_id", "resource_id", "product_category", "product_type"] as const;

export function linesOfDay(dimension: DimensionFields, day: string): Statement {
  return {
    query: `
SELECT timestamp, currency, line_id, any(granularity) AS granularity, toString(sum(quantity)) AS quantity,
  if(uniqExact(unit_price) = 1, toString(any(unit_price)), '') AS unit_price, toString(sum(total_cost)) AS total_cost, count() AS bill_lines,
  groupArray(${MOST_PRICES})(map(${billedFields})) AS billed,
  [${linePoints.map((point) => `toString(${hashOfPoint(ledgers.chargebacks, point)})`).join(",\n    ")}] AS hashes
FROM published_billing AS b
WHERE day = {day:Date} AND ${lineFields.map((field) => `${field} = {${field}:String}`).join(" AND ")}
GROUP BY day, ${lineKeySql(ledgers.chargebacks)}
ORDER BY timestamp, currency, line_id`,
    params: { day, ...Object.fromEntries(lineFields.map((field) => [field, dimension[field]])) },
  };
}

/**
 * Selects tiers of the row's rule set: of its configured rule, of its product's rule, and of the rule for products
 * without one.
 */
export function rulesOfRow({ rules_hash, rule }: RuledRow, productType: string): Statement {
  const isOfLine =
    "((rule != '' AND rule = {rule:String}) OR (rule = '' AND product_type IN ({product_type:String}, '*')))";
  return tiersWhere(isOfLine, { rules_hash, rule, product_type: productType });
}

/** Selects tiers of a step of `pass_on`, from 1, as the row's rule set has it. */
export function rulesOfStep({ rules_hash }: RuledRow, step: number): Statement {
  return tiersWhere("stage = {stage:UInt8}", { rules_hash, stage: stageOfStep(step) });
}

function tiersWhere(condition: string, params: Statement["params"]): Statement {
  return {
    query: `
SELECT rule, product_type, component, component_ratio, ratio_from, ratio_to, tier, kind, sources, set_of, allocation_detail
FROM allocation_rules
WHERE rules_hash = {rules_hash:String} AND ${condition}
ORDER BY component, tier`,
    params,
  };
}

type RuledRow = Pick<DayRow, "rules_hash" | "rule">;

/**
 * A cache per store. Rules of a hash never change. Reading a rule costs a statement, a tenth of an explanation, so only
 * the first use pays it.
 */
const rulesCache = new WeakMap<ClickHouseClient, LRUCache<string, readonly RuleTierRow[]>>();
const MOST_RULES = 1_000;

async function readTiers(
  client: ClickHouseClient,
  statement: Statement,
  signal?: AbortSignal,
): Promise<readonly RuleTierRow[]> {
  const key = JSON.stringify(statement.params);
  const storeRules = rulesCache.get(client) ?? new LRUCache({ max: MOST_RULES });
  const cached = storeRules.get(key);
  if (cached !== undefined) return cached;
  const found = await readRows<RuleTierRow>(client, statement, signal);
  if (found.length > 0) storeRules.set(key, found);
  rulesCache.set(client, storeRules);
  return found;
}

export async function readRulesOfStep(
  client: ClickHouseClient,
  row: RuledRow,
  step: number,
  signal?: AbortSignal,
): Promise<readonly RuleTierRow[]> {
  return await readTiers(client, rulesOfStep(row, step), signal);
}

/** Returns undefined if no row matches. */
export async function readDay(
  client: ClickHouseClient,
  dimension: DimensionFields,
  { date, timestamp, ...choice }: RowChoice & { readonly date: string },
  signal?: AbortSignal,
): Promise<ExplainedDay | undefined> {
  const seconds = timestamp === undefined ? undefined : Date.parse(timestamp) / 1000;
  if (!isStorable(midnightSeconds(date)) || (seconds !== undefined && !isStorable(seconds))) return undefined;
  const wanted = { ...choice, ...(seconds !== undefined && { timestamp: seconds }) };
  const [rows, lines] = await Promise.all([
    readRows<DayRow>(client, rowsOfDay(dimension, date, wanted), signal, oneThread),
    readRows<DayLine>(client, linesOfDay(dimension, date), signal, oneThread),
  ]);
  const [row] = rows;
  if (row === undefined) return undefined;
  const tiers = await readTiers(client, rulesOfRow(row, dimension.product_type), signal);
  return { rows, lines, rules: ruleOfRow(row, tiers) };
}

/**
 * Chooses like the allocation statement: the line's configured rule, else its product type's, else the rule for all
 * others.
 */
function ruleOfRow(row: RuledRow, found: readonly RuleTierRow[]): readonly RuleTierRow[] {
  const configured = found.filter(({ rule }) => rule !== "" && rule === row.rule);
  if (configured.length > 0) return configured;
  const productRules = found.filter(({ rule }) => rule === "");
  const ownType = productRules.filter(({ product_type }) => product_type !== "*");
  return ownType.length > 0 ? ownType : productRules;
}

function isStorable(seconds: number): boolean {
  return Number.isInteger(seconds) && storable({ from: seconds, to: seconds }).from === seconds;
}

/** Returns whether anything is published for a day. */
export async function isPublished(
  client: ClickHouseClient,
  day: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (!isStorable(midnightSeconds(day))) return false;
  return (await readRows(client, isPublishedDay(day), signal)).length > 0;
}

/** Selects one row, or none. */
export function isPublishedDay(day: string): Statement {
  return { query: "SELECT 1 FROM chargebacks WHERE day = {day:Date} LIMIT 1", params: { day } };
}
