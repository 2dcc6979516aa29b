/**
 * Checks a tenant's identity sources and rules: unknown columns and metrics, patterns that the store would refuse,
 * rules that no line can reach, and unreadable maps. Parts that could not be read are skipped.
 */
import { resolve } from "node:path";
import { FIRST_STAGE } from "../../domain/allocation-rule.js";
import { type RuleColumns, ruleColumns } from "../../domain/rule-columns.js";
import type { Path } from "../reader/problem.js";
import type { Report } from "../reader/reading-context.js";
import { includes } from "../reader/validity.js";
import { monthsProblem } from "../reader/whole-months.js";
import type { EcosystemSettings, NamedMap } from "../settings/ecosystem-settings.js";
import type { WrittenTenant } from "../settings/tenant.js";
import { checkPassOn } from "./check-pass-on.js";
import {
  checkColumn,
  checkSplit,
  checkWhere,
  isNumber,
  type KnownNames,
  type Readable,
} from "./check-split.js";
import type { Conditions, Where } from "./condition.js";
import { whereOf } from "./condition.js";
import { type ConfiguredRule, stageOf, usesAllocatedCosts } from "./configured-rule.js";
import { type IdentityMap, type IdentityMaps, readIdentityMap } from "./identity-map.js";
import type { IdentitySource } from "./identity-source.js";

interface CheckContext {
  /** Base of relative paths. */
  readonly folder: string;
  /**
   * False for a part of the tenant with a problem. The problem is reported already, and keys of the part may be
   * missing.
   */
  readonly isReadable: (path: Path) => boolean;
  readonly report: Report;
}

/** Reports problems, with paths relative to the tenant, and returns the maps that could be read, and the columns. */
export function checkAllocation(
  { allocation, ...tenant }: Partial<WrittenTenant>,
  ecosystem: EcosystemSettings,
  { folder, isReadable, report }: CheckContext,
): { readonly identity_maps: IdentityMaps; readonly line_columns: RuleColumns } {
  const settings = isReadable(["plugin_settings"]) ? tenant.plugin_settings : undefined;
  const areColumnsKnown = isReadable(["plugin_settings", "columns"]);
  const columns = ruleColumns(ecosystem.lineColumns?.((areColumnsKnown && tenant.plugin_settings) || {}));
  const known: KnownNames = {
    columns,
    areColumnsKnown,
    metrics: settings && ecosystem.usageMetrics?.(settings),
    sets: settings && ecosystem.identitySets?.(settings),
    monthProblem: monthsProblem("is month", tenant),
  };
  const readable = <Part>(key: "identity" | "rules" | "pass_on", parts: readonly Part[] = []) =>
    parts.flatMap((part, index) => {
      const path = ["allocation", key, index];
      return part !== undefined && isReadable(path) ? [{ part, path }] : [];
    });
  const sources = readable("identity", allocation?.identity);
  const rules = readable("rules", allocation?.rules);
  for (const { part, path } of sources) checkSource(part, path, known, report);
  for (const { part, path } of rules) checkRule(part, path, known, report);
  checkReach(rules, report);
  checkStages(rules, report);
  checkPassOn(readable("pass_on", allocation?.pass_on), known, report);
  const ofIdentities = sources.flatMap(({ part: { map }, path }) =>
    map === undefined ? [] : [{ path: [...path, "map"], file: map }],
  );
  const ofSettings = (settings && ecosystem.maps?.(settings)) ?? [];
  const inSettings = ofSettings.map(({ path, file }) => ({ path: ["plugin_settings", ...path], file }));
  return { identity_maps: readMaps([...ofIdentities, ...inSettings], folder, report), line_columns: columns };
}

function checkSource({ column }: IdentitySource, path: Path, known: KnownNames, report: Report): void {
  if (column === undefined) return;
  checkColumn(column, [...path, "column"], known, report);
  if (isNumber(column, known)) report([...path, "column"], "is a number: an identity is text");
}

function checkRule(rule: ConfiguredRule, path: Path, known: KnownNames, report: Report): void {
  checkWhere(rule.where, path, known, report);
  checkSplit(rule.split ?? [], [...path, "split"], known, report);
  for (const [index, { split }] of (rule.components ?? []).entries())
    checkSplit(split, [...path, "components", index, "split"], known, report);
}

/** Reports stages of rules that do not weigh by allocated costs, and stages with no rule right before them. */
function checkStages(rules: readonly Readable<ConfiguredRule>[], report: Report): void {
  const stages = new Set(rules.map(({ part }) => stageOf(part)));
  for (const { part, path } of rules) {
    const { stage } = part;
    if (stage === undefined) continue;
    if (!usesAllocatedCosts(part))
      report([...path, "stage"], "is only for a rule that splits by cost, `of: allocated`");
    else if (stage > FIRST_STAGE + 1 && !stages.has(stage - 1))
      report([...path, "stage"], `has no rule of stage ${stage - 1} before it`);
  }
}

/** Reports rules that no line can reach, because an earlier rule takes every line, or has the same conditions. */
function checkReach(rules: readonly Readable<ConfiguredRule>[], report: Report): void {
  const earlier: { readonly rule: ConfiguredRule; readonly where: string }[] = [];
  for (const { part: rule, path } of rules) {
    const where = JSON.stringify(canonical(whereOf(rule.where)));
    const before = earlier.filter((each) => includes(each.rule, rule));
    const catchAll = before.find((each) => takesEverything(whereOf(each.rule.where)));
    const same = before.find((each) => each.where === where);
    if (catchAll !== undefined)
      report(path, `can never take a line: rule ${catchAll.rule.name} before it takes all of them`);
    else if (same !== undefined)
      report(path, `can never take a line: rule ${same.rule.name} before it takes the same ones`);
    earlier.push({ rule, where });
  }
}

function takesEverything({ conditions, any }: Where): boolean {
  return any.length === 0 && Object.values(conditions).every((condition) => [condition].flat().includes("*"));
}

/** A form in which two `where` with the same conditions in a different order are equal. */
function canonical({ conditions, any }: Where): unknown {
  const sorted = (conditions: Conditions) =>
    Object.entries(conditions)
      .map(([name, condition]) => [name, Array.isArray(condition) ? [...condition].sort() : condition])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  return [sorted(conditions), any.map(sorted)];
}

function readMaps(named: readonly NamedMap[], folder: string, report: Report): IdentityMaps {
  const maps = new Map<string, IdentityMap>();
  for (const { path, file } of named) {
    if (maps.has(file)) continue;
    const read = readIdentityMap(resolve(folder, file));
    if ("problem" in read) report(path, read.problem);
    else maps.set(file, read);
  }
  return maps;
}
