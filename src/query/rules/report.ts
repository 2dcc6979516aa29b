/**
 * Reports what each rule of a tenant took in a period: configured rules in their order, former rules, and rules of
 * product types.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import { type ConfiguredRule, stageOf } from "../../config/allocation/configured-rule.js";
import type { IdentitySource } from "../../config/allocation/identity-source.js";
import type { ConfiguredStep } from "../../config/allocation/pass-on.js";
import { tagsRead } from "../../config/allocation/tags-read.js";
import { type AllocationDetail, type AllocationMethod, FIRST_STAGE } from "../../domain/allocation-rule.js";
import { isAssignedRule } from "../../domain/assignment.js";
import { rowsInWindow } from "../chargebacks/scan.js";
import { kindsSql } from "./coverage-sql.js";
import {
  lineMatches,
  type MatchRow,
  type NarrowRow,
  narrowWeights,
  type StepRow,
  stepMatches,
  type TierRow,
  tierMatches,
} from "./rule-matches.js";

interface TierSums {
  readonly component: number;
  readonly tier: number;
  readonly allocation_method: AllocationMethod;
  readonly allocation_detail: AllocationDetail;
  readonly row_count: number;
  readonly amount: string;
}

/** Plain decimals of one currency. */
interface LinesTaken {
  readonly currency: string;
  readonly line_count: number;
  readonly amount: string;
}

export interface RuleSums extends LinesTaken {
  readonly tiers: TierSums[];
}

interface RuleReport extends Omit<ConfiguredRule, "allocation"> {
  /**
   * False for a former rule: rows of published days name it, but the configuration does not. True for the rules of
   * assigned lines.
   */
  readonly configured: boolean;
  /** Lines are left to the rules of their product types. */
  readonly keep: boolean;
  /** Undefined for a former rule. */
  readonly stage?: number;
  readonly took_nothing: boolean;
  readonly sums: RuleSums[];
  /** Currencies of which narrow weights split more than half: a few identities pay what all were meant to share. */
  readonly narrow_weights: Omit<NarrowRow, "rule">[];
}

interface ProductRuleReport {
  readonly product_type: string;
  readonly sums: RuleSums[];
}

/** A step of `pass_on`. */
interface StepReport {
  readonly name: string;
  /** False for a former step: rows of published days name it, but the configuration does not. */
  readonly configured: boolean;
  readonly passed_nothing: boolean;
  readonly sums: { readonly currency: string; readonly row_count: number; readonly amount: string }[];
}

export interface RulesReport {
  readonly rules: RuleReport[];
  /** In their order; former steps follow. */
  readonly steps: StepReport[];
  /** Lines that no configured rule took; the largest amounts first. */
  readonly product_rules: ProductRuleReport[];
  /** Sums of the product types beyond the largest. */
  readonly other_product_rules: (LinesTaken & { readonly product_type_count: number })[];
  readonly tag_hints: TagHint[];
}

export async function readRulesReport(
  client: ClickHouseClient,
  input: {
    readonly window: InstantRange;
    readonly rules: readonly ConfiguredRule[];
    readonly identity: readonly IdentitySource[];
    readonly steps: readonly ConfiguredStep[];
  },
  signal?: AbortSignal,
): Promise<RulesReport> {
  const taken = await readRows<MatchRow>(client, lineMatches(input.window), signal);
  const rest = taken.filter((row) => row.is_rest);
  const listed = taken.filter((row) => !row.is_rest);
  const products = [...new Set(listed.filter(({ rule }) => rule === "").map((row) => row.product_type))];
  const hints = await readTagHints(client, { window: input.window, tags: tagsRead(input) }, signal);
  const tiers = await readRows<TierRow>(client, tierMatches(input.window, products), signal);
  const narrow = tiers.some(({ rule, allocation_method: method }) => rule !== "" && method === "cost_ratio")
    ? await readRows<NarrowRow>(client, narrowWeights(input.window), signal)
    : [];
  const passed = await readRows<StepRow>(client, stepMatches(input.window), signal);
  const sumsOf = sumsBy(listed, tiers);
  const names = new Set(input.rules.map(({ name }) => name));
  const former = [...new Set(listed.map(({ rule }) => rule))].filter(
    (rule) => rule !== "" && !names.has(rule),
  );
  return {
    rules: [
      ...input.rules.map((rule) => ruleReport(rule, stageOf(rule), sumsOf(rule.name, ""), narrow)),
      ...former.sort().map((name) => ruleReport({ name }, stageOfFormer(name), sumsOf(name, ""), narrow)),
    ],
    steps: stepReports(input.steps, passed),
    product_rules: products.map((product) => ({ product_type: product, sums: sumsOf("", product) })),
    other_product_rules: rest.map((row) => ({ ...linesOf(row), product_type_count: row.product_types })),
    tag_hints: hints,
  };
}

