import createXxHash from "xxhash-wasm";
import type { RuleSet } from "../../src/allocate/rules.js";
import { type OtherCost, otherCosts } from "../../src/domain/other-costs.js";

const { h64 } = await createXxHash();

/**
 * The reference allocator, in plain bigint arithmetic. It is written from the rules and not from the SQL, which is
 * compared with it. Amounts and costs are in units of 1e-12, weights in millionths.
 */
export interface RefereeLine {
  readonly key: string;
  readonly currency: string;
  readonly day: string;
  readonly resource_id: string;
  readonly product_type: string;
  /** Default: `C`. */
  readonly product_category?: string;
  readonly cost: bigint;
  /** The other costs of a bill that has several. */
  readonly others?: Readonly<Record<OtherCost, bigint>>;
  /** The configured rule that takes the line, and the identity that it names. */
  readonly rule?: string;
  readonly named?: string;
  /** The sets whose facts count for tiers of `currency` and `currency@COLUMN`. */
  readonly places?: Readonly<Record<string, string>>;
  /** The line is a row that a step takes: its component, and its path with the identity that it is taken from. */
  readonly taken?: { readonly component: number; readonly path: readonly Hop[] };
}

/** A step that passed a cost on, and the identity that it took it from. */
export interface Hop {
  readonly step: number;
  readonly from: string;
}

export interface RefereeInput {
  readonly lines: readonly RefereeLine[];
  readonly usage: readonly {
    day: string;
    metric: string;
    resource_id: string;
    identity_id: string;
    weight: bigint;
  }[];
  readonly sets: readonly { day: string; scope: string; resource_id: string; identity_id: string }[];
  readonly gaps: readonly { day: string; metric: string; resource_id: string }[];
  readonly rules: RuleSet;
  readonly decimalPlaces: number;
  /** Lines have a `line_id`: true for chargebacks, false for topics. Default: true. */
  readonly hasLineIds?: boolean;
}
export interface RefereeRow extends Partial<Readonly<Record<OtherCost, bigint>>> {
  readonly key: string;
  readonly currency: string;
  readonly component: number;
  readonly tier: number;
  readonly identity_id: string;
  readonly method: string;
  readonly detail: string;
  readonly amount: bigint;
  /** Empty for a row that no step passed on. */
  readonly path: readonly Hop[];
}

const methods = {
  usage: "usage_ratio",
  owner: "direct_owner",
  even: "even_split",
  line: "line_identity",
  cost: "cost_ratio",
  fixed: "fixed_ratio",
  terminal: "terminal",
} as const;

/** Returns every row of every line, sorted by line, component and identity. */
export function allocate(input: RefereeInput): RefereeRow[] {
  const merged = new Map<string, RefereeLine>();
  for (const line of input.lines) {
    const key = JSON.stringify([line.key, line.currency, line.taken]);
    const before = merged.get(key);
    const others = before?.others && line.others && sumOf(before.others, line.others);
    merged.set(key, { ...line, cost: line.cost + (before?.cost ?? 0n), ...(others && { others }) });
  }
  const [usage, sets] = [byPlace(input.usage), byPlace(input.sets)];
  const concerning = ({ day, resource_id, places = {} }: RefereeLine): RefereeInput => {
    const all = new Set([resource_id, "", ...Object.values(places)]);
    const at = [...all].map((place) => placeOf({ day, resource_id: place }));
    return {
      ...input,
      usage: at.flatMap((place) => usage.get(place) ?? []),
      sets: at.slice(0, 2).flatMap((place) => sets.get(place) ?? []),
    };
  };
  return [...merged.values()].flatMap((line) => allocateLine(concerning(line), line)).sort(compareRows);
}

function sumOf(one: Record<OtherCost, bigint>, other: Record<OtherCost, bigint>): Record<OtherCost, bigint> {
  const { billed_cost, effective_cost, list_cost } = one;
  return {
    billed_cost: billed_cost + other.billed_cost,
    effective_cost: effective_cost + other.effective_cost,
    list_cost: list_cost + other.list_cost,
  };
}

function placeOf({ day, resource_id }: { day: string; resource_id: string }): string {
  return `${day} ${resource_id}`;
}

