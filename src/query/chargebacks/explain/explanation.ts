/**
 * Explains why a dimension was charged its amount on a day: one chargeback row, from the billing line down to the last
 * tick. It reads published data and repeats the calculation. `docs/explanation/allocation.md` has the rules.
 */
import type { NumberedStep } from "../../../config/allocation/pass-on.js";
import type { SetOf } from "../../../domain/allocation-rule.js";
import { type RuleColumns, tagKeyOf } from "../../../domain/rule-columns.js";
import { isNotEmptied } from "../../../stores/facts/emptied.js";
import { type KnownNames, readNamesOfInventory } from "../../inventory/names.js";
import type { PageRequest } from "../../page/position.js";
import { type PipelineRun, readRunOfEpoch } from "../../state/pipeline-runs.js";
import type { DimensionFields } from "../dimension-row.js";
import { type DayLine, type DayRow, type RowChoice, readDay, readRulesOfStep } from "./day.js";
import { type DayFacts, readDayFacts } from "./day-facts.js";
import { type OwnerStores, readDayState, readKnownOnDay } from "./owner.js";
import { type GivenRow, givenRow, readPassing } from "./passed-row.js";
import { pricedLine } from "./priced.js";
import { columnWithin, digestOfCharged, type RecipientsInput, readSplit } from "./recipients.js";
import {
  appliedTierOf,
  dimensionOf,
  type ExplainedDimension,
  type ExplainedLine,
  type Explanation,
  quantityText,
  recipientOf,
  rowOf,
  ruleOf,
  splitOf,
} from "./response.js";
import { appliedRuleOf } from "./rule-of-row.js";
import { type Explained, sentenceOf, weightUnit } from "./sentence.js";
import { type Charged, readPublishedShares, sharesFrom } from "./shares.js";
import { triedTiers } from "./tiers.js";

export interface ExplainInput extends RowChoice, PageRequest {
  readonly dimension: ExplainedDimension;
  /** UTC day. */
  readonly date: string;
  /**
   * Explains how a rule (0) or a step of the row's path (from 1) gave the cost, before later steps took it. Default:
   * the last one.
   */
  readonly giving?: number | undefined;
  /** Columns of the tenant's bill. */
  readonly columns: RuleColumns;
  /** Steps of the tenant's configuration. */
  readonly steps: readonly NumberedStep[];
}

