/** What may be odd about a line. Each finding is a bit of the column `findings`, so that it stays with its line; new ones are added at the end. */

export interface LineFinding {
  readonly id: string;
  /** One sentence about the lines that have it. */
  readonly what: string;
  /** The line cannot be charged to its day as it stands: the day is partial. */
  readonly malformed?: true;
}

export const lineFindings = [
  { id: "no_charge_date", what: "ChargePeriodStart is missing or no ISO date.", malformed: true },
  {
    id: "unreadable_cost",
    what: "A cost is no number, or has more than 26 digits before the point.",
    malformed: true,
  },
  { id: "no_currency", what: "BillingCurrency is not three capital letters.", malformed: true },
  {
    id: "rounded_cost",
    what: "A cost has more than 12 decimal places, and was rounded half away from zero.",
  },
  { id: "unreadable_number", what: "A quantity or a price is no number, and is taken as null." },
  {
    id: "unreadable_date",
    what: "A date other than ChargePeriodStart is no ISO date, and is taken as null.",
  },
  {
    id: "unreadable_tags",
    what: "Tags are not JSON of keys and values; their text is kept beside the custom columns.",
  },
  { id: "repeated_tag_key", what: "A key of Tags repeats; the first value that is not empty counts." },
  {
    id: "blank_tag_key",
    what: "A key of Tags is empty or begins or ends with a blank, which was taken away.",
  },
] as const satisfies readonly LineFinding[];

export type LineFindingId = (typeof lineFindings)[number]["id"];

/** Bits of the findings that make a line malformed. */
export const MALFORMED = lineFindings.reduce(
  (mask, finding, bit) => ("malformed" in finding ? mask | (1 << bit) : mask),
  0,
);

/** SQL of the column `findings`: from a condition for each finding, left out where it cannot apply. */
export function findingsMask(conditions: Readonly<Partial<Record<LineFindingId, string>>>): string {
  const bits = lineFindings.flatMap(({ id }, bit) => {
    const condition = conditions[id];
    return condition === undefined ? [] : [`if(${condition}, ${1 << bit}, 0)`];
  });
  return bits.length === 0 ? "0" : bits.join(" + ");
}