function byPlace<Fact extends { day: string; resource_id: string }>(
  facts: readonly Fact[],
): Map<string, Fact[]> {
  const places = new Map<string, Fact[]>();
  for (const fact of facts) {
    const known = places.get(placeOf(fact));
    if (known === undefined) places.set(placeOf(fact), [fact]);
    else known.push(fact);
  }
  return places;
}

function allocateLine(input: RefereeInput, line: RefereeLine): RefereeRow[] {
  const tick = 10n ** BigInt(12 - input.decimalPlaces);
  const sign = line.cost < 0n ? -1n : 1n;
  const ticks = abs(line.cost) / tick;
  const residue = abs(line.cost) % tick;
  const tiers = rowsOf(input, line);
  const components = [...new Set(tiers.map((row) => row.component))];
  const draw = (point: string, whole: bigint) => drawn(input, line, point, whole);
  const ratios = components.map((component) => {
    const row = tiers.find((each) => each.component === component);
    if (row === undefined) throw new Error("a component without tiers");
    return BigInt(row.ratio_to - row.ratio_from);
  });
  const shares = systematic(ticks, ratios, draw("components", 1_000_000n));
  const withResidue = holderOf(draw("residue component", 1_000_000n), ratios);
  const cutOthers = otherCutter(line, ticks, tick);
  return components.flatMap((component, index) => {
    const chosen = chooseTier(
      input,
      line,
      tiers.filter((row) => row.component === component),
    );
    const weights = chosen.recipients.map(({ weight }) => weight);
    const total = weights.reduce((sum, weight) => sum + weight, 0n);
    const parts = systematic(shares[index] ?? 0n, weights, draw("recipients", total));
    const holder = holderOf(draw("residue recipient", total), weights);
    return chosen.recipients.flatMap(({ identity_id }, position) => {
      const hasResidue = index === withResidue && position === holder;
      const amount = sign * ((parts[position] ?? 0n) * tick + (hasResidue ? residue : 0n));
      if (amount === 0n && !(hasResidue && line.cost === 0n)) return [];
      const others = cutOthers(parts[position] ?? 0n, amount);
      const { tier, method } = chosen;
      const unowned = identity_id === "UNALLOCATED" && method !== "terminal";
      const detail = unowned ? "owner_unknown" : chosen.detail;
      const { key, currency, taken = { component, path: [] } } = line;
      return [{ key, currency, ...taken, tier, identity_id, method, detail, amount, ...others }];
    });
  });
}

/**
 * Returns a function that cuts the other costs for one row after the other. Each cost is a rope of whole ticks, cut
 * where the ticks of the charged cost end. The row that reaches the end of the line also gets what is below one tick.
 */
function otherCutter({ cost, others }: RefereeLine, ticks: bigint, tick: bigint) {
  let walked = 0n;
  const given = new Map<OtherCost, bigint>();
  return (part: bigint, amount: bigint): Partial<Record<OtherCost, bigint>> => {
    if (others === undefined) return {};
    walked += part;
    const cut = (name: OtherCost): bigint => {
      const whole = others[name];
      if (whole === cost) return amount;
      if (ticks === 0n) return whole;
      const before = given.get(name) ?? 0n;
      const until = part > 0n && walked === ticks ? whole : (((whole / tick) * walked) / ticks) * tick;
      if (part > 0n) given.set(name, until);
      return part > 0n ? until - before : 0n;
    };
    return Object.fromEntries(otherCosts.map((name) => [name, cut(name)]));
  };
}

type Recipient = { identity_id: string; weight: bigint };

function chooseTier(input: RefereeInput, line: RefereeLine, tiers: RuleSet["rows"]) {
  let outage = false;
  for (const tier of tiers) {
    if (tier.kind === "usage" && tier.sources.some((metric) => hasGap(input, line, metric))) {
      outage = true;
      continue;
    }
    if (tier.kind === "even" && tier.sources.some((scope) => hasGap(input, line, scope))) outage = true;
    const recipients = recipientsOf(input, line, tier);
    if (recipients.length === 0) continue;
    const detail = outage ? "metrics_fetch_failed" : tier.allocation_detail;
    return { tier: tier.tier, method: methods[tier.kind], detail, recipients };
  }
  throw new Error("a chain without a terminal tier");
}

