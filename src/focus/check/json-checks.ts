/** Checks of the JSON columns that have a schema. Source: JSON schemas of the FOCUS specification 1.4, CC-BY-4.0. */
import { literal } from "../../clickhouse/sql-text.js";
import { isAtLeast } from "../version.js";
import { type Check, forColumns } from "./check-types.js";
import { matches, object } from "./sql.js";

const OWN_KEY = "^x_[A-Z][a-zA-Z0-9]*$";

interface ArraySchema {
  /** The only key of the object. Its value is an array of one or more objects. */
  readonly key: string;
  readonly itemKeys: readonly string[];
  /** SQL condition over the JSON text `item` that is true if the item violates the schema. */
  readonly broken: string;
}

const typeOf = (key: string) => `JSONType(item, ${literal(key)})`;
const isNumber = (key: string) => `${typeOf(key)} IN ('Int64', 'UInt64', 'Double')`;
const isText = (key: string) => `${typeOf(key)} = 'String'`;
const isAbsent = (key: string) => `${typeOf(key)} = 'Null'`;

function breaks(column: string, { key, itemKeys, broken }: ArraySchema): string {
  const json = object(column);
  const foreign = (keys: string, known: readonly string[]) =>
    `arrayExists(key -> key NOT IN (${known.map(literal).join(", ")}) AND NOT ${matches("key", OWN_KEY)}, ${keys})`;
  const items = `JSONExtractArrayRaw(${json}, ${literal(key)})`;
  const wrong = `JSONType(item) != 'Object' OR ${broken} OR ${foreign("JSONExtractKeys(item)", itemKeys)}`;
  return `${json} != '{}' AND (empty(${items}) OR ${foreign(`JSONExtractKeys(${json})`, [key])} OR arrayExists(item -> ${wrong}, ${items}))`;
}

const ratio = `JSONExtractFloat(item, 'AllocatedRatio')`;
const quantity = "ContractCommitmentAppliedQuantity";
const cost = "ContractCommitmentAppliedCost";
const unit = "ContractCommitmentAppliedUnit";

export const jsonChecks: readonly Check[] = [
  {
    id: "split-details",
    level: "error",
    kind: "rows",
    what:
      'AllocatedMethodDetails is not {"Elements": […]} with an AllocatedRatio from 0 to 1 in each element, a ' +
      "UsageUnit for each UsageQuantity, and other keys beginning with x_.",
    conditions: forColumns(
      ({ name }) => name === "AllocatedMethodDetails",
      (name) =>
        breaks(name, {
          key: "Elements",
          itemKeys: ["AllocatedRatio", "UsageQuantity", "UsageUnit"],
          broken: `NOT (${isNumber("AllocatedRatio")}) OR ${ratio} < 0 OR ${ratio} > 1 OR NOT (${isAbsent("UsageQuantity")} OR (${isNumber("UsageQuantity")} AND ${isText("UsageUnit")}))`,
        }),
    ),
  },
  {
    id: "contract-applied",
    level: "error",
    kind: "rows",
    what: 'ContractApplied is not {"Elements": […]} with ContractId, ContractCommitmentId and either the applied cost or the applied quantity and unit in each element.',
    conditions: forColumns(
      ({ name }, { version }) => name === "ContractApplied" && isAtLeast(version, "1.4"),
      (name) =>
        breaks(name, {
          key: "Elements",
          itemKeys: ["ContractId", "ContractCommitmentId", cost, quantity, unit],
          broken: `NOT (${isText("ContractId")} AND ${isText("ContractCommitmentId")}) OR NOT ((${isNumber(cost)} AND ${isAbsent(quantity)} AND ${isAbsent(unit)}) OR (${isAbsent(cost)} AND ${isNumber(quantity)} AND ${isText(unit)}))`,
        }),
    ),
  },
  {
    id: "commitment-programs",
    level: "error",
    kind: "rows",
    what: 'CommitmentProgramEligibilityDetails is not {"CommitmentPrograms": […]} with a ProgramType in each element.',
    conditions: forColumns(
      ({ name }) => name === "CommitmentProgramEligibilityDetails",
      (name) =>
        breaks(name, {
          key: "CommitmentPrograms",
          itemKeys: ["ProgramType"],
          broken: `NOT (${isText("ProgramType")})`,
        }),
    ),
  },
];
