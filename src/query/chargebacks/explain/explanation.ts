/**
 * Why a dimension was charged what it was on a day: one chargeback row, from the line of the bill down to the last tick, explained
 * from what is published and calculated again on the way. `docs/explanation/allocation.md` has the rules.
 */
import { type LineColumns, tagKeyOf } from "../../../config/allocation/line-columns.js";
import type { AllocationDetail, AllocationMethod, CostType, SetOf } from "../../../config/allocation-rule.js";
import {
  type IdentityNames,
  type KnownNames,
  type ResourceNames,
  readNamesOfInventory,
} from "../../inventory/names.js";
import type { PageRequest } from "../../page/days.js";
import { type PipelineRun, readRunOfEpoch } from "../../state/pipeline-runs.js";
import type { DimensionFields } from "../dimension-row.js";
import { type ComponentTicks, decimalOf, type LineTicks, shareText, ticksOfLine } from "./arithmetic.js";
import { type DayLine, type DayRow, type RowChoice, type RuleTierRow, readDay } from "./day.js";
import { type DayFacts, readDayFacts } from "./day-facts.js";
import { type OwnerOnDay, readDayState, readKnownOnDay, type TenantStores } from "./owner.js";
import {
  columnOfPlace,
  digestOfCharged,
  type RecipientsInput,
  readCharged,
  readSplit,
  type SplitRecipient,
} from "./recipients.js";
import { type TriedTier, triedTiers } from "./tiers.js";

export interface ExplainInput extends RowChoice, PageRequest {
  readonly dimension: DimensionFields & { readonly dimension_id: number };
  /** UTC day. */
  readonly date: string;
  /** Of the tenant's bill. */
  readonly columns: LineColumns;
}

/** Amounts, weights and ticks are plain decimals as text. Instants are `2026-01-01T00:00:00Z`. */
export interface Explanation extends Omit<DimensionFields, "cost_type">, IdentityNames, ResourceNames {
  readonly dimension_id: number;
  readonly cost_type: CostType;
  readonly date: string;
  /** Of the dimension on the day, those that were asked for; the first is explained. */
  readonly rows: ExplainedRow[];
  readonly total_rows: number;
  readonly row: ExplainedRow & RowHow;
  /** Null when the line is not there. */
  readonly line: ExplainedLine | null;
  /** Null when the rule is not known that the row was made by. */
  readonly rule: ExplainedRule | null;
  readonly split: ExplainedSplit | null;
  readonly tiers: TriedTier[] | null;
  readonly weights_kept: boolean;
  readonly this: Recipient;
  readonly recipients: RecipientPage;
  readonly samples: ExplainedSample[];
  readonly owner: OwnerOnDay;
  readonly published_at: string | null;
  readonly input_hash: string | null;
  readonly lacks: string[];
  readonly run: PipelineRun | null;
}

export interface ExplainedRow {
  readonly timestamp: string;
  readonly component: number;
  readonly currency: string;
  readonly line_id: number;
  readonly amount: string;
}

export interface RowHow {
  readonly component_ratio: string;
  readonly tier: number;
  readonly allocation_method: AllocationMethod;
  readonly allocation_detail: AllocationDetail;
  readonly provisional: boolean;
}

export interface ExplainedLine extends Omit<DayLine, "unit_price"> {
  readonly unit_price: string | null;
}

export interface ExplainedRule {
  readonly rules_hash: string;
  readonly product_type: string;
  /** Name of the configured rule; empty for the rule of a product type. */
  readonly rule: string;
  readonly given_up: boolean;
  readonly components: ExplainedComponent[];
}

export interface ExplainedComponent {
  readonly component: number;
  readonly ratio: string;
  readonly ticks: string;
  readonly amount: string;
  readonly leads: boolean;
}

export interface ExplainedSplit {
  readonly decimal_places: number;
  readonly tick: string;
  readonly line_ticks: string;
  readonly residue: string;
  readonly component_ticks: string;
  readonly total_weight: string;
  readonly remaining_ticks: string;
}

export interface Recipient extends IdentityNames {
  readonly identity_id: string;
  readonly amount: string;
  readonly weight: string | null;
  readonly share: string | null;
  readonly whole_ticks: string | null;
  readonly remainder: string | null;
  readonly remainder_rank: number | null;
  readonly has_extra_tick: boolean | null;
  readonly has_residue: boolean | null;
}

