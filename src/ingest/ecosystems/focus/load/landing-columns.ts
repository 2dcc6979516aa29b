/**
 * Maps columns of a FOCUS file to the store. Columns of the newest version have a column of their own in `focus_lines`;
 * all others are kept by name.
 */
import { columnsOf, focusColumns, mapColumns } from "../../../../focus/index.js";

export type LandingKind = "cost" | "number" | "instant" | "json" | "tags" | "text" | "long_text";

/** The four costs, in the order of `cost_texts`. */
export const costColumns = ["BilledCost", "EffectiveCost", "ContractedCost", "ListCost"] as const;
export type CostColumn = (typeof costColumns)[number];

/** The version whose names the landing table uses. Names of earlier versions are mapped to it. */
export const LANDING_VERSION = "1.4";

const longTexts: readonly string[] = ["ChargeDescription", "ResourceName"];

export interface LandingColumn {
  readonly name: string;
  readonly kind: LandingKind;
  /** True if a part of the line has a proportional part of the value. */
  readonly summable: boolean;
}

export const landingColumns: readonly LandingColumn[] = columnsOf(LANDING_VERSION).map(
  ({ name, type, summable = false }) => ({ name, kind: kindOf(name, type), summable }),
);

/** Returns the landing column for a name in any case, also for a name of an earlier version. */
export function landingColumnOf(name: string): LandingColumn | undefined {
  const [mapped] = mapColumns([{ name, type: null }], LANDING_VERSION).columns;
  return landingColumns.find((column) => column.name === mapped?.column.name);
}

/** Names that FOCUS 1.5 adds. */
const comingNames = ["AllocatedServiceName", "CredentialId", "PrincipalId"];

/** Columns of other versions without a successor in `LANDING_VERSION`. They are kept with the custom columns. */
export const otherStandardNames: readonly string[] = [
  ...focusColumns.map(({ name }) => name).filter((name) => landingColumnOf(name) === undefined),
  ...comingNames,
];

function kindOf(name: string, type: "String" | "Decimal" | "Date/Time" | "JSON"): LandingKind {
  if (name === "Tags") return "tags";
  if (type === "JSON") return "json";
  if (type === "Date/Time") return "instant";
  if (type === "Decimal") return costColumns.some((cost) => cost === name) ? "cost" : "number";
  return longTexts.includes(name) ? "long_text" : "text";
}
