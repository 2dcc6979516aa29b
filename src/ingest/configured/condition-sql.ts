/** Conditions of rules as SQL on the staged bill. */
import { isOneOf, literal } from "../../clickhouse/sql-text.js";
import type { Comparison, Condition, Conditions, Values, Where } from "../../config/allocation/condition.js";
import type { RuleColumns } from "../../domain/rule-columns.js";
import { columnOf, existsOf, lineValueSql } from "../../stores/facts/line-value.js";

/** Without conditions, the result is true for every line. */
export function whereSql({ conditions, any }: Where, columns: RuleColumns): string {
  const alternatives = any.map((each) => allOf(each, columns));
  const parts = [
    ...(Object.keys(conditions).length === 0 ? [] : [allOf(conditions, columns)]),
    ...(alternatives.length === 0 ? [] : [joined(alternatives, "OR")]),
  ];
  return parts.length === 0 ? "true" : joined(parts, "AND");
}

function allOf(conditions: Conditions, columns: RuleColumns): string {
  const parts = Object.entries(conditions).map(([name, condition]) => conditionSql(name, condition, columns));
  return parts.length === 0 ? "true" : joined(parts, "AND");
}

function joined(parts: readonly string[], word: "AND" | "OR"): string {
  return parts.length === 1 ? `${parts[0]}` : `(${parts.join(` ${word} `)})`;
}

function conditionSql(name: string, condition: Condition, columns: RuleColumns): string {
  if (typeof condition === "string" || Array.isArray(condition))
    return isOneOf(lineValueSql(name, columns), [condition as Values].flat());
  const { not, matches, exists, above, below } = condition as Comparison;
  const parts = [
    not === undefined ? [] : `NOT ${isOneOf(lineValueSql(name, columns), [not].flat())}`,
    matches === undefined ? [] : `match(${lineValueSql(name, columns)}, ${literal(matches)})`,
    exists === undefined ? [] : `${exists ? "" : "NOT "}${existsOf(name, columns)}`,
    above === undefined ? [] : `${columnOf(name, columns)} > ${decimal(above)}`,
    below === undefined ? [] : `${columnOf(name, columns)} < ${decimal(below)}`,
  ].flat();
  return joined(parts, "AND");
}

function decimal(text: string): string {
  return `toDecimal128(${literal(text)}, 12)`;
}
