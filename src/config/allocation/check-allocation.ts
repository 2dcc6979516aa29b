/**
 * Checks a tenant's identity sources and rules: unknown columns and metrics, patterns that the store would refuse,
 * rules that no line can reach, and unreadable maps. Parts that could not be read are skipped.
 */
import { resolve } from "node:path";
import { nearest } from "../../common/nearest.js";
import { FIRST_STAGE, type IdentityScope } from "../../domain/allocation-rule.js";
import { type RuleColumns, ruleColumns, tagKeyOf } from "../../domain/rule-columns.js";
import type { Path } from "../reader/problem.js";
import type { Report } from "../reader/reading-context.js";
import { monthsProblem } from "../reader/whole-months.js";
import type { EcosystemSettings, NamedMap } from "../settings/ecosystem-settings.js";
import type { WrittenTenant } from "../settings/tenant.js";
import type { Comparison, Condition, Conditions, Where } from "./condition.js";
import { whereOf } from "./condition.js";
import { type ConfiguredRule, stageOf, usesAllocatedCosts } from "./configured-rule.js";
import { type IdentityMap, readIdentityMap } from "./identity-map.js";
import type { IdentitySource } from "./identity-source.js";
import { refusePattern } from "./patterns.js";
import type { ConfiguredTier } from "./tier.js";

/** By the path in the configuration. */
export type IdentityMaps = ReadonlyMap<string, IdentityMap>;

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
    canDeclareColumns: Object.hasOwn(ecosystem.settings.properties, "columns"),
    areColumnsKnown,
    metrics: settings && ecosystem.usageMetrics?.(settings),
    sets: settings && ecosystem.identitySets?.(settings),
    monthProblem: monthsProblem("is month", tenant),
  };
  const readable = <Part>(key: "identity" | "rules", parts: readonly Part[] = []) =>
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
  const ofIdentities = sources.flatMap(({ part: { map }, path }) =>
    map === undefined ? [] : [{ path: [...path, "map"], file: map }],
  );
  const ofSettings = (settings && ecosystem.maps?.(settings)) ?? [];
  const inSettings = ofSettings.map(({ path, file }) => ({ path: ["plugin_settings", ...path], file }));
  return { identity_maps: readMaps([...ofIdentities, ...inSettings], folder, report), line_columns: columns };
}

interface Readable<Part> {
  readonly part: Part;
  readonly path: Path;
}

interface KnownNames {
  readonly columns: RuleColumns;
  /** The ecosystem has a setting that declares columns of the bill. */
  readonly canDeclareColumns: boolean;
  /** False if the setting that declares columns could not be read, so that `columns` lacks some. */
  readonly areColumnsKnown: boolean;
  /** Undefined if the ecosystem does not restrict them. */
  readonly metrics: readonly string[] | undefined;
  /** Undefined if the ecosystem does not restrict them. */
  readonly sets: readonly IdentityScope[] | undefined;
  /** The problem if the tenant's retention is too short for costs of a whole month. */
  readonly monthProblem: string | undefined;
}

function checkSource({ column }: IdentitySource, path: Path, known: KnownNames, report: Report): void {
  if (column === undefined) return;
  checkColumn(column, [...path, "column"], known, report);
  if (isNumber(column, known)) report([...path, "column"], "is a number: an identity is text");
}

function isNumber(name: string, { columns }: KnownNames): boolean {
  return Object.hasOwn(columns, name) && columns[name]?.type === "decimal";
}

