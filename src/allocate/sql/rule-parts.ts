import { literal } from "../../clickhouse/sql-text.js";
import { stagedTable } from "../../clickhouse/staging.js";
import { FIRST_STAGE } from "../../domain/allocation-rule.js";
import { stageOfStep } from "../../domain/passed-cost.js";
import { isNotEmptied } from "../../stores/facts/emptied.js";
import type { SplitLedger } from "../ledger.js";
import type { PassingStep, WeighingColumns } from "../rules.js";
import {
  type PlaceColumn,
  passingColumns,
  stepsOfLine,
  TAKEN_POINT,
  takenBySql,
  takenRows,
  takersOfNames,
} from "./passing-parts.js";

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
  /** The staged bill, and columns of it that the parts of a line need besides those that rows repeat. */
  readonly bill: string;
  readonly billColumns: readonly BillColumn[];
  /** Further columns of a line, from those of the bill. */
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
  /** The identity sets that these rules read: a table or a query in parentheses. */
  readonly sets: string;
  /** SQL to append to the key of a line, and to the text of its points. */
  readonly lineKey: string;
  readonly pointText: string;
  /** Named expressions to append to the list of all names, and columns to append to those of a row. */
  readonly nameExpressions: string;
  readonly rowExpressions: string;
  /** Further columns of a row, or other values of its columns. */
  readonly explained: Readonly<Record<string, string>>;
}

/** `merge`: the function that makes one value of those of several lines with the same key. */
export interface BillColumn {
  readonly name: string;
  readonly merge: "any" | "max";
}

/** The configured rules that a statement applies. */
export interface AppliedRules extends WeighingColumns {
  /** Steps that pass costs on. */
  readonly steps: readonly PassingStep[];
  /** The stage whose rules apply; undefined if all rules are of the first one. */
  readonly stage: number | undefined;
  /** The step that is calculated, instead of a stage of rules. */
  readonly step: PassingStep | undefined;
}

export function ruleParts(ledger: SplitLedger, epoch: number, configured?: AppliedRules): RuleParts {
  return configured === undefined ? productParts(ledger, epoch) : configuredParts(ledger, epoch, configured);
}

function productParts(ledger: SplitLedger, epoch: number): RuleParts {
  return {
    names: "",
    ruleKey: "product_type",
    findsRule: "r.product_type = l.rule_of",
    bill: stagedTable("billing", epoch),
    billColumns: [],
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
    sets: ledger.sets(epoch),
    lineKey: "",
    pointText: "",
    nameExpressions: "",
    rowExpressions: "",
    explained: {},
  };
}

/** A line whose rule is not in the set (it was staged with another configuration) is treated as if it had no rule. */
function configuredParts(ledger: SplitLedger, epoch: number, applied: AppliedRules): RuleParts {
  const { step } = applied;
  const columns = [...applied.columns].filter(([name]) => step === undefined || step.places.has(name));
  const places = columns.map(([name, column], index) => ({ ...column, name, alias: `place_${index}` }));
  const cases = places.map(({ name, alias }) => `, setOf = ${literal(name)}, ${alias}`);
  const placesOfLine = places.map(({ alias }) => ({ name: alias, merge: "any" }) as const);
  return {
    ruleKey: "rule, product_type",
    findsRule: "r.rule = l.rule_name AND r.product_type = l.rule_of",
    resourceOf: (setOf) =>
      `multiIf(setOf = 'tenant', '', setOf = 'currency', toString(currency)${cases.join("")}, toString(resource_id))`.replaceAll(
        "setOf",
        setOf,
      ),
    lookup: (kind) => `if(${kind} IN ('cost', 'fixed'), 'usage', ${kind})`,
    costType: "if(kind IN ('usage', 'owner', 'line'), 'usage', 'shared')",
    method: ledger.configuredMethod ?? ledger.method,
    isFound: "kind NOT IN ('terminal', 'line')",
    isWeighed: "kind IN ('usage', 'cost', 'fixed')",
    weighingRules: "kind IN ('usage', 'cost', 'fixed')",
    ...(step === undefined
      ? ofStage({ ledger, epoch, applied, places, placesOfLine })
      : ofStep({ ledger, epoch, applied, places, placesOfLine }, step)),
  };
}

/** Condition on usage facts: the rules of the statement read them. */
const OF_THESE_RULES =
  " AND metric IN (SELECT arrayJoin(sources) FROM rules WHERE kind IN ('usage', 'cost', 'fixed'))";

