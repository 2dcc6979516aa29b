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