export interface RecipientPage {
  readonly items: Recipient[];
  readonly total: number;
  readonly page: number;
  readonly page_size: number;
  readonly pages: number;
}

export interface ExplainedSample {
  readonly timestamp: string;
  readonly metric: string;
  readonly quantity: string;
}

/** Undefined when the dimension has no such row on the day. */
export async function readExplanation(
  stores: TenantStores,
  input: ExplainInput,
  signal?: AbortSignal,
): Promise<Explanation | undefined> {
  const { client, postgres, tenantName } = stores;
  const { dimension, date } = input;
  const [day, known, state] = await Promise.all([
    readDay(client, dimension, input, signal),
    readKnownOnDay(stores, dimension, date, signal),
    readDayState(stores, date, signal),
  ]);
  const row = day?.rows[0];
  if (day === undefined || row === undefined) return undefined;
  const line = day.lines.find(
    ({ timestamp, currency, line_id }) =>
      timestamp === row.timestamp && currency === row.currency && line_id === row.line_id,
  );
  const how = howOf(day.rules, row, line);
  const used = how?.isGivenUp === true ? undefined : row.tier;
  const tried = how?.tiers.filter(({ tier }) => used !== undefined && tier <= used) ?? [];
  const passed = tried.filter(({ tier }) => tier !== used);
  const page = pageOf(input, row);
  const isWeighed = how !== undefined && isKnownPlace(how.tier.set_of, input.columns);
  const charged = isWeighed ? digestOfCharged(page) : undefined;
  const metrics = metricsOf(row);
  const found = isWeighed
    ? readSplit(client, { ...page, ...how, columns: input.columns }, signal)
    : Promise.resolve([]);
  const read = readDayFacts(client, { dimension, day: date, metrics, tried, passed, charged }, signal);
  const namesOf = (page: readonly Pick<Charged, "identity_id">[]) =>
    readNamesOfPage(stores, dimension, page, signal);
  // Each as soon as what it rests on is there.
  const [split, namesOfSplit, facts, run] = await Promise.all([
    found,
    found.then(namesOf),
    read,
    read.then(({ publication }) => readRun(postgres, tenantName, publication, signal)),
  ]);
  const weighed = how && sharedBy(split, { page, how, charged: facts.charged[0]?.value });
  const shared = weighed ?? (await readShared(client, page, row, signal));
  const names = weighed === undefined ? await namesOf(shared.page) : namesOfSplit;
  const [publication] = facts.publication;
  const recipient = recipientOf(names, how, shared.split);
  return {
    ...dimensionOf(dimension, names),
    date,
    rows: day.rows.map(rowOf),
    total_rows: row.total,
    row: { ...rowOf(row), ...rowHow(row) },
    line: line === undefined ? null : { ...line, unit_price: line.unit_price || null },
    rule: how === undefined ? null : ruleOf(how, row),
    split: how === undefined || shared.split === undefined ? null : splitOf(how, row, shared.split),
    tiers: how === undefined ? null : triedTiers({ tiers: how.tiers, used }, dimension.resource_id, facts),
    weights_kept: shared.split !== undefined,
    this: recipient(shared.own),
    recipients: {
      items: shared.page.map(recipient),
      total: shared.total,
      page: input.page,
      page_size: input.page_size,
      pages: Math.ceil(shared.total / input.page_size),
    },
    samples: facts.sample.map(({ at, name, value }) => ({
      timestamp: at,
      metric: name,
      quantity: microUnits(value),
    })),
    owner: { owner_ids: facts.owner.map(({ name }) => name), ...known },
    published_at: state?.published_at ?? null,
    input_hash: publication?.name ?? null,
    lacks: state?.lacks ?? [],
    run: run ?? null,
  };
}

async function readNamesOfPage(
  stores: TenantStores,
  dimension: DimensionFields,
  page: readonly Pick<Charged, "identity_id">[],
  signal?: AbortSignal,
): Promise<KnownNames> {
  const { resource_id } = dimension;
  const named = [dimension, ...page].map(({ identity_id }) => ({ identity_id, resource_id }));
  return await readNamesOfInventory(stores, named, signal);
}

