/** Checks the parts that rules and steps share: the conditions of `where`, and the tiers of `split`. */
import { nearest } from "../../common/nearest.js";
import type { IdentityScope } from "../../domain/allocation-rule.js";
import { type RuleColumns, tagKeyOf } from "../../domain/rule-columns.js";
import type { Path } from "../reader/problem.js";
import type { Report } from "../reader/reading-context.js";
import { includes } from "../reader/validity.js";
import type { Comparison, Condition, Conditions, WrittenWhere } from "./condition.js";
import { whereOf } from "./condition.js";
import { refusePattern } from "./patterns.js";
import type { ConfiguredTier } from "./tier.js";

export interface Readable<Part> {
  readonly part: Part;
  readonly path: Path;
}

export interface KnownNames {
  readonly columns: RuleColumns;
  /** False if the setting that declares columns could not be read, so that `columns` lacks some. */
  readonly areColumnsKnown: boolean;
  /** Undefined if the ecosystem does not restrict them. */
  readonly metrics: readonly string[] | undefined;
  /** Undefined if the ecosystem does not restrict them. */
  readonly sets: readonly IdentityScope[] | undefined;
  /** The problem if the tenant's retention is too short for costs of a whole month. */
  readonly monthProblem: string | undefined;
}

export function isNumber(name: string, { columns }: KnownNames): boolean {
  return Object.hasOwn(columns, name) && columns[name]?.type === "decimal";
}

export function checkColumn(
  name: string,
  path: Path,
  { columns, areColumnsKnown }: KnownNames,
  report: Report,
): void {
  if (!areColumnsKnown || tagKeyOf(name) !== undefined || Object.hasOwn(columns, name)) return;
  const known = Object.keys(columns);
  const guess = nearest(name, known);
  report(
    path,
    guess === undefined
      ? `is no column of the lines; known: ${known.join(", ")}, and tag.KEY for tags`
      : `is no column of the lines; did you mean \`${guess}\`?`,
  );
}

export function checkWhere(
  where: WrittenWhere | undefined,
  path: Path,
  known: KnownNames,
  report: Report,
): void {
  const { conditions, any } = whereOf(where);
  checkConditions(conditions, [...path, "where"], known, report);
  for (const [index, each] of any.entries()) {
    const here = [...path, "where", "any", index];
    checkConditions(each, here, known, report);
    if (Object.keys(each).length === 0)
      report(here, "is empty, so that every line matches: give a column or leave any out");
  }
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

export function checkSplit(
  split: readonly ConfiguredTier[],
  path: Path,
  known: KnownNames,
  report: Report,
): void {
  for (const [index, tier] of split.entries()) {
    const here = [...path, index];
    if (tier.by === "cost" && tier.within !== undefined)
      checkWithin(tier.within, [...here, "within"], known, report);
    if (tier.by === "cost" && tier.over === "month" && known.monthProblem !== undefined)
      report([...here, "over"], known.monthProblem);
    if (tier.by === "usage") checkMetrics(tier, here, known, report);
    checkSet(tier, here, known, report);
    const days = tier.by === "fixed" ? tier : {};
    const earlier = split.slice(0, index).filter((each) => each.by !== "fixed" || includes(each, days));
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
