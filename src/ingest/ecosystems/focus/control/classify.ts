/**
 * Control totals of a tenant's bills: what the files of each delivery contain, and where each of their lines went.
 *
 * The left side, `delivered`, is what was recorded when the files were read; it was compared with the sums of their
 * texts. The right side is counted again from the stored lines and from what is published.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../../../clickhouse/statement.js";
import type { DayRange } from "../../../../common/days.js";
import { differenceText, sumText } from "../../../../common/exact-decimal.js";
import type { ControlTotal } from "../../../../domain/control-totals.js";
import type { BilledAmount } from "../../../reports.js";
import type { RecordedDelivery } from "../deliveries/records.js";
import { isCounted } from "../lines/counted.js";
import type { CostName, CurrencySums } from "../load/summary.js";
import {
  type CountedLines,
  countLines,
  countPublished,
  type LinesToCount,
  NO_DAY,
  publishedAmounts,
  SUPERSEDED,
} from "./class-sql.js";

export interface ClassifyInput {
  readonly client: ClickHouseClient;
  /** Loaded deliveries: those that count, those whose charges count in others, and those that wait. */
  readonly deliveries: readonly RecordedDelivery[];
  readonly lines: Omit<LinesToCount, "deliveries" | "counted">;
  /** Name of the charged cost in `sums`. */
  readonly costName: CostName;
  /** Days that every run gathers: `[today − lookback_days, today − cutoff_days)`. */
  readonly window: DayRange;
  /** First UTC day that is kept. */
  readonly keepFrom: string;
}

/** Why lines of a bill are not published on their day as they are. */
type UnpublishedReason = "before_retention" | "before_lookback" | "within_cutoff" | "day_waits";

function unpublishedReason(
  day: string,
  { window: { start, end }, keepFrom }: Pick<ClassifyInput, "window" | "keepFrom">,
): UnpublishedReason {
  if (day < keepFrom) return "before_retention";
  if (day < start) return "before_lookback";
  return day >= end ? "within_cutoff" : "day_waits";
}

export async function classifyLines(input: ClassifyInput, signal: AbortSignal): Promise<ControlTotal[]> {
  const { client, deliveries } = input;
  const idsOf = (records: readonly RecordedDelivery[]) =>
    records.map(({ delivery_id }) => Number(delivery_id));
  const counting = deliveries.filter(({ state }) => state === "current" || state === "superseded");
  const waiting = deliveries.filter(({ state }) => state === "waiting_for_acceptance");
  const lines = { ...input.lines, deliveries: idsOf(counting), counted: isCounted(counting) };
  const counted = await readRows<CountedLines>(client, countLines(lines), signal);
  const held = await readRows<CountedLines>(
    client,
    countLines({ ...input.lines, deliveries: idsOf(waiting), counted: "true" }),
    signal,
  );
  const published = await readRows<BilledAmount>(client, publishedAmounts(), signal);
  const differing = daysThatDiffer(counted, published);
  const onDiffering =
    differing.size === 0
      ? []
      : await readRows<CountedLines & { readonly is_published: boolean }>(
          client,
          countPublished(lines, [...differing]),
          signal,
        );
  const classified = [
    ...counted
      .filter((each) => !(isOfBill(each) && differing.has(each.day)))
      .map((each) => totalOf(each, classOf(each))),
    ...onDiffering.map((each) =>
      totalOf(each, each.is_published ? classOf(each) : unpublishedClass(each.day, input)),
    ),
    ...held.map((each) => totalOf(each, { class: "left_out", reason: "delivery_waits" })),
  ];
  return [
    ...deliveries.flatMap((each) => deliveredTotals(each, input.costName)),
    ...classified,
    ...publishedOnly(classified, published),
  ];
}

type ClassAndReason = Pick<ControlTotal, "class" | "reason">;

const isOfBill = ({ reason }: CountedLines) => reason === "";

function classOf({ reason, is_zero }: CountedLines): ClassAndReason {
  if (reason === SUPERSEDED) return { class: "superseded", reason: "" };
  if (reason !== "") return { class: "left_out", reason };
  return { class: is_zero ? "zero" : "charged", reason: "" };
}

function unpublishedClass(day: string, input: Pick<ClassifyInput, "window" | "keepFrom">): ClassAndReason {
  const reason = unpublishedReason(day, input);
  return { class: reason === "day_waits" ? "left_out" : "outside_window", reason };
}

/** Days on which the lines of the bill and the published amounts differ in some currency. */
function daysThatDiffer(counted: readonly CountedLines[], published: readonly BilledAmount[]): Set<string> {
  const bill = new Map<string, string>();
  for (const { day, currency, cost } of counted.filter(isOfBill)) {
    const key = `${day} ${currency}`;
    bill.set(key, sumText([bill.get(key) ?? "0", cost]));
  }
  const amounts = new Map(
    published.map(({ day, currency, amount }) => [`${day} ${currency}`, sumText([amount])]),
  );
  return new Set(
    [...bill].filter(([key, amount]) => amounts.get(key) !== amount).map(([key]) => key.slice(0, 10)),
  );
}

function totalOf(
  { delivery, day, currency, rows, cost, billed, effective }: CountedLines,
  of: ClassAndReason,
): ControlTotal {
  return {
    delivery,
    day: day === NO_DAY ? null : day,
    currency,
    ...of,
    rows: Number(rows),
    cost: sumText([cost]),
    billed: sumText([billed]),
    effective: sumText([effective]),
  };
}

/**
 * All rows of the files, by month, including those of files that were not loaded because another file has the same
 * bytes.
 */
function deliveredTotals(
  { delivery_id: delivery, month_sums, duplicates }: RecordedDelivery,
  costName: CostName,
): ControlTotal[] {
  const total = (of: ControlTotal["class"], day: string | null, sum: CurrencySums): ControlTotal => ({
    delivery,
    day,
    currency: sum.currency,
    class: of,
    reason: "",
    rows: Number(sum.lines),
    cost: sumText([sum[costName]]),
    billed: sumText([sum.billed_cost]),
    effective: sumText([sum.effective_cost]),
  });
  return [
    ...month_sums.map((sum) => total("delivered", sum.month, sum)),
    ...duplicates.flatMap(({ sums }) =>
      sums.flatMap((sum) => [total("delivered", null, sum), total("duplicate", null, sum)]),
    ),
  ];
}

/**
 * Published amounts without a delivered line: a day before the window whose bill has lost or changed a line, or whose
 * delivery is gone.
 */
function publishedOnly(
  classified: readonly ControlTotal[],
  published: readonly BilledAmount[],
): ControlTotal[] {
  const charged = new Map<string, string>();
  for (const total of classified.filter((each) => each.class === "charged")) {
    const key = `${total.day} ${total.currency}`;
    charged.set(key, sumText([charged.get(key) ?? "0", total.cost]));
  }
  return published.flatMap(({ day, currency, amount }) => {
    const rest = differenceText(amount, charged.get(`${day} ${currency}`) ?? "0");
    if (rest === "0") return [];
    return [
      {
        delivery: null,
        day,
        currency,
        class: "published_only",
        reason: "",
        rows: 0,
        cost: rest,
        billed: "0",
        effective: "0",
      },
    ];
  });
}
