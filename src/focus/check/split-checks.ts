/**
 * Checks of split charges. FOCUS has no column for the original charge of split rows. If a file has x_SplitOriginId and
 * x_SplitOriginCost (the BilledCost of the original, the same on every row), the checks add the rows up again. Sums are
 * exact.
 */
import { identifier, literal } from "../../clickhouse/sql-text.js";
import { type FocusFile, SPLIT_ORIGIN_COST, SPLIT_ORIGIN_ID } from "../map-columns.js";
import type { Check, CheckGroup, GroupsCheck } from "./check-types.js";
import { rulesOf } from "./check-types.js";
import { decimalSql, factor, isNull, isSet, object, ROWS } from "./sql.js";

/** Tolerance between a row's share of a metric and its ratio, for rounding to cents: 0.01, or 0.01 % of the whole. */
const SHARE_TOLERANCE = { share: "0.0001", least: "0.01" };

const DETAILS = "AllocatedMethodDetails";
const origin = identifier(SPLIT_ORIGIN_ID);
const isPart = `${isSet(SPLIT_ORIGIN_ID)} AND ${isSet("AllocatedMethodId")}`;

/** Ratios as text, because the engine's JSON parser keeps only 17 digits of a number. */
const ratios = `extractAll(assumeNotNull(${object(DETAILS)}), ${literal('"AllocatedRatio"\\s*:\\s*(-?[0-9.]+(?:[eE][-+]?[0-9]+)?)')})`;
const ratioOf = (digits: number) =>
  `arraySum(arrayMap(text -> toDecimal256OrZero(text, ${digits}), ${ratios}))`;

function groupsWith(
  uses: readonly string[],
  group: (file: FocusFile) => readonly CheckGroup[],
): GroupsCheck["groups"] {
  return (file) => (uses.every((name) => file.has(name)) ? group(file) : []);
}

/** Finds original charges whose parts together violate a rule. */
function origins(value: string, having: string): string {
  return `SELECT min(row) AS row, concat(${origin}, ': ', ${value}) AS value FROM ${ROWS} WHERE ${isPart}
    GROUP BY ${origin} HAVING ${having}`;
}

const cost = decimalSql(SPLIT_ORIGIN_COST);
const allocated = ["AllocatedResourceId", "AllocatedResourceName", "AllocatedTags", DETAILS];