/** Returns undefined if the dimension has no such row on the day, or the row was not given as often. */
export async function readExplanation(
  stores: OwnerStores,
  input: ExplainInput,
  signal?: AbortSignal,
): Promise<Explanation | undefined> {
  const { client, postgres, tenantName } = stores;
  const { dimension: paying, date } = input;
  const [day, inventory, state] = await Promise.all([
    readDay(client, paying, input, signal),
    readKnownOnDay(stores, paying, date, signal),
    readDayState(stores, date, signal),
  ]);
  const published = day?.rows[0];
  if (day === undefined || published === undefined) return undefined;
  const { passed_path: path } = published;
  const giving = input.giving ?? path.length;
  if (giving > path.length) return undefined;
  const passing = await readPassing(client, { dimension: paying, day: date, row: published }, signal);
  const row = givenRow(published, passing, giving);
  const dimension = { ...paying, identity_id: path[giving]?.identity_id ?? paying.identity_id };
  const step = row.hops.at(-1)?.step ?? 0;
  const isRecipient = isNotEmptied("toString(identity_id)", input.steps, step);
  const found = day.lines.find(
    ({ timestamp, currency, line_id }) =>
      timestamp === row.timestamp && currency === row.currency && line_id === row.line_id,
  );
  const line = found && { ...found, hashes: passing.hashes[giving - 1] ?? found.hashes };
  const rules = step === 0 ? day.rules : await readRulesOfStep(client, row, step, signal);
  const appliedRule = appliedRuleOf(rules, row, line);
  const appliedTier = appliedRule?.allocationFailed === true ? undefined : row.tier;
  const tiersUpToApplied =
    appliedRule?.tiers.filter(({ tier }) => appliedTier !== undefined && tier <= appliedTier) ?? [];
  const skippedTiers = tiersUpToApplied.filter(({ tier }) => tier !== appliedTier);
  const page = pageOf(input, dimension, row);
  const canRecalculate = appliedRule !== undefined && hasColumn(appliedRule.tier.set_of, input.columns);
  const charged = canRecalculate ? digestOfCharged(page) : undefined;
  const metrics = metricsOf(row);
  const splitRead = canRecalculate
    ? readSplit(client, { ...page, ...appliedRule, columns: input.columns, isRecipient }, signal)
    : undefined;
  const factsRead = readDayFacts(
    client,
    {
      dimension,
      day: date,
      metrics,
      tried: tiersUpToApplied,
      skipped: skippedTiers,
      isRecipient,
      charged,
    },
    signal,
  );
  const namesOf = (page: readonly Pick<Charged, "identity_id">[]) =>
    readNamesOfPage(stores, dimension, page, signal);
  // Each read starts as soon as its input is available.
  const [split, namesOfSplit, facts, run] = await Promise.all([
    splitRead,
    splitRead?.then(namesOf),
    factsRead,
    factsRead.then(({ publication }) => readRun(postgres, tenantName, publication, signal)),
  ]);
  const recalculated =
    appliedRule && split && sharesFrom(split, { page, appliedRule, charged: facts.charged[0]?.value });
  const shares = recalculated ?? (await readPublishedShares(client, page, row, signal));
  const names = (recalculated && namesOfSplit) ?? (await namesOf(shares.page));
  const [publication] = facts.publication;
  const recipient = recipientOf(names, appliedRule, shares.split);
  const explained: Explained = {
    ...dimensionOf(dimension, names),
    date,
    rows: day.rows.map(rowOf),
    total_rows: row.total,
    row: { ...rowOf(row), ...appliedTierOf(row) },
    path: path.map(({ metric: _, ...hop }, index) => ({ ...hop, amount: passing.amounts[index] ?? "0" })),
    giving,
    taken: row.taken ?? null,
    line: line === undefined ? null : shownLine(line),
    rule: appliedRule === undefined ? null : ruleOf(appliedRule, row),
    split:
      appliedRule === undefined || shares.split === undefined
        ? null
        : splitOf(appliedRule, row, shares.split),
    tiers:
      appliedRule === undefined
        ? null
        : triedTiers({ tiers: appliedRule.tiers, appliedTier }, dimension.resource_id, facts),
    weights_kept: shares.split !== undefined,
    this: recipient(shares.own),
    recipients: {
      items: shares.page.map(recipient),
      total: shares.total,
      page: input.page,
      page_size: input.page_size,
      pages: Math.ceil(shares.total / input.page_size),
    },
    samples: facts.sample.map(({ at, name, value, of_resource: scale }) => ({
      timestamp: at,
      metric: name,
      quantity: quantityText(value, Number(scale)),
    })),
    owner: { owner_ids: facts.owner.map(({ name }) => name), ...inventory },
    published_at: state?.published_at ?? null,
    input_hash: publication?.name ?? null,
    lacks: state?.lacks ?? [],
    run: run ?? null,
  };
  return { ...explained, sentence: sentenceOf(explained), weight_unit: weightUnit(explained) };
}

function shownLine({ hashes: _, billed, ...line }: DayLine): ExplainedLine {
  return { ...line, unit_price: line.unit_price || null, priced: pricedLine(billed, line.bill_lines) };
}

async function readNamesOfPage(
  stores: OwnerStores,
  dimension: DimensionFields,
  page: readonly Pick<Charged, "identity_id">[],
  signal?: AbortSignal,
): Promise<KnownNames> {
  const { resource_id } = dimension;
  const named = [dimension, ...page].map(({ identity_id }) => ({ identity_id, resource_id }));
  return await readNamesOfInventory(stores, named, signal);
}

async function readRun(
  postgres: OwnerStores["postgres"],
  tenantName: string,
  [publication]: DayFacts["publication"],
  signal?: AbortSignal,
): Promise<PipelineRun | undefined> {
  return publication && (await readRunOfEpoch(postgres, tenantName, Number(publication.value), signal));
}

function pageOf(
  { date: day, page, page_size }: ExplainInput,
  dimension: DimensionFields,
  row: GivenRow,
): RecipientsInput {
  return { dimension, day, row, offset: (page - 1) * page_size, limit: page_size };
}

/** The day may have been calculated by weights within a column that the current configuration no longer has. */
function hasColumn(setOf: SetOf, columns: RuleColumns): boolean {
  const column = columnWithin(setOf);
  return column === undefined || tagKeyOf(column) !== undefined || Object.hasOwn(columns, column);
}

const metricsOf = ({ metric }: Pick<DayRow, "metric">): string[] => (metric === "" ? [] : metric.split("+"));
