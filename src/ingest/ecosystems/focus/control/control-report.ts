/**
 * Sentences about lines that are not charged as a reader of the bill would expect, and a check that all lines are
 * accounted for.
 */
import type { DayRange } from "../../../../common/days.js";
import { sumText } from "../../../../common/exact-decimal.js";
import type { ControlTotal } from "../../../../domain/control-totals.js";
import type { RecordedDelivery } from "../deliveries/records.js";

export interface ControlReport {
  /** Deliveries whose lines are not all accounted for. */
  readonly errors: readonly string[];
  /** Lines before the window, and lines that are charged with 0 although they were billed. */
  readonly notes: readonly string[];
}

export interface ReportedControl {
  readonly totals: readonly ControlTotal[];
  readonly deliveries: readonly RecordedDelivery[];
  readonly window: DayRange;
  /** First UTC day that is kept. */
  readonly keepFrom: string;
  /** The setting `cost`. */
  readonly costSetting: string;
  /** True if lines may be charged to days of other months than the one in which they begin. */
  readonly isSpread: boolean;
}

export function controlReport({
  totals,
  deliveries,
  window,
  keepFrom,
  costSetting,
  isSpread,
}: ReportedControl): ControlReport {
  const sourceOf = new Map(deliveries.map(({ delivery_id, source }) => [delivery_id, source]));
  const bySource = (chosen: readonly ControlTotal[]) => {
    const groups = new Map<string, ControlTotal[]>();
    for (const total of chosen) {
      const key = `${sourceOf.get(total.delivery ?? "") ?? ""} ${total.currency}`;
      groups.set(key, [...(groups.get(key) ?? []), total]);
    }
    return [...groups.values()].map((group) => ({
      source: sourceOf.get(group[0]?.delivery ?? "") ?? "",
      ...summed(group),
    }));
  };
  const outside = (reason: string) =>
    bySource(totals.filter((total) => total.class === "outside_window" && total.reason === reason));
  const zeros = totals.filter(
    (each) => each.class === "zero" && (each.billed !== "0" || each.effective !== "0"),
  );
  const notes = [
    ...outside("before_retention").map(
      (group) =>
        `${linesOf(group)} before ${keepFrom} ${verb(group)} not kept: retention_days begins with that day`,
    ),
    ...outside("before_lookback").map(
      (group) =>
        `${linesOf(group)} before ${window.start} ${verb(group)} not charged: lookback_days begins with that day. \`run --from DAY --to DAY\` charges older days`,
    ),
    ...bySource(zeros).map(
      (group) =>
        `${group.source}: ${countOf(group)} ${verb(group)} charged with 0 by \`cost: ${costSetting}\`, where BilledCost is ${group.billed} ${group.currency} and EffectiveCost is ${group.effective} ${group.currency}`,
    ),
  ];
  return { errors: unaccounted(totals, sourceOf, isSpread), notes };
}

/** Returns a sentence for each delivery, currency and month whose classes do not add up to what was delivered. */
function unaccounted(
  totals: readonly ControlTotal[],
  sourceOf: ReadonlyMap<string, string>,
  isSpread: boolean,
): string[] {
  const keys = new Map<string, ControlTotal[]>();
  for (const total of totals.filter((each) => each.class !== "published_only")) {
    const key = `${total.delivery} ${total.currency} ${isSpread ? "" : total.day?.slice(0, 7)}`;
    keys.set(key, [...(keys.get(key) ?? []), total]);
  }
  return [...keys.values()].flatMap((group) => {
    const delivered = summed(group.filter((each) => each.class === "delivered"));
    const classified = summed(group.filter((each) => each.class !== "delivered"));
    const isEqual = (["rows", "cost", "billed", "effective"] as const).every(
      (name) => delivered[name] === classified[name],
    );
    if (isEqual) return [];
    const source = sourceOf.get(group[0]?.delivery ?? "") ?? "";
    return [
      `${source}: delivery ${group[0]?.delivery} holds ${delivered.rows} lines with ${delivered.cost} ${delivered.currency}, and ${classified.rows} lines with ${classified.cost} ${delivered.currency} are accounted for`,
    ];
  });
}

function summed(group: readonly ControlTotal[]) {
  const sum = (name: "cost" | "billed" | "effective") => sumText(group.map((total) => total[name]));
  return {
    currency: group[0]?.currency ?? "",
    rows: group.reduce((rows, total) => rows + total.rows, 0),
    cost: sum("cost"),
    billed: sum("billed"),
    effective: sum("effective"),
  };
}

type SourceSums = ReturnType<typeof summed> & { readonly source: string };

const countOf = ({ rows }: Pick<SourceSums, "rows">) => `${rows} ${rows === 1 ? "line" : "lines"}`;
const verb = ({ rows }: Pick<SourceSums, "rows">) => (rows === 1 ? "is" : "are");
const linesOf = (group: SourceSums) =>
  `${group.source}: ${countOf(group)} with ${group.cost} ${group.currency}`;
