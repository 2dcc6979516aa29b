/**
 * The bill of one provider for one month: a line for each resource and day, a commitment that is partly unused, support
 * and tax for the whole month, and a credit. It is a function of the seed.
 */
import { addDays, addMonths, isoTime, midnightSeconds } from "../../common/days.js";
import { chance, hash } from "../hash.js";
import { type BillLine, billionths } from "./line.js";
import type { CloudService, Provider } from "./providers.js";

export interface MonthOptions {
  readonly seed: number;
  /** Number of resources of the provider. Each has one line a day. */
  readonly resources: number;
  /** First day of the month. */
  readonly month: string;
  /** Billed days: from the first (inclusive) to the second (exclusive). */
  readonly days: readonly [from: string, to: string];
  /** Days whose usage was corrected upwards. */
  readonly corrected?: readonly string[];
  /** Whether the month is closed. Closed months have an invoice. */
  readonly closed: boolean;
}

/** Teams in tags. */
export const teams = ["checkout", "search", "payments", "data", "ml", "web"] as const;
/** Every 17th resource is shared by all teams, and has the tag `shared`. */
const SHARED_EVERY = 17;
const UNTAGGED = 0.12;

export function simulatedLines(provider: Provider, options: MonthOptions): BillLine[] {
  const resources = Array.from({ length: options.resources }, (_, rank) =>
    resourceOf(provider, options, rank),
  );
  const [from, to] = options.days;
  const lines: BillLine[] = [];
  for (let day = from; day < to; day = addDays(day, 1)) {
    for (const resource of resources) lines.push(usageLine(provider, options, resource, day));
    lines.push(unusedLine(provider, options, day));
  }
  if (from === to) return lines;
  return [...lines, ...monthlyLines(provider, options), creditLine(provider, options)];
}

type Resource = ReturnType<typeof resourceOf>;

function resourceOf(provider: Provider, { seed }: MonthOptions, rank: number) {
  const resourceSeed = hash(seed, provider.name.length, provider.account.id.length, rank);
  const pick = <Item>(items: readonly Item[], salt: number) =>
    items[hash(resourceSeed, salt) % items.length] as Item;
  const service = pick(provider.services, 1);
  const subAccount = pick(provider.subAccounts, 2);
  const region = pick(provider.regions, 3);
  const team = pick(teams, 4);
  const sandbox = subAccount === provider.subAccounts.at(-1);
  const shared = rank % SHARED_EVERY === SHARED_EVERY - 1;
  const name = `${shared ? "shared" : team}-${service.resourceType.toLowerCase().replaceAll(" ", "-")}-${rank + 1}`;
  const untagged = sandbox || chance(resourceSeed, 5) < UNTAGGED;
  const tags: Record<string, string> = shared
    ? { shared: "true", environment: "prod" }
    : { team, environment: chance(resourceSeed, 6) < 0.7 ? "prod" : "staging" };
  return {
    resourceSeed,
    service,
    subAccount,
    region,
    name,
    tags: untagged && !shared ? {} : tags,
    committed: service.committed === true && chance(resourceSeed, 7) < 0.5,
  };
}

function usageLine(provider: Provider, options: MonthOptions, resource: Resource, day: string): BillLine {
  const { resourceSeed, service, subAccount, region, name, tags, committed } = resource;
  const noise = chance(resourceSeed, Math.trunc(midnightSeconds(day) / 86_400));
  const units = Math.max(1, Math.round(service.maxUnits * (0.3 + 0.6 * noise)));
  const metered = options.corrected?.includes(day) === true ? units + 1 : units;
  const id = provider.resourceId({
    subAccount: subAccount[0],
    region: region[0],
    kind: service.resourceType,
    name,
  });
  return {
    ...charge(provider, options, day, addDays(day, 1)),
    ...priced(service, metered, committed),
    ...(committed && commitmentOf(provider, "Used", metered)),
    ChargeCategory: "Usage",
    ChargeFrequency: "Usage-Based",
    ChargeDescription: `${service.name}, ${service.unit}`,
    ConsumedQuantity: String(metered),
    ConsumedUnit: service.unit,
    RegionId: region[0],
    RegionName: region[1],
    ResourceId: id,
    ResourceName: name,
    ResourceType: service.resourceType,
    ...ofSubAccount(provider, subAccount),
    tags,
  };
}

/** The unused part of the commitment on that day. */
function unusedLine(provider: Provider, options: MonthOptions, day: string): BillLine {
  const service = committedService(provider);
  const units = 1 + (hash(options.seed, midnightSeconds(day)) % 6);
  return {
    ...charge(provider, options, day, addDays(day, 1)),
    ...priced(service, units, true),
    ...commitmentOf(provider, "Unused", units),
    ChargeCategory: "Usage",
    ChargeFrequency: "Usage-Based",
    ChargeDescription: `${provider.commitment.name}, unused`,
    ListCost: "0",
    ListUnitPrice: "0",
    ContractedCost: "0",
    ContractedUnitPrice: "0",
    ResourceId: provider.commitment.id,
    ResourceName: provider.commitment.name,
    ResourceType: provider.commitment.type,
    tags: {},
  };
}

/** Support for the whole month. */
export function supportLine(provider: Provider, options: Period & Pick<MonthOptions, "resources">): BillLine {
  return {
    ...recurring(provider, options),
    ServiceName: provider.support,
    ServiceCategory: "Other",
    ServiceSubcategory: "Other (Other)",
    ...sku(provider.support, "Standard"),
    ...unitPrice(billionths(options.resources * 2_370_000_000)),
    ChargeCategory: "Purchase",
    ChargeDescription: provider.support,
    tags: {},
  };
}

