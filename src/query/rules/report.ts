/**
 * Reports what each rule of a tenant took in a period: configured rules in their order, former rules, and rules of
 * product types.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../clickhouse/statement.js";
import type { InstantRange } from "../../common/days.js";
import type { ConfiguredRule } from "../../config/allocation/configured-rule.js";
import type { IdentitySource } from "../../config/allocation/identity-source.js";
import { tagsRead } from "../../config/allocation/tags-read.js";
import type { AllocationDetail, AllocationMethod } from "../../domain/allocation-rule.js";
import { lineMatches, type MatchRow, type TierRow, tierMatches } from "./rule-matches.js";
import { readTagHints, type TagHint } from "./tag-hints.js";

export interface TierSums {
  readonly component: number;
  readonly tier: number;
  readonly allocation_method: AllocationMethod;
  readonly allocation_detail: AllocationDetail;
  readonly row_count: number;
  readonly amount: string;
}

/** Plain decimals of one currency. */
export interface LinesTaken {
  readonly currency: string;
  readonly line_count: number;
  readonly amount: string;
}

export interface RuleSums extends LinesTaken {
  readonly tiers: TierSums[];
}

export interface RuleReport extends Omit<ConfiguredRule, "allocation"> {
  /** False for a former rule: rows of published days name it, but the configuration does not. */
  readonly configured: boolean;
  /** Lines are left to the rules of their product types. */
  readonly keep: boolean;
  readonly took_nothing: boolean;
  readonly sums: RuleSums[];
}

export interface ProductRuleReport {
  readonly product_type: string;
  readonly sums: RuleSums[];
}

export interface RulesReport {
  readonly rules: RuleReport[];
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
  },
  signal?: AbortSignal,
): Promise<RulesReport> {
  const taken = await readRows<MatchRow>(client, lineMatches(input.window), signal);
  const rest = taken.filter((row) => row.is_rest);
  const listed = taken.filter((row) => !row.is_rest);
  const products = [...new Set(listed.filter(({ rule }) => rule === "").map((row) => row.product_type))];
  const hints = await readTagHints(client, { window: input.window, tags: tagsRead(input) }, signal);
  const tiers = await readRows<TierRow>(client, tierMatches(input.window, products), signal);
  const sumsOf = sumsBy(listed, tiers);
  const names = new Set(input.rules.map(({ name }) => name));
  const former = [...new Set(listed.map(({ rule }) => rule))].filter(
    (rule) => rule !== "" && !names.has(rule),
  );
  return {
    rules: [
      ...input.rules.map((rule) => ruleReport(rule, true, sumsOf(rule.name, ""))),
      ...former.sort().map((name) => ruleReport({ name }, false, sumsOf(name, ""))),
    ],
    product_rules: products.map((product) => ({ product_type: product, sums: sumsOf("", product) })),
    other_product_rules: rest.map((row) => ({ ...linesOf(row), product_type_count: row.product_types })),
    tag_hints: hints,
  };
}

function ruleReport(
  { allocation, ...rule }: ConfiguredRule,
  configured: boolean,
  sums: RuleSums[],
): RuleReport {
  return { ...rule, configured, keep: allocation === "keep", took_nothing: sums.length === 0, sums };
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
