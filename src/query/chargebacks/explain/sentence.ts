/** Says in a sentence that can be forwarded why an identity pays an amount. Its figures are rounded. */
import { exact } from "../../../common/exact-decimal.js";
import { dayText, moneyOf, partText, shareText } from "../../../common/figures.js";
import { counted } from "../../../common/plural.js";
import { abbreviations, isOfNoResource, productName } from "../../../common/product-name.js";
import { type SetOf, UNALLOCATED } from "../../../domain/allocation-rule.js";
import type { Explanation } from "./response.js";
import type { TriedTier } from "./tiers.js";

export type Explained = Omit<Explanation, "sentence" | "weight_unit">;

/** A metric of bytes, in any spelling. */
const BYTES = /(^|_)bytes(_|$)/i;
const STORED = /stor|retain|disk|volume|size/i;

/** Unit of the weights: `bytes`, a currency, or null for a unit without a name. */
export function weightUnit({ tiers, row }: Explained): string | null {
  const used = usedTier(tiers);
  if (used?.kind === "cost") return row.currency;
  return used?.kind === "usage" && areBytes(used) ? "bytes" : null;
}

const usedTier = (tiers: Explained["tiers"]) => tiers?.find(({ outcome }) => outcome === "used");

const areBytes = ({ sources }: TriedTier) =>
  sources.length > 0 && sources.every(({ name }) => BYTES.test(name));

export function sentenceOf(explained: Explained): string {
  const { path, giving, row } = explained;
  const why = `${payment(explained)} because ${reason(explained)}.`;
  const passed = giving > 0 ? ` ${wayOf(explained)}` : "";
  const next = path[giving];
  const later = next === undefined ? "" : ` Step ${next.step} then passed it on.`;
  return `${why}${passed}${later}${row.provisional ? " The amount is provisional, because data of the day is missing." : ""}`;
}

function payment(explained: Explained): string {
  const { this: own, row, date, path, giving, identity_id } = explained;
  const { currency } = row;
  const whole = componentAmount(explained);
  const isRefund = own.amount.startsWith("-");
  const size = (amount: string) => moneyOf(amount.replace("-", ""), currency).replace("<", "less than");
  const isAll = whole === undefined || whole === own.amount;
  const amount = isAll
    ? `${size(own.amount)} ${currency}`
    : `${size(own.amount)} of the ${size(whole)} ${currency}`;
  const isUnallocated = identity_id === UNALLOCATED;
  const who = isUnallocated ? "Nobody" : nameOf(explained);
  const verb = isRefund ? "gets back" : giving < path.length && !isUnallocated ? "was given" : "pays";
  const from = path[giving - 1];
  const taken = from === undefined ? "" : ` that step ${from.step} took from ${from.identity_id}`;
  return `${who} ${verb} ${amount}${taken} for ${subject(explained)} on ${dayText(date)}`;
}

/** Returns the cost that the recipients share: the component of the line, or of what a step took. Undefined if unknown. */
function componentAmount({ rule, row, taken, line }: Explained): string | undefined {
  const component = taken === null ? row.component : 0;
  return rule?.components.find((each) => each.component === component)?.amount ?? taken ?? line?.total_cost;
}

const nameOf = ({ identity_name, identity_id }: Explained) => identity_name ?? identity_id;

/** The product and the resource, `Kafka CKUs of payments-3`. */
function subject(explained: Explained): string {
  const resource = resourceOf(explained);
  const product = productName(explained.product_type);
  return resource === undefined ? product : `${product} of ${resource}`;
}

function resourceOf({ resource_name, resource_id }: Explained): string | undefined {
  return isOfNoResource(resource_id) ? undefined : (resource_name ?? resource_id);
}

function reason(explained: Explained): string {
  const { identity_id, row } = explained;
  if (row.allocation_method === "terminal") return `${whyNobody(explained)} (${ruleName(explained)})`;
  if (identity_id === UNALLOCATED) return `${unallocatedPart(explained)} has no known owner`;
  switch (row.allocation_method) {
    case "usage_ratio":
      return `it ${usage(explained)}`;
    case "direct_owner":
      return `it owns ${resourceOf(explained) ?? "the resource"}`;
    case "even_split":
      return even(explained);
    case "line_identity":
      return "the bill names it";
    case "cost_ratio":
      return `it has ${costs(explained)}`;
    case "fixed_ratio":
      return `${ruleName(explained)} gives it a fixed share${ofShare(explained)}`;
  }
}

/** Costs reach UNALLOCATED as those of a recipient whose owner is unknown, such as of an API key. */
function unallocatedPart(explained: Explained): string {
  const { allocation_method: method } = explained.row;
  if (method === "usage_ratio") return `what ${usage(explained)},`;
  if (method === "cost_ratio") return `what has ${costs(explained)},`;
  return `one of those that share the cost (${even(explained)})`;
}

