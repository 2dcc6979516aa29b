/** Texts of the deliveries view. */
import { counted } from "../../common/plural.js";

export const deliveries = {
  title: "Bills",
  lead: "Delivered bills, newest first. One delivery of a month counts; a later one replaces it.",
  none: "No bill was delivered",
  noneHint: "Only tenants of the ecosystem focus have deliveries, once a run has found one.",
  source: "Source",
  period: "Month",
  byLines: "from its lines",
  addition: "addition",
  state: "State",
  states: {
    current: "counts",
    waiting_for_acceptance: "waits for acceptance",
    refused: "refused",
    replaced: "replaced",
    expired: "expired",
    no_bill: "no bill",
    superseded: "counts elsewhere",
    loading: "loading",
  },
  loaded: "Loaded",
  lines: "Lines",
  sums: "Effective cost",
  files: "Files",
  fileCount: (count: number) => counted(count, "file", "files"),
  version: (format: string, version: string | null, dataset: string | null) => {
    if (dataset !== null) return `${format}, ${dataset}: not charged`;
    return version === null ? format : `${format}, FOCUS ${version}`;
  },
  change: "What it changed",
  noChange: "no published day",
  firstBill: (days: number) => `First bill of ${counted(days, "day", "days")}`,
  changed: (
    days: number,
    lines: { readonly lines_new: number; readonly lines_changed: number; readonly lines_gone: number },
  ) => {
    const counts = [
      [lines.lines_new, "new"],
      [lines.lines_changed, "changed"],
      [lines.lines_gone, "gone"],
    ] as const;
    const shown = counts
      .filter(([count]) => count > 0)
      .map(([count, what]) => `${counted(count, "line", "lines")} ${what}`);
    return `${counted(days, "day", "days")} changed: ${shown.length === 0 ? "the same lines" : shown.join(", ")}`;
  },
  otherCauses: "Rules, usage or assignments changed in the same run. A part of the differences is theirs.",
  together: (ids: readonly number[]) =>
    `These differences are those of this delivery together with ${counted(ids.length, "other delivery", "other deliveries")}: ${ids.join(", ")}.`,
  unknownPayers: "The run was interrupted, so it is unknown who pays more or less.",
  payers: "Who pays more or less",
  payer: "Identity",
  paysMore: "Pays more",
  samePayers: "Everybody pays the same as before.",
  morePayers: (count: number) => `and ${counted(count, "smaller difference", "smaller differences")}`,
  classes: "Not charged",
  className: (kind: string, reason: string) =>
    classNames[reason === "" ? kind : reason] ?? `${kind} ${reason}`.trim(),
  odd: "Findings",
  oddCount: (count: number) => counted(count, "finding", "findings"),
  onLines: (count: number) => counted(count, "line", "lines"),
  count: (count: number) => counted(count, "delivery", "deliveries"),
  accept: "Accept",
  acceptOf: (source: string, period: string) => `Accept the bill of ${source} for ${period}`,
  sure: "Its lines will count from the next run on. Accept it?",
  yes: "Accept it",
  no: "Not now",
} as const;

const classNames: Readonly<Record<string, string>> = {
  zero: "cost of 0",
  before_retention: "before retention_days",
  before_lookback: "before lookback_days",
  within_cutoff: "within cutoff_days",
  superseded: "superseded by another delivery",
  duplicate: "the same file is read elsewhere",
  day_waits: "the day waits",
  delivery_waits: "the delivery waits",
  no_charge_date: "no readable date",
  unreadable_cost: "no readable cost",
  no_currency: "no currency",
  no_cost: "no cost",
};
