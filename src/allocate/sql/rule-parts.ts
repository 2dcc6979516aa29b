import { literal } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import { FIRST_STAGE } from "../../domain/allocation-rule.js";
import type { SplitLedger } from "../ledger.js";
import type { WeighingColumns } from "../rules.js";

/**
 * The parts of the allocation statement that differ if configured rules take lines, or lines name an identity. Without
 * these, the statement reads only product types, resources and their facts.
 */
export interface RuleParts {
  /** SQL to append to the list of all names. */
  readonly names: string;
  /** The columns of `rules` that identify a rule, and the condition by which a line finds its rule. */
  readonly ruleKey: string;
  readonly findsRule: string;
  /** The staged bill, and further columns of a line. */
  readonly bill: string;
  readonly lineColumns: string;
  /** Returns the resource whose facts count, from the expression of a tier's `set_of`. */
  resourceOf(setOf: string): string;
  /**
   * Condition for tiers without a look-up, to prepend to another one; and the kind under which a tier's facts are
   * found.
   */
  readonly named: string;
  lookup(kind: string): string;
  readonly costType: string;
  readonly method: string;
  /** Conditions on `kind`: recipients were looked up, or weighed. */
  readonly isFound: string;
  readonly isWeighed: string;
  /** Condition for rules whose sources are metrics. */
  readonly weighingRules: string;
  /** Rank of the only recipient of a tier without a look-up. */
  readonly sole: string;
  /** Conditions to append to another one: rules of the stage, and usage facts that these rules read. */
  readonly rulesOfStage: string;
  readonly factsOfStage: string;
}

/** @param stage the stage whose rules apply; undefined if all rules are of the first one */
export function ruleParts(
  ledger: SplitLedger,
  epoch: number,
  configured?: WeighingColumns,
  stage?: number,
): RuleParts {
  return configured === undefined
    ? productParts(ledger, epoch)
    : configuredParts(ledger, epoch, configured, stage);
}

function productParts(ledger: SplitLedger, epoch: number): RuleParts {
  return {
    names: "",
    ruleKey: "product_type",
    findsRule: "r.product_type = l.rule_of",
    bill: stagedTable("billing", epoch),
    lineColumns: "if(product_type IN (SELECT product_type FROM rules), product_type, '*') AS rule_of",
    resourceOf: (setOf) => `if(${setOf} = 'tenant', '', toString(resource_id))`,
    named: "",
    lookup: (kind) => kind,
    costType: "if(kind IN ('usage', 'owner'), 'usage', 'shared')",
    method: ledger.method,
    isFound: "kind != 'terminal'",
    isWeighed: "kind = 'usage'",
    weighingRules: "kind = 'usage'",
    sole: "nobody",
    rulesOfStage: "",
    factsOfStage: "",
  };
}

/** A line whose rule is not in the set (it was staged with another configuration) is treated as if it had no rule. */
function configuredParts(
  ledger: SplitLedger,
  epoch: number,
  { columns: sqlByName }: WeighingColumns,
  stage: number | undefined,
): RuleParts {
  const billing = stagedTable("billing", epoch);
  const isLater = stage !== undefined && stage !== FIRST_STAGE;
  const columns = [...sqlByName].map(([name, sql], index) => ({ name, sql, alias: `place_${index}` }));
  const columnSql = columns.map(
    ({ sql, alias }) => `, concat(toString(currency), ':', toString(${sql})) AS ${alias}`,
  );
  const cases = columns.map(({ name, alias }) => `, setOf = ${literal(name)}, ${alias}`);
  return {
    names: `
        UNION ALL
        SELECT DISTINCT named_identity FROM ${billing} WHERE day IN {days:Array(Date)} AND named_identity != ''`,
    ruleKey: "rule, product_type",
    findsRule: "r.rule = l.rule_name AND r.product_type = l.rule_of",
    bill:
      columns.length === 0 && stage === undefined
        ? billing
        : `(SELECT *${columnSql.join("")} FROM ${billing}${stage === undefined ? "" : ` WHERE ${linesOfStage(stage)}`})`,
    lineColumns: `toUInt32(transform(any(named_identity), names, arrayEnumerate(names), 0)) AS named${columns
      .map(({ alias }) => `, any(${alias}) AS ${alias}`)
      .join("")},
      if(rule IN (SELECT rule FROM rules WHERE rule != ''), toString(rule), '') AS rule_name,
      multiIf(rule_name != '', '', product_type IN (SELECT product_type FROM rules WHERE rule = ''), toString(product_type), '*') AS rule_of`,
    resourceOf: (setOf) =>
      `multiIf(setOf = 'tenant', '', setOf = 'currency', toString(currency)${cases.join("")}, toString(resource_id))`.replaceAll(
        "setOf",
        setOf,
      ),
    named: "(t.2 = 'line' AND named != 0) OR ",
    lookup: (kind) => `if(${kind} IN ('cost', 'fixed'), 'usage', ${kind})`,
    costType: "if(kind IN ('usage', 'owner', 'line'), 'usage', 'shared')",
    method: ledger.configuredMethod ?? ledger.method,
    isFound: "kind NOT IN ('terminal', 'line')",
    isWeighed: "kind IN ('usage', 'cost', 'fixed')",
    weighingRules: "kind IN ('usage', 'cost', 'fixed')",
    sole: "if(c.kind = 'line', named, nobody)",
    rulesOfStage: stage === undefined ? "" : ` AND stage = ${stage}`,
    factsOfStage: isLater
      ? " AND metric IN (SELECT arrayJoin(sources) FROM rules WHERE kind IN ('usage', 'cost', 'fixed'))"
      : "",
  };
}

/** Each line belongs to one stage, that of its rule. Lines without a configured rule belong to the first one. */
function linesOfStage(stage: number): string {
  const rules = "SELECT rule FROM allocation_rules WHERE rules_hash = {rules_hash:String}";
  return stage === FIRST_STAGE
    ? `rule NOT IN (${rules} AND stage != ${stage})`
    : `rule IN (${rules} AND stage = ${stage})`;
}
