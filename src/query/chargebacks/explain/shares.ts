/**
 * The recipients of a component and their amounts: by their weights, or as published if the weights do not produce the
 * published amounts.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { decimalOf, explainedAmount } from "./arithmetic.js";
import type { DayRow } from "./day.js";
import { type RecipientsInput, readCharged, type Scaled, type SplitRecipient } from "./recipients.js";
import type { AppliedRule } from "./rule-of-row.js";

export interface Shares {
  /** Set if the weights are still stored and produce the published amounts. */
  readonly split: SplitTotals | undefined;
  readonly own: Charged;
  readonly page: readonly Charged[];
  readonly total: number;
}

export interface SplitTotals extends Scaled {
  readonly weight: bigint;
  /** Points of the weight: where rounding begins, and where the residue goes. */
  readonly offset: bigint;
  readonly residuePoint: bigint;
}

export interface Charged {
  readonly identity_id: string;
  /** Plain decimal. */
  readonly amount: string;
  readonly weighed?: Weighed;
}

interface Weighed {
  readonly by: SplitRecipient & Scaled;
  readonly has_residue: boolean;
}

/** Returns the recipients by their weights; undefined if the resulting amounts differ from the published ones. */
export function sharesFrom(
  found: readonly (SplitRecipient & Scaled)[],
  {
    page,
    appliedRule,
    charged,
  }: {
    readonly page: RecipientsInput;
    readonly appliedRule: AppliedRule;
    readonly charged: string | undefined;
  },
): Shares | undefined {
  const own = found.find(({ identity_id }) => identity_id === page.dimension.identity_id);
  if (own === undefined || charged === undefined) return undefined;
  if (appliedRule.line.direction * BigInt(own.digest) !== BigInt(charged)) return undefined;
  const split = {
    scale: own.scale,
    weight: BigInt(own.total_weight),
    offset: BigInt(own.rounding_offset),
    residuePoint: BigInt(own.residue_point),
  };
  const chargedBy = chargedOf(appliedRule);
  return { split, own: chargedBy(own), page: onPage(found, page).map(chargedBy), total: own.recipients };
}

function chargedOf({ line, component }: AppliedRule) {
  return (by: SplitRecipient & Scaled): Charged => {
    const has_residue = by.at_residue_point === 1 && component.hasResidue && line.residue > 0n;
    const amount = decimalOf(explainedAmount(line, BigInt(by.ticks), has_residue));
    return { identity_id: by.identity_id, amount, weighed: { by, has_residue } };
  };
}

/** Reads the published amounts, if the recalculated ones differ from them. */
export async function readPublishedShares(
  client: ClickHouseClient,
  page: RecipientsInput,
  row: DayRow,
  signal?: AbortSignal,
): Promise<Shares> {
  const found = await readCharged(client, page, signal);
  const { identity_id } = page.dimension;
  return {
    split: undefined,
    own: found.find((each) => each.identity_id === identity_id) ?? { identity_id, amount: row.amount },
    page: onPage(found, page),
    total: found[0]?.recipients ?? 0,
  };
}

function onPage<Ranked extends { readonly place: number }>(
  found: readonly Ranked[],
  { offset, limit }: RecipientsInput,
): Ranked[] {
  return found.filter(({ place }) => place > offset && place <= offset + limit);
}
