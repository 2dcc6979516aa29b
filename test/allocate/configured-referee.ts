import type { RuleSet } from "../../src/allocate/rules.js";
import type { Comparison, Condition, Conditions } from "../../src/config/allocation/condition.js";
import { whereOf } from "../../src/config/allocation/condition.js";
import type { ConfiguredRule } from "../../src/config/allocation/configured-rule.js";
import type { IdentitySource } from "../../src/config/allocation/identity-source.js";
import type { ConfiguredStep } from "../../src/config/allocation/pass-on.js";
import type { AllocationRule } from "../../src/domain/allocation-rule.js";
import { allocate, compareRows, type RefereeInput, type RefereeLine, type RefereeRow } from "./referee.js";

/**
 * Configured rules in plain JavaScript, written from their specification and not from the SQL: which rule takes a line,
 * which identity it names, and the weights of costs, shares and lists.
 */
export interface RefereeBillLine extends Omit<RefereeLine, "rule" | "named" | "places"> {
  readonly product_category: string;
  readonly tags: Readonly<Record<string, string>>;
}

export interface Configuration {
  readonly identity: readonly IdentitySource[];
  readonly maps: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly rules: readonly ConfiguredRule[];
  readonly own: readonly AllocationRule[];
  readonly steps: readonly ConfiguredStep[];
}

/**
 * Lines with their rule and their identity, and derived facts for the weights of the rules, in addition to measured
 * ones.
 */
export function configured(
  lines: readonly RefereeBillLine[],
  configuration: Configuration,
  set: RuleSet,
): { readonly lines: readonly KnownLine[] } & Facts {
  const known = lines.map((line) => ({
    ...line,
    rule: configuration.rules.find((rule) => takes(rule, line))?.name ?? "",
    named: namedBy(configuration, line),
    places: placesOf(configuration, line),
  }));
  return { lines: known, ...derived(known, configuration, set) };
}

export interface KnownLine extends RefereeBillLine {
  readonly rule: string;
  readonly named: string;
  readonly places: Readonly<Record<string, string>>;
}

function textOf(name: string, line: RefereeBillLine): string {
  if (name.startsWith("tag.")) return line.tags[name.slice(4)] ?? "";
  const columns: Record<string, string> = {
    resource_id: line.resource_id,
    product_type: line.product_type,
    product_category: line.product_category,
    env_id: line.key,
    // Stored with the metadata of the line only, not with its rows.
    zone: line.tags.env ?? "",
    currency: line.currency,
  };
  return columns[name] ?? "";
}

function takes(rule: Pick<ConfiguredRule, "where">, line: RefereeBillLine): boolean {
  const { conditions, any } = whereOf(rule.where);
  return matchesAll(conditions, line) && (any.length === 0 || any.some((each) => matchesAll(each, line)));
}

function matchesAll(conditions: Conditions, line: RefereeBillLine): boolean {
  return Object.entries(conditions).every(([name, condition]) => matchesCondition(name, condition, line));
}

function matchesCondition(name: string, condition: Condition, line: RefereeBillLine): boolean {
  const value = textOf(name, line);
  if (typeof condition === "string" || Array.isArray(condition)) return oneOf(value, [condition].flat());
  const { not, matches, exists, above, below } = condition as Comparison;
  const there = name.startsWith("tag.") ? Object.hasOwn(line.tags, name.slice(4)) : value !== "";
  const units = (text: string) => BigInt(Math.round(Number(text) * 1e6)) * 10n ** 6n;
  return (
    (not === undefined || !oneOf(value, [not].flat())) &&
    (matches === undefined || new RegExp(matches).test(value)) &&
    (exists === undefined || exists === there) &&
    (above === undefined || line.cost > units(above)) &&
    (below === undefined || line.cost < units(below))
  );
}