function usage(explained: Explained): string {
  const { this: own, split, tiers } = explained;
  const used = usedTier(tiers);
  const isBytes = used !== undefined && areBytes(used);
  const names = used?.sources.map(({ name }) => name) ?? [];
  const verb = isBytes ? (names.some((name) => STORED.test(name)) ? "stored" : "moved") : "used";
  const what = isBytes ? "bytes" : names.map(metricName).filter(Boolean).join(" and ");
  if (split === null || own.weight === null || own.share === null)
    return `${verb} a part of ${what === "" ? "it" : `its ${what}`}`;
  const part = partText(exact(own.weight), exact(split.total_weight), isBytes);
  const share = own.weight === split.total_weight ? "all" : shareOf(own);
  return `${verb} ${share} of ${what === "" ? "it" : `its ${what}`}, ${part}`;
}

/** A share is stored with six decimal places, so a small one may be stored as 0. */
function shareOf({ share, weight }: Explained["this"]): string {
  const isSmall = share !== null && exact(share).units === 0n && weight !== "0";
  return shareText(isSmall ? { units: 1n, scale: 9 } : exact(share ?? "0"));
}

/** A metric in words; empty for one that is named after the product. */
function metricName(metric: string): string {
  if (metric.startsWith("alloc_")) return "";
  const words = metric.split(/[_:]+/).filter(Boolean);
  return words.map((word) => abbreviations[word.toUpperCase()] ?? word).join(" ");
}

function even(explained: Explained): string {
  const { recipients, row, tiers } = explained;
  const { total } = recipients;
  const among = amongWhom(usedTier(tiers));
  const missing = whyEven[row.allocation_detail];
  const because = missing === undefined ? "" : `, as ${missing}`;
  return total === 1
    ? `it is the only identity ${among}${because}`
    : `${counted(total, "identity", "identities")} ${among} share the cost evenly${because}`;
}

function amongWhom(used: TriedTier | undefined): string {
  if (used === undefined) return "that are known";
  if (used.sources.some(({ name }) => name.startsWith("list:"))) return "that the rule lists";
  return used.set_of === "tenant" ? "of the tenant" : "with access to it";
}

/** Why a cost is split evenly that would be split by usage. */
const whyEven: Readonly<Record<string, string>> = {
  no_metrics_located: "no usage was measured",
  metrics_fetch_failed: "its usage could not be fetched",
  no_usage_for_active_identities: "none of them had measured usage",
  no_active_identities_located: "nobody was active on it",
};

function costs(explained: Explained): string {
  const { this: own, split, row, tiers } = explained;
  const place = costPlace(usedTier(tiers)?.set_of);
  if (split === null || own.weight === null || own.share === null) return `costs of its own ${place}`;
  const money = (amount: string) => moneyOf(amount, row.currency);
  const part = `${money(own.weight)} of ${money(split.total_weight)} ${row.currency}`;
  return `${shareOf(own)} of the other costs ${place}, ${part}`;
}

function costPlace(setOf: SetOf | undefined): string {
  const [, column] = setOf?.split("@") ?? [];
  if (column === undefined) return "of the tenant";
  return column === "resource_id" ? "of the resource" : `with the same ${column}`;
}

function ofShare({ this: own }: Explained): string {
  return own.share === null ? "" : ` of ${shareOf(own)}`;
}

function ruleName({ rule, path, giving }: Explained): string {
  if (giving > 0) return `step ${path[giving - 1]?.step}`;
  if (rule === null) return "a rule that is no longer stored";
  if (rule.rule !== "") return `the rule “${rule.rule}”`;
  return rule.product_type === "*" ? "the rule for other products" : `the rule for ${rule.product_type}`;
}

function whyNobody(explained: Explained): string {
  const { row, tiers } = explained;
  const resource = resourceOf(explained) ?? "the resource";
  if (tiers?.some(({ outcome }) => outcome === "several_owners")) return `${resource} has several owners`;
  switch (row.allocation_detail) {
    case "owner_unknown":
      return `the owner of ${resource} is unknown`;
    case "no_identity_on_line":
      return "the bill names no identity";
    case "no_allocator_for_product_type":
      return `no rule covers ${explained.product_type}`;
    case "allocation_failed":
      return "the calculation of the day failed too often";
    case "metrics_fetch_failed":
      return "its usage could not be fetched";
    case "no_metrics_located":
    case "no_usage_for_active_identities":
      return "no usage was measured";
    case "no_active_identities_located":
      return `nobody was active on ${resource}`;
    case "unattributable_by_design":
      return "its rule leaves it unallocated on purpose";
    default:
      return "no identity is known that could pay it";
  }
}

/** The identities that had the cost before, `It was first given to idle, then passed on to shared by step 1.` */
function wayOf({ path, giving }: Explained): string {
  const before = path.slice(0, giving);
  const [first, ...others] = before.map(({ identity_id }) => identity_id);
  const steps = others.map((identity, at) => `, then passed on to ${identity} by step ${before[at]?.step}`);
  return `It was first given to ${first}${steps.join("")}.`;
}