function recipientsOf(input: RefereeInput, line: RefereeLine, tier: RuleSet["rows"][number]): Recipient[] {
  const weights = new Map<string, bigint>();
  if (tier.kind === "terminal") weights.set("UNALLOCATED", 1n);
  if (tier.kind === "line" && line.named !== undefined && line.named !== "") weights.set(line.named, 1n);
  if (tier.kind === "usage" || tier.kind === "cost" || tier.kind === "fixed") {
    const place = placeOfTier(tier.set_of, line);
    for (const fact of input.usage) {
      if (fact.day !== line.day || fact.resource_id !== place || fact.weight <= 0n) continue;
      if (!tier.sources.includes(fact.metric)) continue;
      weights.set(fact.identity_id, (weights.get(fact.identity_id) ?? 0n) + fact.weight);
    }
  }
  if (tier.kind === "even" || tier.kind === "owner") {
    const resource = tier.set_of === "tenant" ? "" : line.resource_id;
    for (const member of input.sets) {
      if (member.day === line.day && member.resource_id === resource && tier.sources.includes(member.scope)) {
        weights.set(member.identity_id, 1n);
      }
    }
    if (tier.kind === "owner" && weights.size !== 1) return [];
  }
  return [...weights]
    .map(([identity_id, weight]) => ({ identity_id, weight }))
    .sort((a, b) => compare(a.identity_id, b.identity_id));
}

/** Walks over the weights and gives each one the whole ticks that it passes. The first tick is after the offset. */
function systematic(ticks: bigint, weights: readonly bigint[], offset: bigint): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  let walked = offset;
  return weights.map((weight) => {
    walked += ticks * weight;
    const passed = walked / total;
    walked %= total;
    if (abs(passed * total - ticks * weight) >= total)
      throw new Error("a tick or more beside the exact share");
    return passed;
  });
}

/** Position of the weight that contains a point. */
function holderOf(point: bigint, weights: readonly bigint[]): number {
  let left = point;
  return weights.findIndex((weight) => {
    left -= weight;
    return left < 0n;
  });
}

/** Draws a point of a whole from the hash of the line, as described in docs/explanation/allocation.md. */
function drawn({ hasLineIds = true }: RefereeInput, line: RefereeLine, point: string, whole: bigint): bigint {
  const { day, key, resource_id, product_type, currency, product_category = "C" } = line;
  const [env_id = "", hour = "0"] = key.split("@");
  const seconds = Date.parse(`${day}T${hour.padStart(2, "0")}:00:00Z`) / 1000;
  const text = [day, seconds, env_id, resource_id, product_category, product_type, currency];
  const { component = "", path = [] } = line.taken ?? {};
  const ofRow =
    line.taken === undefined ? [] : [component, ...path.flatMap(({ step, from }) => [step, from])];
  const hash = h64([...text, ...(hasLineIds ? [0] : []), point, ...ofRow].join("\n"));
  return (hash * whole) / 2n ** 64n;
}

function placeOfTier(setOf: string, line: RefereeLine): string | undefined {
  if (setOf === "tenant") return "";
  return setOf === "resource" ? line.resource_id : line.places?.[setOf];
}

/** Returns the rule that takes the line, else that of its product type, else the rule for all others. */
function rowsOf({ rules }: RefereeInput, line: RefereeLine): RuleSet["rows"] {
  const configured = rules.rows.filter((row) => row.rule !== undefined && row.rule === line.rule);
  if (configured.length > 0) return configured;
  const own = rules.rows.filter((row) => row.rule === undefined);
  const ofType = own.filter((row) => row.product_type === line.product_type);
  return ofType.length > 0 ? ofType : own.filter((row) => row.product_type === "*");
}

function hasGap(input: RefereeInput, { day, resource_id }: RefereeLine, metric: string): boolean {
  return input.gaps.some(
    (gap) => gap.day === day && gap.metric === metric && gap.resource_id === resource_id,
  );
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Byte order, which the engine sorts by. */
function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export function compareRows(a: RefereeRow, b: RefereeRow): number {
  return (
    compare(a.key, b.key) ||
    compare(a.currency, b.currency) ||
    a.component - b.component ||
    compare(a.identity_id, b.identity_id) ||
    compare(pathText(a), pathText(b))
  );
}

/** The path as `readStaged` sorts it. */
export function pathText({ path }: Pick<RefereeRow, "path">): string {
  return path.map(({ step, from }) => `${step} ${from}`).join("\n");
}