export const splitChecks: readonly Check[] = [
  {
    id: "split-method",
    level: "error",
    kind: "rows",
    what: "The row has values of a split charge, but no AllocatedMethodId.",
    conditions: rulesOf(
      allocated.map((column) => ({
        uses: ["AllocatedMethodId", column],
        column,
        violated: `isNull(AllocatedMethodId) AND ${isSet(column)}`,
      })),
    ),
  },
  {
    id: "split-resource-name",
    level: "error",
    kind: "rows",
    what: "AllocatedResourceName is not null exactly where AllocatedResourceId is null.",
    conditions: rulesOf([
      {
        uses: ["AllocatedResourceId", "AllocatedResourceName"],
        column: "AllocatedResourceName",
        violated: "isNull(AllocatedResourceId) != isNull(AllocatedResourceName)",
      },
    ]),
  },
  {
    id: "split-no-details",
    level: "warning",
    kind: "rows",
    what: "A row of a split charge has no AllocatedMethodDetails.",
    conditions: rulesOf([
      {
        uses: ["AllocatedMethodId", DETAILS],
        column: DETAILS,
        violated: `isNotNull(AllocatedMethodId) AND ${isNull(DETAILS)}`,
      },
    ]),
  },
  {
    id: "split-tags",
    level: "error",
    kind: "rows",
    what: "AllocatedTags repeats a tag of Tags, with the same value.",
    conditions: rulesOf([
      {
        uses: ["AllocatedTags", "Tags"],
        column: "AllocatedTags",
        violated: `hasAny(JSONExtractKeysAndValuesRaw(${object("AllocatedTags")}), JSONExtractKeysAndValuesRaw(${object("Tags")}))`,
      },
    ]),
  },
  {
    id: "split-origin-row",
    level: "error",
    kind: "rows",
    what:
      "The row has an x_SplitOriginId, but no AllocatedMethodId: a charge that was split must not be in the file " +
      "together with its parts.",
    conditions: rulesOf([
      {
        uses: [SPLIT_ORIGIN_ID, "AllocatedMethodId"],
        column: SPLIT_ORIGIN_ID,
        violated: `${isSet(SPLIT_ORIGIN_ID)} AND isNull(AllocatedMethodId)`,
      },
    ]),
  },
  {
    id: "split-origin",
    level: "error",
    kind: "rows",
    what: "Only one of x_SplitOriginId and x_SplitOriginCost has a value.",
    conditions: rulesOf([
      {
        uses: [SPLIT_ORIGIN_ID, SPLIT_ORIGIN_COST],
        column: SPLIT_ORIGIN_ID,
        violated: `${isNull(SPLIT_ORIGIN_ID)} != ${isNull(SPLIT_ORIGIN_COST)}`,
      },
    ]),
  },
  {
    id: "split-origin-cost",
    level: "error",
    kind: "groups",
    what: "The parts of a charge have several values of x_SplitOriginCost.",
    groups: groupsWith([SPLIT_ORIGIN_ID, SPLIT_ORIGIN_COST, "AllocatedMethodId"], () => [
      {
        column: SPLIT_ORIGIN_COST,
        query: origins(
          `toString(min(${cost})), ' and ', toString(max(${cost}))`,
          `min(${cost}) != max(${cost})`,
        ),
      },
    ]),
  },
  {
    id: "split-cost",
    level: "error",
    kind: "groups",
    what: "BilledCost of the parts of a charge does not add up to x_SplitOriginCost.",
    groups: groupsWith([SPLIT_ORIGIN_ID, SPLIT_ORIGIN_COST, "AllocatedMethodId", "BilledCost"], () => [
      {
        column: "BilledCost",
        query: origins(
          `toString(sum(${decimalSql("BilledCost")})), ' of ', toString(min(${cost}))`,
          `min(${cost}) = max(${cost}) AND sum(${decimalSql("BilledCost")}) != min(${cost})`,
        ),
      },
    ]),
  },
  {
    id: "split-ratio",
    level: "error",
    kind: "groups",
    what: "AllocatedRatio of the parts of a charge does not add up to 1.",
    groups: groupsWith([SPLIT_ORIGIN_ID, "AllocatedMethodId", DETAILS], () => [
      {
        column: DETAILS,
        query: origins(
          `toString(sum(${ratioOf(38)}))`,
          `count(${identifier(DETAILS)}) = count() AND sum(${ratioOf(38)}) != 1`,
        ),
      },
    ]),
  },
  {
    id: "split-share",
    level: "warning",
    kind: "groups",
    what: "A part's share of a cost or quantity is not its AllocatedRatio, by more than 0.01 and 0.01 % of the whole.",
    groups: groupsWith([SPLIT_ORIGIN_ID, "AllocatedMethodId", DETAILS], (file) =>
      file.columns
        .filter(({ column }) => column.summable === true)
        .map(({ column: { name } }) => {
          const { share, least } = SHARE_TOLERANCE;
          const off = `abs(part - ratio * whole) > greatest(abs(whole) * toDecimal256('${share}', 4), toDecimal256('${least}', 18))`;
          return {
            column: name,
            query: `SELECT row, concat(${origin}, ': ', ${identifier(name)}, ' of ', toString(whole)) AS value FROM (
              SELECT row, ${origin}, ${identifier(name)}, ${identifier(DETAILS)}, ${factor(name)} AS part, ${ratioOf(18)} AS ratio,
                sum(part) OVER (PARTITION BY ${origin}) AS whole
              FROM ${ROWS} WHERE ${isPart}
            ) WHERE ${isSet(DETAILS)} AND ${off}`,
          };
        }),
    ),
  },
  {
    id: "split-dimensions",
    level: "error",
    kind: "groups",
    what: "The parts of a charge differ in columns that all of them take over unchanged.",
    groups: groupsWith([SPLIT_ORIGIN_ID, "AllocatedMethodId"], (file) => {
      const inherited = file.columns
        .map(({ column }) => column)
        .filter(
          ({ name, summable }) =>
            summable !== true && !name.startsWith("Allocated") && !name.startsWith("x_"),
        );
      const differing = inherited.map(({ name }) => {
        const column = identifier(name);
        return `if(ifNull(min(${column}) != max(${column}), false) OR count(${column}) NOT IN (0, count()), ${literal(name)}, '')`;
      });
      const names = `arrayFilter(name -> name != '', [${differing.join(", ")}])`;
      return [
        {
          column: SPLIT_ORIGIN_ID,
          query: origins(`arrayStringConcat(${names}, ', ')`, `notEmpty(${names})`),
        },
      ];
    }),
  },
];
