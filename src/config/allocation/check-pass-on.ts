/** Checks the steps of `pass_on`: recipients that an earlier step has emptied, and steps that can never find a cost. */
import { UNALLOCATED } from "../../domain/allocation-rule.js";
import type { Path } from "../reader/problem.js";
import type { Report } from "../reader/reading-context.js";
import { includes, overlap } from "../reader/validity.js";
import { checkSplit, checkWhere, type KnownNames, type Readable } from "./check-split.js";
import type { ConfiguredStep } from "./pass-on.js";
import type { ConfiguredTier } from "./tier.js";

export function checkPassOn(
  steps: readonly Readable<ConfiguredStep>[],
  known: KnownNames,
  report: Report,
): void {
  for (const [index, { part, path }] of steps.entries()) {
    const before = steps
      .slice(0, index)
      .map((each) => each.part)
      .filter((each) => overlap(each, part));
    checkWhere(part.where, path, known, report);
    checkSplit(part.split, [...path, "split"], known, report);
    checkFrom(part, [...path, "from"], before, report);
    for (const [position, tier] of part.split.entries())
      checkTier(tier, [...path, "split", position], [...before, part], report);
  }
}

function checkFrom(
  { from, ...step }: ConfiguredStep,
  path: Path,
  before: readonly ConfiguredStep[],
  report: Report,
): void {
  for (const [position, name] of from.entries()) {
    const others = from.filter((each) => each !== name);
    if (/^\*+$/.test(name)) report([...path, position], "matches everybody, so that nobody is left to pay");
    else if (from.indexOf(name) < position) report([...path, position], "is named twice");
    else if (covers(others, name)) report([...path, position], "is named twice: a glob matches it as well");
  }
  // Later steps may find new costs of UNALLOCATED, because a step that finds no recipient gives them to it.
  const emptiedBy = (name: string) =>
    before.find(
      (each) =>
        each.where === undefined && covers(each.from, name) && name !== UNALLOCATED && includes(each, step),
    );
  const emptying = from.map(emptiedBy);
  const [first] = emptying;
  if (first !== undefined && !emptying.includes(undefined))
    report(path, `can never find a cost: step ${first.name} passes all of it on`);
}

function checkTier(tier: ConfiguredTier, path: Path, steps: readonly ConfiguredStep[], report: Report): void {
  if (tier.by === "line")
    report([...path, "by"], "is for rules: a step passes on what was allocated already");
  const named: [name: string, path: Path][] = [];
  if (tier.by === "fixed")
    named.push(...Object.keys(tier.shares).map((name): [string, Path] => [name, [...path, "shares", name]]));
  if (tier.by === "even" && typeof tier.among !== "string")
    named.push(...tier.among.map((name, index): [string, Path] => [name, [...path, "among", index]]));
  for (const [name, here] of named) {
    const step = steps.find(({ from }) => covers(from, name));
    if (step !== undefined) report(here, `can receive nothing: step ${step.name} passes its costs on`);
  }
}

/** Returns whether a name, or every name that a glob matches, is one of these names and globs. */
function covers(names: readonly string[], name: string): boolean {
  return names.some(
    (each) => each === name || (each.includes("*") && name !== UNALLOCATED && matches(each, name)),
  );
}

/**
 * If the text is a glob itself, its `*` is a character that only a `*` matches. So all texts that it matches are
 * covered. Each part matches at the first position where it fits: trying later ones takes minutes for texts that repeat
 * themselves, and finds nothing more.
 */
function matches(glob: string, text: string): boolean {
  const [first = "", ...parts] = glob.split("*");
  const last = parts.pop() ?? "";
  let end = first.length;
  for (const part of parts) {
    const at = text.indexOf(part, end);
    if (at < 0) return false;
    end = at + part.length;
  }
  return text.startsWith(first) && text.endsWith(last) && end + last.length <= text.length;
}