async function readRun(
  postgres: TenantStores["postgres"],
  tenantName: string,
  [publication]: DayFacts["publication"],
  signal?: AbortSignal,
): Promise<PipelineRun | undefined> {
  return publication && (await readRunOfEpoch(postgres, tenantName, Number(publication.value), signal));
}

/** How the row was made. */
interface How {
  readonly tiers: readonly RuleTierRow[];
  /** The tier that applied. */
  readonly tier: Pick<RuleTierRow, "kind" | "sources" | "set_of">;
  readonly line: LineTicks;
  readonly component: ComponentTicks;
  /** The day could not be calculated again and again, so that the line went to nobody as a whole. */
  readonly isGivenUp: boolean;
}

/** Undefined for a row from before its rules were noted, and where line and rule do not fit the row. */
function howOf(rules: readonly RuleTierRow[], row: DayRow, line: DayLine | undefined): How | undefined {
  const tiers = rules.filter(({ component }) => component === row.component);
  const tier = tiers.find((each) => each.tier === row.tier);
  if (line === undefined || tier === undefined || row.decimal_places === 0) return undefined;
  // A rule may say so itself.
  const isGivenUp =
    row.allocation_detail === "allocation_failed" && tier.allocation_detail !== "allocation_failed";
  const firsts = rules.filter((each) => each.tier === 0);
  const ranges = isGivenUp
    ? [{ component: 0, ratio: "1", from: 0n, to: 1_000_000n }]
    : firsts.map(({ component, component_ratio: ratio, ratio_from, ratio_to }) => ({
        ...{ component, ratio, from: BigInt(ratio_from), to: BigInt(ratio_to) },
      }));
  const ticks = ticksOfLine(line.total_cost, row.decimal_places, ranges);
  const component = ticks.components.find((each) => each.component === row.component);
  if (component === undefined) return undefined;
  const nobody = { kind: "terminal", sources: [], set_of: "resource" } as const;
  return { tiers, tier: isGivenUp ? nobody : tier, line: ticks, component, isGivenUp };
}

function pageOf({ dimension, date: day, page, page_size }: ExplainInput, row: DayRow): RecipientsInput {
  return { dimension, day, row, offset: (page - 1) * page_size, limit: page_size };
}

interface Shared {
  /** Present where the weights are kept, and say what is published. */
  readonly split: SplitTotals | undefined;
  readonly own: Charged;
  readonly page: readonly Charged[];
  readonly total: number;
}

interface SplitTotals {
  readonly weight: bigint;
  /** Ticks that nobody has by weight: one each goes to the first of the ranks. */
  readonly remainingTicks: bigint;
}

interface Charged {
  readonly identity_id: string;
  /** Plain decimal. */
  readonly amount: string;
  readonly weighed?: Weighed;
}

interface Weighed {
  readonly by: SplitRecipient;
  readonly has_extra_tick: boolean;
  readonly has_residue: boolean;
}

/** Those who share the component, by their weights. Undefined where the amounts that these make are not those that are published. */
function sharedBy(
  found: readonly SplitRecipient[],
  {
    page,
    how,
    charged,
  }: { readonly page: RecipientsInput; readonly how: How; readonly charged: string | undefined },
): Shared | undefined {
  const own = found.find(({ identity_id }) => identity_id === page.dimension.identity_id);
  if (own === undefined || charged === undefined) return undefined;
  if (how.line.direction * BigInt(own.digest) !== BigInt(charged)) return undefined;
  const split = {
    weight: BigInt(own.total_weight),
    remainingTicks: how.component.ticks - BigInt(own.total_whole_ticks),
  };
  const chargedBy = chargedOf(how, split);
  return { split, own: chargedBy(own), page: onPage(found, page).map(chargedBy), total: own.recipients };
}

function chargedOf({ line, component }: How, { remainingTicks }: SplitTotals) {
  return (recipient: SplitRecipient): Charged => {
    const has_extra_tick = BigInt(recipient.remainder_rank) <= remainingTicks;
    const has_residue = recipient.place === 1 && component.leads && line.residue > 0n;
    const ticks = BigInt(recipient.whole_ticks) + (has_extra_tick ? 1n : 0n);
    const amount = line.direction * (ticks * line.tick + (has_residue ? line.residue : 0n));
    const weighed = { by: recipient, has_extra_tick, has_residue };
    return { identity_id: recipient.identity_id, amount: decimalOf(amount), weighed };
  };
}