function oneOf(value: string, wanted: readonly string[]): boolean {
  return wanted.some((each) => {
    const parts = each.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join("[^]*")}$`).test(value);
  });
}

function namedBy({ identity, maps }: Configuration, line: RefereeBillLine): string {
  for (const source of identity) {
    const value =
      source.tag === undefined ? textOf(source.column ?? "", line) : (line.tags[source.tag] ?? "");
    const mapped = source.map === undefined ? value : (maps[source.map]?.[value] ?? "");
    const found =
      source.pattern === undefined
        ? mapped
        : (new RegExp(source.pattern).exec(value)?.groups?.identity ?? "");
    const named = found.replace(/^ +| +$/g, "");
    if (named !== "" && named !== "UNALLOCATED" && named.length <= 1000) return named;
  }
  return "";
}

interface CostTier {
  readonly metric: string;
  readonly within: string | undefined;
  readonly over: "day" | "month";
  readonly exclude: readonly string[];
  /** Undefined: weighs by direct charges. */
  readonly stage: number | undefined;
}

/** The stage of a rule: 1, or for one that splits by allocated costs the stage that it names, or 2. */
export function stageOfRule(rule: ConfiguredRule | undefined): number {
  const tiers = rule === undefined ? [] : splitsOf(rule).flatMap(({ split }) => split);
  return tiers.some((tier) => tier.by === "cost" && tier.of === "allocated") ? (rule?.stage ?? 2) : 1;
}

/** The tiers that weigh by costs, once for each metric. The names of metrics are those of the rule set. */
function costTiers({ rules, steps }: Configuration, set: RuleSet): CostTier[] {
  const tiers = new Map<string, CostTier>();
  const ofSteps = steps.map(({ name, split }, index) => ({ name: `pass_on/${name}`, split, of: 9 + index }));
  for (const rule of [...rules.map((each) => ({ ...each, of: stageOfRule(each) })), ...ofSteps])
    for (const [component, { split }] of splitsOf(rule).entries())
      for (const [index, tier] of split.entries()) {
        if (tier.by !== "cost") continue;
        const row = set.rows.find(
          (each) => each.rule === rule.name && each.component === component && each.tier === index,
        );
        const metric = row?.sources[0] ?? "";
        const { within, over, exclude = [] } = tier;
        const stage = tier.of === "allocated" ? rule.of : undefined;
        tiers.set(metric, { metric, within, over, exclude, stage });
      }
  return [...tiers.values()];
}

function splitsOf({ split, components = [] }: Pick<ConfiguredRule, "split" | "components">) {
  return split === undefined ? components : [{ ratio: "1", split }];
}

function placesOf(configuration: Configuration, line: RefereeBillLine): Record<string, string> {
  const places: Record<string, string> = { currency: line.currency };
  const tiers = [...configuration.rules, ...configuration.steps].flatMap((rule) =>
    splitsOf(rule).flatMap(({ split }) => split),
  );
  for (const tier of tiers) {
    const within = tier.by === "cost" ? tier.within : undefined;
    if (within !== undefined) places[`currency@${within}`] = `${line.currency}:${textOf(within, line)}`;
  }
  return places;
}

type Facts = Pick<RefereeInput, "usage" | "sets">;

/** A cost that counts as a weight, in 10^-18. */
interface Charge {
  readonly line: KnownLine;
  readonly identity: string;
  readonly amount: bigint;
}

/** Weights of a tier: by day, place and identity. */
function weightsOf(
  { metric, within, over, exclude }: CostTier,
  charges: readonly Charge[],
  days: readonly string[],
): Facts["usage"] {
  return days.flatMap((day) => {
    const sums = new Map<string, { place: string; identity: string; sum: bigint }>();
    for (const { line, identity, amount } of charges) {
      const counts =
        over === "day" ? line.day === day : line.day <= day && line.day.slice(0, 7) === day.slice(0, 7);
      if (!counts || oneOf(identity, exclude)) continue;
      const place = line.places[within === undefined ? "currency" : `currency@${within}`] ?? "";
      const key = JSON.stringify([place, identity]);
      sums.set(key, { place, identity, sum: (sums.get(key)?.sum ?? 0n) + amount });
    }
    const positive = [...sums.values()].filter(({ sum }) => sum > 0n);
    return positive.map(({ place, identity, sum }) => {
      const divisor = unitOfWeights(positive.filter((each) => each.place === place).map((each) => each.sum));
      return { day, metric, resource_id: place, identity_id: identity, weight: sum / divisor };
    });
  });
}

/**
 * Allocates stage by stage. The weights of a stage are what all stages before it gave to each identity.
 */
export function allocateStages(
  input: RefereeInput,
  lines: readonly KnownLine[],
  configuration: Configuration,
): RefereeRow[] {
  const stages = new Map(configuration.rules.map((rule) => [rule.name, stageOfRule(rule)]));
  const tiers = costTiers(configuration, input.rules);
  const days = [...new Set(lines.map((line) => line.day))];
  const byKey = new Map(lines.map((line) => [line.key, line]));
  let rows: RefereeRow[] = [];
  const weighed = (stage: number, isRecipient: (identity: string) => boolean) => {
    const charges = rows.flatMap((row): Charge[] => {
      const line = byKey.get(row.key);
      if (line === undefined || row.identity_id === "UNALLOCATED" || !isRecipient(row.identity_id)) return [];
      return [{ line, identity: row.identity_id, amount: row.amount * 10n ** 6n }];
    });
    return tiers.filter((tier) => tier.stage === stage).flatMap((tier) => weightsOf(tier, charges, days));
  };
  for (let stage = 1; stage <= 8; stage += 1) {
    const usage = weighed(stage, () => true);
    const own = lines.filter((line) => (stages.get(line.rule) ?? 1) === stage);
    rows = rows.concat(allocate({ ...input, lines: own, usage: [...input.usage, ...usage] }));
  }
  const { steps } = configuration;
  for (const [index, { name }] of steps.entries()) {
    const step = index + 1;
    const isRecipient = (identity: string) => !steps.slice(0, step).some((each) => takesFrom(each, identity));
    const usage = [...input.usage, ...weighed(8 + step, isRecipient)];
    const taken = rows.flatMap((row): (KnownLine & Pick<RefereeLine, "taken">)[] => {
      const line = byKey.get(row.key);
      if (line === undefined || nextStep(steps, row, line) !== step) return [];
      const path = [...row.path, { step, from: row.identity_id }];
      const { component, amount, billed_cost, effective_cost, list_cost } = row;
      const others =
        billed_cost !== undefined && effective_cost !== undefined && list_cost !== undefined
          ? { others: { billed_cost, effective_cost, list_cost } }
          : {};
      return [{ ...line, cost: amount, ...others, rule: `pass_on/${name}`, taken: { component, path } }];
    });
    const kept = rows.filter((row) => {
      const line = byKey.get(row.key);
      return line === undefined || nextStep(steps, row, line) !== step;
    });
    const given = allocate({
      ...input,
      lines: taken,
      usage: usage.filter(({ identity_id }) => isRecipient(identity_id)),
      sets: input.sets.filter(({ identity_id }) => isRecipient(identity_id)),
    });
    rows = [...kept, ...given];
  }
  return rows.sort(compareRows);
}

export function takesFrom({ from }: ConfiguredStep, identity: string): boolean {
  return identity === "UNALLOCATED" ? from.includes(identity) : oneOf(identity, from);
}

/** The first step after the one that gave the row that takes it; 0 if none does. */
function nextStep(
  steps: readonly ConfiguredStep[],
  { path, identity_id }: RefereeRow,
  line: KnownLine,
): number {
  const last = path.at(-1)?.step ?? 0;
  const index = steps.findIndex(
    (each, position) => position + 1 > last && takesFrom(each, identity_id) && takes(each, line),
  );
  return index + 1;
}

function derived(lines: readonly KnownLine[], configuration: Configuration, set: RuleSet): Facts {
  const sets: RefereeInput["sets"][number][] = [];
  const days = [...new Set(lines.map((line) => line.day))];
  const direct = lines.flatMap((line): Charge[] => {
    const share = directShare(line, configuration);
    return line.named === "" || share === 0n
      ? []
      : [{ line, identity: line.named, amount: line.cost * share }];
  });
  const usage = costTiers(configuration, set)
    .filter(({ stage }) => stage === undefined)
    .flatMap((tier) => [...weightsOf(tier, direct, days)]);
  const steps = configuration.steps.map(({ name, split }) => ({ name: `pass_on/${name}`, split }));
  for (const rule of [...configuration.rules, ...steps]) {
    const splits = splitsOf(rule);
    for (const [index, { split }] of splits.entries()) {
      const part = splits.length === 1 ? rule.name : `${rule.name}/${index}`;
      for (const tier of split) {
        for (const day of days) {
          if (tier.by === "fixed")
            for (const [identity_id, share] of Object.entries(tier.shares))
              usage.push({
                day,
                metric: `fixed:${part}`,
                resource_id: "",
                identity_id,
                weight: BigInt(Math.round(Number(share) * 1e6)),
              });
          if (tier.by === "even" && typeof tier.among !== "string")
            for (const identity_id of tier.among)
              sets.push({ day, scope: `list:${part}`, resource_id: "", identity_id });
        }
      }
    }
  }
  return { usage, sets };
}

/**
 * Returns the unit of the weights of a set, in 10^-18. It is a millionth if all weights are whole millionths. Otherwise
 * it is the power of a thousandth of that which gives the largest weight at least twelve digits, down to a millionth of
 * a millionth.
 */
function unitOfWeights(sums: readonly bigint[]): bigint {
  const millionth = 10n ** 12n;
  if (sums.every((sum) => sum % millionth === 0n)) return millionth;
  const [largest = 0n] = [...sums].sort((a, b) => (a < b ? 1 : -1));
  const exponent = largest.toString().length - 1 - 18;
  const places = Math.min(12, Math.max(0, 3 * Math.ceil((5 - exponent) / 3)));
  return 10n ** BigInt(12 - places);
}

/** Millionths of the line whose first tier is the identity that the line names. */
function directShare(line: KnownLine, { rules, own }: Configuration): bigint {
  const rule = rules.find(({ name }) => name === line.rule);
  if (rule !== undefined && rule.allocation === undefined) {
    const direct = splitsOf(rule).filter(({ split }) => split[0]?.by === "line");
    return direct.reduce((sum, { ratio }) => sum + BigInt(Math.round(Number(ratio) * 1e6)), 0n);
  }
  const ofType =
    own.find((each) => each.product_type === line.product_type) ??
    own.find((each) => each.product_type === "*");
  const direct = (ofType?.components ?? []).filter(({ tiers }) => tiers[0]?.kind === "line");
  return direct.reduce((sum, { ratio }) => sum + BigInt(Math.round(Number(ratio) * 1e6)), 0n);
}