/** The rules of assigned lines are no former ones, although the configuration does not name them. */
function stageOfFormer(name: string): number | undefined {
  return isAssignedRule(name) ? FIRST_STAGE : undefined;
}

function stepReports(steps: readonly ConfiguredStep[], passed: readonly StepRow[]): StepReport[] {
  const configured = steps.map(({ name }) => name);
  const former = [...new Set(passed.map(({ name }) => name))].filter((name) => !configured.includes(name));
  return [...configured, ...former.sort()].map((name) => {
    const sums = passed
      .filter((row) => row.name === name)
      .map(({ currency, rows, amount }) => ({ currency, row_count: rows, amount }));
    return { name, configured: configured.includes(name), passed_nothing: sums.length === 0, sums };
  });
}

function ruleReport(
  { allocation, ...rule }: ConfiguredRule,
  stage: number | undefined,
  sums: RuleSums[],
  narrow: readonly NarrowRow[],
): RuleReport {
  return {
    ...rule,
    configured: stage !== undefined,
    keep: allocation === "keep",
    ...(stage !== undefined && { stage }),
    took_nothing: sums.length === 0,
    sums,
    narrow_weights: narrow.flatMap(({ rule: name, ...row }) => {
      const whole = sums.find(({ currency }) => currency === row.currency)?.amount ?? "0";
      return name === rule.name && 2 * Number(row.amount) > Math.abs(Number(whole)) ? [row] : [];
    }),
  };
}

function linesOf({ currency, lines, amount }: MatchRow): LinesTaken {
  return { currency, line_count: lines, amount };
}

/** Groups by rule and product type; currencies ascend. */
function sumsBy(taken: readonly MatchRow[], tiers: readonly TierRow[]) {
  const keyOf = (rule: string, product: string) => JSON.stringify([rule, product]);
  const byKey = <Row extends MatchRow | TierRow>(rows: readonly Row[]) => {
    const found = new Map<string, Row[]>();
    for (const row of rows) {
      const key = keyOf(row.rule, row.product_type);
      const same = found.get(key);
      if (same === undefined) found.set(key, [row]);
      else same.push(row);
    }
    return found;
  };
  const lines = byKey(taken);
  const tiersByKey = byKey(tiers);
  return (rule: string, product: string): RuleSums[] => {
    const key = keyOf(rule, product);
    return (lines.get(key) ?? []).map((row) => ({
      ...linesOf(row),
      tiers: (tiersByKey.get(key) ?? []).filter(({ currency }) => currency === row.currency).map(tierOf),
    }));
  };
}

function tierOf({ rule: _, product_type: __, currency: ___, rows, amount, ...tier }: TierRow): TierSums {
  return { ...tier, row_count: rows, amount };
}

/** A tag of the bill whose key differs from a configured one only in case, and may be the one that is meant. */
interface TagHint {
  readonly currency: string;
  /** Key in the configuration. */
  readonly tag: string;
  /** Key in the bill. */
  readonly similar_tag: string;
  /** Lines with `similar_tag` and without `tag`. */
  readonly line_count: number;
  readonly amount: string;
  /**
   * Share of the bill that these lines are, by amounts without their sign. Between 0 and 1, rounded down to 4 decimal
   * places.
   */
  readonly share: string;
}

const MOST_HINTS = 100;

/** The largest share comes first. */
async function readTagHints(
  client: ClickHouseClient,
  { window, tags }: { readonly window: InstantRange; readonly tags: readonly string[] },
  signal?: AbortSignal,
): Promise<TagHint[]> {
  if (tags.length === 0) return [];
  const { condition, params } = rowsInWindow(window);
  const share = "floor(toFloat64(sum(size)) / toFloat64(whole) * 10000)";
  const query = `
SELECT currency, tag, similar_tag, toUInt64(sum(n)) AS line_count, toString(sum(cost)) AS amount, toString(toDecimal64(${share} / 10000, 4)) AS share
FROM (
  SELECT *, tag, toString(arrayFirst(k -> lowerUTF8(k) = lowerUTF8(tag), arraySort(keys))) AS similar_tag
  FROM (SELECT *, sum(size) OVER (PARTITION BY currency) AS whole FROM (${kindsSql(condition)}))
  ARRAY JOIN {tags:Array(String)} AS tag
  WHERE NOT has(keys, tag)
)
WHERE similar_tag != '' AND size > 0
GROUP BY currency, tag, similar_tag, whole
ORDER BY toFloat64(sum(size)) / toFloat64(whole) DESC, currency, tag, similar_tag
LIMIT ${MOST_HINTS}`;
  return await readRows<TagHint>(client, { query, params: { ...params, tags } }, signal);
}