/** Only what is published is told where what is found is not that. */
async function readShared(
  client: TenantStores["client"],
  page: RecipientsInput,
  row: DayRow,
  signal?: AbortSignal,
): Promise<Shared> {
  const found = await readCharged(client, page, signal);
  const { identity_id } = page.dimension;
  return {
    split: undefined,
    own: found.find((each) => each.identity_id === identity_id) ?? { identity_id, amount: row.amount },
    page: onPage(found, page),
    total: found[0]?.recipients ?? 0,
  };
}

function onPage<Placed extends { readonly place: number }>(
  found: readonly Placed[],
  { offset, limit }: RecipientsInput,
): Placed[] {
  return found.filter(({ place }) => place > offset && place <= offset + limit);
}

/** A day of a former version may have been weighed within a column that the bill no longer has. */
function isKnownPlace(place: SetOf, columns: LineColumns): boolean {
  const column = columnOfPlace(place);
  return column === undefined || tagKeyOf(column) !== undefined || Object.hasOwn(columns, column);
}

function dimensionOf(
  { dimension_id, ecosystem, tenant_id, env_id, resource_id, ...rest }: ExplainInput["dimension"],
  names: KnownNames,
) {
  const { product_category, product_type, identity_id, cost_type } = rest;
  return {
    ...{
      dimension_id,
      ecosystem,
      tenant_id,
      env_id,
      resource_id,
      product_category,
      product_type,
      identity_id,
    },
    cost_type: cost_type as CostType,
    ...names.identity(identity_id),
    ...names.resource(resource_id),
  };
}

function rowOf({ timestamp, component, currency, line_id, amount }: DayRow): ExplainedRow {
  return { timestamp, component, currency, line_id, amount };
}

function rowHow(row: DayRow): RowHow {
  const { component_ratio, tier, allocation_method, allocation_detail, provisional } = row;
  return { component_ratio, tier, allocation_method, allocation_detail, provisional };
}

function ruleOf({ tiers, line, isGivenUp }: How, { rules_hash }: DayRow): ExplainedRule {
  return {
    rules_hash,
    product_type: tiers[0]?.product_type ?? "",
    rule: tiers[0]?.rule ?? "",
    given_up: isGivenUp,
    components: line.components.map(({ component, ratio, ticks, leads }) => ({
      ...{ component, ratio, ticks: ticks.toString(), leads },
      amount: decimalOf(line.direction * (ticks * line.tick + (leads ? line.residue : 0n))),
    })),
  };
}

function splitOf(
  how: How,
  { decimal_places }: DayRow,
  { weight, remainingTicks }: SplitTotals,
): ExplainedSplit {
  const { line, component } = how;
  return {
    decimal_places,
    tick: decimalOf(line.tick),
    line_ticks: line.ticks.toString(),
    residue: decimalOf(line.residue),
    component_ticks: component.ticks.toString(),
    total_weight: weightText(how, weight.toString()),
    remaining_ticks: remainingTicks.toString(),
  };
}

/** Usage, costs and shares are counted in millionths of the metric's unit, members one by one. */
function weightText({ tier }: How, weight: string): string {
  return ["usage", "cost", "fixed"].includes(tier.kind) ? microUnits(weight) : weight;
}

function recipientOf(names: KnownNames, how: How | undefined, totals: SplitTotals | undefined) {
  return ({ identity_id, amount, weighed }: Charged): Recipient => {
    const named = Object.assign({ identity_id }, names.identity(identity_id), { amount });
    if (how === undefined || totals === undefined || weighed === undefined)
      return Object.assign(named, unexplained);
    const { by, has_extra_tick, has_residue } = weighed;
    const { weight, whole_ticks, remainder, remainder_rank } = by;
    return Object.assign(named, {
      weight: weightText(how, weight),
      share: shareText(BigInt(weight), totals.weight),
      whole_ticks,
      remainder: weightText(how, remainder),
      remainder_rank,
      has_extra_tick,
      has_residue,
    });
  };
}

const unexplained = {
  ...{ weight: null, share: null, whole_ticks: null, remainder: null, remainder_rank: null },
  ...{ has_extra_tick: null, has_residue: null },
};

const metricsOf = ({ metric }: DayRow): string[] => (metric === "" ? [] : metric.split("+"));
const microUnits = (text: string) => decimalOf(BigInt(text), 6);