interface ConfiguredInput {
  readonly ledger: SplitLedger;
  readonly epoch: number;
  readonly applied: AppliedRules;
  readonly places: readonly (PlaceColumn & { readonly name: string })[];
  readonly placesOfLine: readonly BillColumn[];
}

const STEPS_OF_LINE: BillColumn = { name: "line_steps", merge: "max" };

/** Parts of a statement whose lines are those of the bill. */
function ofStage({ ledger, epoch, applied: { stage, steps }, places, placesOfLine }: ConfiguredInput) {
  const billing = stagedTable("billing", epoch);
  const isPassing = steps.length > 0;
  const columns = [
    ...places.map(({ sql, alias }) => `, concat(toString(currency), ':', toString(${sql})) AS ${alias}`),
    ...(isPassing ? [`, ${stepsOfLine(steps, 0)} AS line_steps`] : []),
  ];
  return {
    names: `
        UNION ALL
        SELECT DISTINCT named_identity FROM ${billing} WHERE day IN {days:Array(Date)} AND named_identity != ''`,
    bill:
      columns.length === 0 && stage === undefined
        ? billing
        : `(SELECT *${columns.join("")} FROM ${billing}${stage === undefined ? "" : ` WHERE ${linesOfStage(stage)}`})`,
    billColumns: [
      { name: "named_identity", merge: "any" } as const,
      ...placesOfLine,
      ...(isPassing ? [STEPS_OF_LINE] : []),
    ],
    lineColumns: `toUInt32(transform(named_identity, names, arrayEnumerate(names), 0)) AS named,
      if(rule IN (SELECT rule FROM rules WHERE rule != ''), toString(rule), '') AS rule_name,
      multiIf(rule_name != '', '', product_type IN (SELECT product_type FROM rules WHERE rule = ''), toString(product_type), '*') AS rule_of`,
    named: "(t.2 = 'line' AND named != 0) OR ",
    sole: "if(c.kind = 'line', named, nobody)",
    rulesOfStage: stage === undefined ? "" : ` AND stage = ${stage}`,
    factsOfStage: stage === undefined || stage === FIRST_STAGE ? "" : OF_THESE_RULES,
    sets: ledger.sets(epoch),
    lineKey: "",
    pointText: "",
    nameExpressions: isPassing ? `\n  ${takersOfNames(steps, 0)},` : "",
    rowExpressions: isPassing ? `, ${takenBySql}` : "",
    explained: isPassing ? passingColumns("[]") : {},
  };
}

/** Parts of a statement whose lines are the rows that a step takes. */
function ofStep(
  { ledger, epoch, applied, places, placesOfLine }: ConfiguredInput,
  { step, rule }: PassingStep,
) {
  const { steps } = applied;
  const isRecipient = isNotEmptied("toString(identity_id)", steps, step);
  return {
    costType: "'passed'",
    names: "",
    bill: takenRows(ledger, epoch, steps, { step, places }),
    billColumns: [{ name: "taken_ratio", merge: "any" } as const, STEPS_OF_LINE, ...placesOfLine],
    lineColumns: `${literal(rule)} AS rule_name, '' AS rule_of`,
    named: "",
    sole: "nobody",
    rulesOfStage: ` AND stage = ${stageOfStep(step)}`,
    factsOfStage: `${OF_THESE_RULES}${isRecipient}`,
    sets: `(SELECT * FROM ${ledger.sets(epoch)} WHERE true${isRecipient})`,
    lineKey: ", taken_component, taken_path",
    pointText: TAKEN_POINT,
    nameExpressions: `\n  ${takersOfNames(steps, step)},`,
    rowExpressions: `, ${takenBySql}`,
    explained: {
      component: "taken_component",
      component_ratio: "taken_ratio",
      passed_from: "taken_path[-1].2",
      ...passingColumns("taken_path"),
    },
  };
}

/** Each line belongs to one stage, that of its rule. Lines without a configured rule belong to the first one. */
function linesOfStage(stage: number): string {
  const rules = "SELECT rule FROM allocation_rules WHERE rules_hash = {rules_hash:String}";
  return stage === FIRST_STAGE
    ? `rule NOT IN (${rules} AND stage != ${stage})`
    : `rule IN (${rules} AND stage = ${stage})`;
}
