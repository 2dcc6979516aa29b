import type { Comparison, Condition, Conditions } from "../../src/config/allocation/condition.js";
import { whereOf } from "../../src/config/allocation/condition.js";
import type { ConfiguredRule } from "../../src/config/allocation/configured-rule.js";
import type { IdentitySource } from "../../src/config/allocation/identity-source.js";
import type { AllocationRule } from "../../src/domain/allocation-rule.js";
import type { RefereeInput, RefereeLine } from "./referee.js";

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
}

/**
 * Lines with their rule and their identity, and derived facts for the weights of the rules, in addition to measured
 * ones.
 */
export function configured(
  lines: readonly RefereeBillLine[],
  configuration: Configuration,
): { readonly lines: readonly KnownLine[] } & Facts {
  const known = lines.map((line) => ({
    ...line,
    rule: configuration.rules.find((rule) => takes(rule, line))?.name ?? "",
    named: namedBy(configuration, line),
    places: placesOf(configuration, line),
  }));
  return { lines: known, ...derived(known, configuration) };
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
    currency: line.currency,
  };
  return columns[name] ?? "";
}

function takes(rule: ConfiguredRule, line: RefereeBillLine): boolean {
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

function costTiers({ rules }: Configuration) {
  return rules.flatMap((rule) =>
    splitsOf(rule).flatMap(({ split }) =>
      split.flatMap((tier) =>
        tier.by === "cost" ? [{ rule: rule.name, within: tier.within, over: tier.over }] : [],
      ),
    ),
  );
}

function splitsOf({ split, components = [] }: ConfiguredRule) {
  return split === undefined ? components : [{ ratio: "1", split }];
}

function placesOf(configuration: Configuration, line: RefereeBillLine): Record<string, string> {
  const places: Record<string, string> = { currency: line.currency };
  for (const { within } of costTiers(configuration))
    if (within !== undefined) places[`currency@${within}`] = `${line.currency}:${textOf(within, line)}`;
  return places;
}

type Facts = Pick<RefereeInput, "usage" | "sets">;

function derived(lines: readonly KnownLine[], configuration: Configuration): Facts {
  const usage: RefereeInput["usage"][number][] = [];
  const sets: RefereeInput["sets"][number][] = [];
  const days = [...new Set(lines.map((line) => line.day))];
  const metrics = new Map(
    costTiers(configuration).map(({ within, over }) => {
      const metric = `cost${within === undefined ? "" : `@${within}`}${over === "month" ? "/month" : ""}`;
      return [metric, { within, over }];
    }),
  );
  for (const [metric, { within, over }] of metrics) {
    for (const day of days) {
      const sums = new Map<string, { place: string; identity: string; sum: bigint }>();
      for (const line of lines) {
        const counts =
          over === "day" ? line.day === day : line.day <= day && line.day.slice(0, 7) === day.slice(0, 7);
        const share = directShare(line, configuration);
        if (!counts || line.named === "" || share === 0n) continue;
        const place = line.places[within === undefined ? "currency" : `currency@${within}`] ?? "";
        const key = JSON.stringify([place, line.named]);
        sums.set(key, { place, identity: line.named, sum: (sums.get(key)?.sum ?? 0n) + line.cost * share });
      }
      const positive = [...sums.values()].filter(({ sum }) => sum > 0n);
      for (const { place, identity, sum } of positive) {
        const divisor = unitOfWeights(
          positive.filter((each) => each.place === place).map((each) => each.sum),
        );
        usage.push({ day, metric, resource_id: place, identity_id: identity, weight: sum / divisor });
      }
    }
  }
  for (const rule of configuration.rules) {
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