function recurring(provider: Provider, options: Period) {
  const { month } = options;
  const whole = charge(provider, options, month, addMonths(month, 1));
  return { ...whole, ChargeFrequency: "Recurring", PricingQuantity: "1", PricingUnit: "Months" };
}

function monthlyLines(provider: Provider, options: MonthOptions): BillLine[] {
  const { month, resources } = options;
  const service = committedService(provider);
  const fee = billionths(resources * 8_640_000_000);
  const { CommitmentDiscountStatus: _, ...commitment } = commitmentOf(provider, "Used", 1);
  const purchase = {
    ...serviceOf(service),
    ...sku(provider.commitment.name, "Standard"),
    ...unitPrice(fee),
    ...commitment,
    // The covered usage has the effective cost.
    EffectiveCost: "0",
    ResourceId: provider.commitment.id,
    ResourceName: provider.commitment.name,
    ResourceType: provider.commitment.type,
  };
  const tax = {
    ServiceName: "Tax",
    ServiceCategory: "Other",
    ServiceSubcategory: "Other (Other)",
    ...costs(billionths(resources * 21_300_000_000)),
  };
  const whole = charge(provider, options, month, addMonths(month, 1));
  return [
    supportLine(provider, options),
    {
      ...recurring(provider, options),
      ...purchase,
      ChargeCategory: "Purchase",
      ChargeDescription: `${provider.commitment.name}, monthly fee`,
      tags: {},
    },
    { ...whole, ...tax, ChargeCategory: "Tax", ChargeDescription: "Value added tax", tags: {} },
  ];
}

/** A credit for an outage, on the first billed day. */
function creditLine(provider: Provider, options: MonthOptions): BillLine {
  const [day] = options.days;
  const [service] = provider.services;
  const [subAccount] = provider.subAccounts;
  if (service === undefined || subAccount === undefined) throw new RangeError("a provider sells nothing");
  return {
    ...charge(provider, options, day, addDays(day, 1)),
    ...serviceOf(service),
    ...costs(billionths(options.resources * -1_250_000_000)),
    ChargeCategory: "Credit",
    ChargeDescription: "Service level credit",
    ...ofSubAccount(provider, subAccount),
    tags: { team: teams[0] },
  };
}

type Period = Pick<MonthOptions, "month" | "closed">;

export function charge(provider: Provider, { month, closed }: Period, from: string, to: string) {
  const { account, currency } = provider;
  return {
    BillingPeriodStart: start(month),
    BillingPeriodEnd: start(addMonths(month, 1)),
    ChargePeriodStart: start(from),
    ChargePeriodEnd: start(to),
    ChargeFrequency: "One-Time",
    BillingCurrency: currency,
    PricingCurrency: currency,
    BillingAccountId: account.id,
    BillingAccountName: account.name,
    BillingAccountType: account.type,
    ProviderName: provider.name,
    PublisherName: provider.publisher,
    InvoiceIssuerName: provider.name,
    InvoiceId: closed ? `${provider.name.slice(0, 1)}-${month.slice(0, 7)}` : null,
  };
}

/** The contracted price is a tenth below the list price; a commitment costs a third less than that. */
export function priced(service: CloudService, units: number, committed: boolean) {
  const agreed = (service.price / 10) * 9;
  const cost = (price: number) => billionths(price * 1000 * units);
  const paid = cost(committed ? (agreed / 9) * 6 : agreed);
  return {
    ...serviceOf(service),
    ...sku(service.name, committed ? "Committed" : "Standard"),
    PricingQuantity: String(units),
    PricingUnit: service.unit,
    ListUnitPrice: billionths(service.price * 1000),
    ListCost: cost(service.price),
    ContractedUnitPrice: billionths(agreed * 1000),
    ContractedCost: cost(agreed),
    BilledCost: committed ? "0" : paid,
    EffectiveCost: paid,
  };
}

function commitmentOf({ commitment }: Provider, status: "Used" | "Unused", units: number) {
  return {
    CommitmentDiscountCategory: "Usage",
    CommitmentDiscountId: commitment.id,
    CommitmentDiscountName: commitment.name,
    CommitmentDiscountQuantity: String(units),
    CommitmentDiscountStatus: status,
    CommitmentDiscountType: commitment.type,
    CommitmentDiscountUnit: "Hours",
  };
}

function serviceOf({ name, category, subcategory }: CloudService) {
  return { ServiceName: name, ServiceCategory: category, ServiceSubcategory: subcategory };
}

export function ofSubAccount({ subAccountType }: Provider, [id, name]: readonly [string, string]) {
  return { SubAccountId: id, SubAccountName: name, SubAccountType: subAccountType };
}

function sku(name: string, category: string) {
  const id = hash(...[...name].map((letter) => letter.charCodeAt(0))).toString(16);
  return { SkuId: id, SkuPriceId: `${id}-1`, SkuMeter: name, PricingCategory: category };
}

const costs = (cost: string) => ({
  BilledCost: cost,
  ContractedCost: cost,
  ListCost: cost,
  EffectiveCost: cost,
});
const unitPrice = (cost: string) => ({ ...costs(cost), ListUnitPrice: cost, ContractedUnitPrice: cost });
const start = (day: string) => isoTime(midnightSeconds(day));

function committedService({ services }: Provider): CloudService {
  const service = services.find(({ committed }) => committed);
  if (service === undefined) throw new RangeError("a provider sells no commitments");
  return service;
}
