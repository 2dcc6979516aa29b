/** Checks whether columns are present, and checks their names and types. */
import { columnsOfVersion } from "../columns.js";
import type { DifferenceKind, FocusFile } from "../map-columns.js";
import { plain } from "../written-text.js";
import type { Check, ColumnsCheck } from "./check-types.js";

const differing =
  (...kinds: readonly DifferenceKind[]): ColumnsCheck["find"] =>
  (file) =>
    file.differences
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ name, standsFor }) => ({
        column: name,
        ...(standsFor !== undefined && { value: `stands for ${standsFor}` }),
      }));

export const columnChecks: readonly Check[] = [
  {
    id: "column-missing",
    level: "error",
    kind: "columns",
    what: "A mandatory column of this version is missing.",
    find: (file) => missing(file).filter(({ level }) => level === "Mandatory"),
  },
  {
    id: "column-recommended",
    level: "warning",
    kind: "columns",
    what: "A recommended column of this version is missing.",
    find: (file) =>
      missing(file).filter(({ level, needs }) => level === "Recommended" && needs === undefined),
  },
  {
    id: "column-conditional",
    level: "warning",
    kind: "columns",
    what: "A column is missing that belongs to others which the file has.",
    find: (file) => companions(file).filter(({ needs }) => needs !== "splitAllocation"),
  },
  {
    id: "column-split",
    level: "error",
    kind: "columns",
    what: "A file with split charges has all four columns of them: AllocatedMethodId, AllocatedResourceId, AllocatedResourceName and AllocatedTags.",
    find: (file) => companions(file).filter(({ needs }) => needs === "splitAllocation"),
  },
  {
    id: "column-case",
    level: "error",
    kind: "columns",
    what: "The column's name is not spelled as in the standard, which distinguishes upper and lower case.",
    find: differing("case"),
  },
  {
    id: "column-renamed",
    level: "error",
    kind: "columns",
    what: "The column has the name of another version.",
    find: differing("renamed"),
  },
  {
    id: "column-removed",
    level: "error",
    kind: "columns",
    what: "The standard removed this column before this version.",
    find: differing("removed"),
  },
  {
    id: "column-newer",
    level: "warning",
    kind: "columns",
    what: "The standard has this column only in later versions.",
    find: differing("newer"),
  },
  {
    id: "column-duplicate",
    level: "error",
    kind: "columns",
    what: "The file has this column more than once; only the first one is read.",
    find: differing("duplicate"),
  },
  {
    id: "column-unknown",
    level: "error",
    kind: "columns",
    what: "The column is not in the standard, and its name does not begin with x_, as those of own columns do.",
    find: differing("unknown"),
  },
  {
    id: "column-custom-name",
    level: "warning",
    kind: "columns",
    what: "The name of an own column is not x_ with a name in PascalCase behind it, at most 50 characters in all.",
    find: (file) =>
      differing("custom")(file).filter(({ column }) => !/^x_[A-Z][A-Za-z0-9]{0,47}$/.test(column)),
  },
  {
    id: "column-type",
    level: "error",
    kind: "columns",
    what: "The type of the Parquet column does not fit: costs, prices and quantities are numbers, dates are timestamps, everything else is text, and JSON is text or a map.",
    find: (file) =>
      file.columns.flatMap(({ column: { name, type }, source }) =>
        source.type === null || allowedTypes[type].test(plain(source.type))
          ? []
          : [{ column: name, value: source.type }],
      ),
  },
];

/** Engine types that a Parquet column of each FOCUS type may have. */
const allowedTypes = {
  String: /^(String|FixedString\(|Enum)/,
  Decimal: /^(Decimal|Float|BFloat|U?Int)/,
  "Date/Time": /^DateTime/,
  JSON: /^(String|Map\(|JSON|Object)/,
} as const;

function missing(file: FocusFile) {
  return columnsOfVersion(file.version)
    .filter(({ name, deprecated }) => !file.has(name) && deprecated === undefined)
    .map(({ name, level, needs }) => ({ column: name, level, needs }));
}

/** Missing conditional columns. The file has other columns with the same precondition (`needs`). */
function companions(file: FocusFile) {
  const needed = new Set(file.columns.map(({ column }) => column.needs));
  return missing(file).filter(
    ({ level, needs }) => level === "Conditional" && needs !== undefined && needed.has(needs),
  );
}