function checkColumn(
  name: string,
  path: Path,
  { columns, canDeclareColumns, areColumnsKnown }: KnownNames,
  report: Report,
): void {
  if (!areColumnsKnown || tagKeyOf(name) !== undefined || Object.hasOwn(columns, name)) return;
  const known = Object.keys(columns);
  const guess = nearest(name, known);
  const all = canDeclareColumns
    ? "declare columns of the bill in `plugin_settings.columns`"
    : `known: ${known.join(", ")}, and tag.KEY for tags`;
  report(path, `is no column of the lines; ${guess === undefined ? all : `did you mean \`${guess}\`?`}`);
}

function checkRule(rule: ConfiguredRule, path: Path, known: KnownNames, report: Report): void {
  const { conditions, any } = whereOf(rule.where);
  checkConditions(conditions, [...path, "where"], known, report);
  for (const [index, each] of any.entries()) {
    const here = [...path, "where", "any", index];
    checkConditions(each, here, known, report);
    if (Object.keys(each).length === 0)
      report(here, "is empty, so that every line matches: give a column or leave any out");
  }
  checkSplit(rule.split ?? [], [...path, "split"], known, report);
  for (const [index, { split }] of (rule.components ?? []).entries())
    checkSplit(split, [...path, "components", index, "split"], known, report);
}

function checkConditions(conditions: Conditions, path: Path, known: KnownNames, report: Report): void {
  for (const [name, condition] of Object.entries(conditions)) {
    const here = [...path, name];
    checkColumn(name, here, known, report);
    checkCondition(condition, { path: here, isNumber: isNumber(name, known) }, report);
  }
}

function checkCondition(
  condition: Condition,
  { path, isNumber }: { readonly path: Path; readonly isNumber: boolean },
  report: Report,
): void {
  const comparison = comparisonOf(condition);
  if (comparison === undefined) {
    if (isNumber) report(path, "is a number: compare it by above and below");
    return;
  }
  if (Object.keys(comparison).length === 0)
    report(path, "is empty: give not, matches, exists, above or below");
  for (const key of ["not", "matches", "exists"] as const)
    if (isNumber && comparison[key] !== undefined)
      report([...path, key], "is for texts: compare a number by above and below");
  for (const key of ["above", "below"] as const)
    if (!isNumber && comparison[key] !== undefined)
      report([...path, key], "is for numbers, and this is a text");
  const { matches, not } = comparison;
  const refusal = matches === undefined ? undefined : refusePattern(matches);
  if (refusal !== undefined) report([...path, "matches"], refusal);
  if ([not ?? []].flat().includes("*")) report([...path, "not"], "can never match: `*` matches every text");
}

function comparisonOf(condition: Condition): Comparison | undefined {
  return typeof condition === "string" || Array.isArray(condition) ? undefined : (condition as Comparison);
}

function checkSplit(split: readonly ConfiguredTier[], path: Path, known: KnownNames, report: Report): void {
  for (const [index, tier] of split.entries()) {
    const here = [...path, index];
    if (tier.by === "cost" && tier.within !== undefined)
      checkWithin(tier.within, [...here, "within"], known, report);
    if (tier.by === "cost" && tier.over === "month" && known.monthProblem !== undefined)
      report([...here, "over"], known.monthProblem);
    if (tier.by === "usage") checkMetrics(tier, here, known, report);
    checkSet(tier, here, known, report);
    const earlier = split.slice(0, index);
    const catchAll = earlier.map(describeCatchAll).find((each) => each !== undefined);
    if (catchAll !== undefined && tier.by !== "nobody")
      report(here, `is behind ${catchAll}, which allocates everything`);
    else if (earlier.some((each) => JSON.stringify(each) === JSON.stringify(tier)))
      report(here, "is tried before: it can never find a recipient");
  }
}

/** The description of a tier behind which no other tier is reached; undefined for other tiers. */
function describeCatchAll(tier: ConfiguredTier): string | undefined {
  if (tier.by === "even") return Array.isArray(tier.among) ? "a list of identities" : undefined;
  return { nobody: "nobody", fixed: "fixed shares" }[tier.by as string];
}

function checkWithin(within: string, path: Path, known: KnownNames, report: Report): void {
  checkColumn(within, path, known, report);
  if (isNumber(within, known)) report(path, "is a number: lines are grouped by a text");
  if (within === "currency") report(path, "is needless: costs always weigh within their currency");
}

/**
 * Reports identity sets that are never gathered: they are empty on every day, so their costs would end up at
 * UNALLOCATED.
 */
function checkSet(tier: ConfiguredTier, path: Path, { sets }: KnownNames, report: Report): void {
  if (sets === undefined) return;
  if (tier.by === "owner" && !sets.includes("owner"))
    report([...path, "by"], "finds no recipient: resources of this tenant have no owners");
  if (tier.by !== "even" || typeof tier.among !== "string" || sets.includes(tier.among)) return;
  const known = sets.filter((set) => set !== "owner");
  report(
    [...path, "among"],
    `is no set that is gathered of this tenant; known: ${known.length === 0 ? "none, so list the identities" : known.join(", ")}`,
  );
}

function checkMetrics(
  tier: ConfiguredTier & { readonly by: "usage" },
  path: Path,
  { metrics: known }: KnownNames,
  report: Report,
): void {
  if (known === undefined) return;
  const named: [string, Path][] = [
    ...(tier.metric === undefined ? [] : [[tier.metric, [...path, "metric"]] satisfies [string, Path]]),
    ...(tier.metrics ?? []).map((metric, index): [string, Path] => [metric, [...path, "metrics", index]]),
  ];
  for (const [metric, here] of named) {
    if (known.includes(metric)) continue;
    report(here, `is no metric of this tenant; known: ${known.length === 0 ? "none" : known.join(", ")}`);
  }
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
  const firstRules = new Map<string, string>();
  let catchAll: string | undefined;
  for (const { part, path: here } of rules) {
    const { name, where } = part;
    const text = JSON.stringify(canonical(whereOf(where)));
    const firstRule = firstRules.get(text);
    if (catchAll !== undefined)
      report(here, `can never take a line: rule ${catchAll} before it takes all of them`);
    else if (firstRule !== undefined)
      report(here, `can never take a line: rule ${firstRule} before it takes the same ones`);
    firstRules.set(text, firstRule ?? name);
    if (takesEverything(whereOf(where))) catchAll ??= name;
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
