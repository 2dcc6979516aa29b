/** Recognises, by column names, files that are not FOCUS bills but often lie in the same folder. */

interface Dataset {
  /** Name of the dataset for messages. */
  readonly what: string;
  /** Columns that no other table here and no FOCUS bill has. */
  readonly identifyingColumns: readonly string[];
}

const datasets: readonly Dataset[] = [
  { what: "contract commitments of FOCUS", identifyingColumns: ["ContractCommitmentId"] },
  { what: "invoice details of FOCUS", identifyingColumns: ["InvoiceDetailId"] },
  { what: "billing periods of FOCUS", identifyingColumns: ["BillingPeriodStatus", "BillingPeriodCreated"] },
  {
    what: "a Cost and Usage Report of AWS (CUR 2.0)",
    identifyingColumns: ["line_item_usage_start_date", "line_item_line_item_type", "identity_line_item_id"],
  },
  {
    what: "a Cost and Usage Report of AWS (legacy)",
    identifyingColumns: ["lineItem/UsageStartDate", "lineItem/LineItemType", "identity/LineItemId"],
  },
  {
    what: "a cost report of Oracle",
    identifyingColumns: ["lineItem/intervalUsageStart", "lineItem/referenceNo"],
  },
  { what: "a cost and usage export of Google Cloud", identifyingColumns: ["usage_start_time"] },
  {
    what: "a cost or price export of Microsoft",
    identifyingColumns: ["MeterId", "CostInBillingCurrency", "ReservationOrderId"],
  },
];

/** Columns that only FOCUS bills have. A table with one of them may be a damaged bill, so it is not another dataset. */
const onlyInBills = [
  "ChargePeriodStart",
  "ChargePeriodEnd",
  "EffectiveCost",
  "ContractedCost",
  "ListCost",
  "AmortizedCost",
].map(normalized);
/** Columns of FOCUS bills that other FOCUS datasets have as well. */
const alsoInBills = ["BilledCost", "ChargeCategory", "ChargeType"].map(normalized);

/** Matches names of columns. In a row of values, some do not match, because they are numbers, dates or empty. */
const COLUMN_NAME = /^[\p{L}_][\p{L}\p{N}_ .:/()-]{0,127}$/u;
const SHOWN = 3;

/**
 * Says what a table is if it is not a FOCUS bill, as part of a sentence. Undefined if it is a bill, or may be a damaged
 * one.
 *
 * @param names of its columns, in their order
 */
export function otherDataset(names: readonly string[]): string | undefined {
  const normalizedNames = new Set(names.map(normalized));
  if (onlyInBills.some((name) => normalizedNames.has(name))) return undefined;
  const has = (name: string) => names.some((each) => each.trim().toLowerCase() === name.toLowerCase());
  const known = datasets.find(({ identifyingColumns: marks }) => marks.some(has));
  if (known !== undefined) return known.what;
  const isTable = names.length > 1 && normalizedNames.size === names.length;
  if (!isTable || !names.every((name) => COLUMN_NAME.test(name))) return undefined;
  if (alsoInBills.some((name) => normalizedNames.has(name))) return undefined;
  const more = names.length > SHOWN ? ", …" : "";
  return `another table (its columns are ${names.slice(0, SHOWN).join(", ")}${more})`;
}

function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}
