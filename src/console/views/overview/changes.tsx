/** What grew and what fell, each with the part that moved most. */
import { exact, minus } from "../../../common/exact-decimal.js";
import {
  type BreakdownRequest,
  type BreakdownRow,
  isUnallocated,
  requestBreakdown,
} from "../../api/breakdown.js";
import { type BreakdownResult, isLikeWithLike } from "../../api/comparison.js";
import { changeText } from "../../money/amount-text.js";
import { nameOf } from "../../parts/breakdown-chart.js";
import { Link } from "../../parts/link.js";
import { DataTable, type TableColumn } from "../../parts/table.js";
import { WhySumLink } from "../../parts/why-sum-link.js";
import { changed, datesAlone, type Place } from "../../state/location.js";
import { viewPath } from "../../state/paths.js";
import { useLoaded } from "../../state/use-data.js";
import { columnName, en } from "../../text/en.js";
import type { SplitColumn } from "./split.js";

const text = en.overview;
/** Rows of each table, by currency. */
const SHOWN = 5;
/** The API returns at most this many groups by their change. */
export const MOVERS = 100;

export const isUnsure = ({ comparison }: BreakdownResult) =>
  comparison === undefined || !isLikeWithLike(comparison);

interface ChangesProps {
  readonly place: Place;
  readonly tenant: string;
  readonly result: BreakdownResult;
  readonly column: SplitColumn;
}

export function Changes({ result, ...rest }: ChangesProps) {
  const { groups, movers } = result.breakdown;
  const grew = shownOf(movers ?? [], (change) => change > 0n);
  const fell = shownOf(movers ?? [], (change) => change < 0n);
  const causes = useCauses(result, rest.column, [...grew, ...fell]);
  const tables =
    movers === undefined
      ? ([[text.largest, shownOf(groups, () => true), text.noCosts]] as const)
      : ([
          [text.grew, grew, text.nothingGrew],
          [text.fell, fell, text.nothingFell],
        ] as const);
  return (
    <div class="pair">
      {tables.map(([title, rows, none]) => (
        <section key={title} class="card">
          <h2>{title}</h2>
          {rows.length === 0 ? (
            <p class="hint">{none}</p>
          ) : (
            <DataTable
              caption={title}
              columns={columnsOf({ result, ...rest }, causes)}
              rows={rows}
              keyOf={(group) => `${group.currency} ${group.dimensions[rest.column]}`}
            />
          )}
        </section>
      ))}
    </div>
  );
}

const changeOf = ({ total_amount: now, previous_amount: before }: BreakdownRow) =>
  minus(exact(now), exact(before ?? "0"));

/** The first rows of each currency. What is unallocated comes last. */
function shownOf(groups: readonly BreakdownRow[], isShown: (change: bigint) => boolean): BreakdownRow[] {
  const found = groups.filter((group) => isShown(changeOf(group).units));
  const ordered = [...found.filter((group) => !isUnallocated(group)), ...found.filter(isUnallocated)];
  return [...new Set(ordered.map(({ currency }) => currency))].flatMap((currency) =>
    ordered.filter((group) => group.currency === currency).slice(0, SHOWN),
  );
}

/** What costs of a column consist of. */
const partColumns: Readonly<Record<SplitColumn, readonly string[]>> = {
  team: ["product_type", "resource_id"],
  identity_id: ["product_type", "resource_id"],
  product_type: ["identity_id"],
};

/** The part of each group that moved most in the group's direction, by currency and group. */
function useCauses(
  { request }: BreakdownResult,
  column: SplitColumn,
  groups: readonly BreakdownRow[],
): ReadonlyMap<string, BreakdownRow> {
  const values = [...new Set(groups.map(({ dimensions }) => dimensions[column] ?? ""))];
  const parts: BreakdownRequest = {
    ...request,
    timeBucket: undefined,
    groupBy: [column, ...partColumns[column]],
    filters: [{ column, isExcluding: false, values }],
    limit: 1,
    movers: MOVERS,
  };
  const { value, isStale } = useLoaded(requestBreakdown, values.length === 0 ? undefined : parts);
  const causes = new Map<string, BreakdownRow>();
  if (isStale) return causes;
  for (const group of groups) {
    const isMore = changeOf(group).units > 0n;
    const cause = value?.movers?.find(
      (part) =>
        part.currency === group.currency &&
        part.dimensions[column] === group.dimensions[column] &&
        changeOf(part).units > 0n === isMore,
    );
    if (cause !== undefined) causes.set(causeKey(group, column), cause);
  }
  return causes;
}

const causeKey = ({ currency, dimensions }: BreakdownRow, column: SplitColumn) =>
  `${currency} ${dimensions[column]}`;

function columnsOf(
  { place, tenant, result, column }: ChangesProps,
  causes: ReadonlyMap<string, BreakdownRow>,
): TableColumn<BreakdownRow>[] {
  const isCompared = result.breakdown.movers !== undefined;
  const group_by = partColumns[column];
  return [
    {
      key: "name",
      title: columnName(column),
      cell: (group) => {
        const value = group.dimensions[column] ?? "";
        const changes = { [column]: value, group_by, compare: isCompared ? "previous" : undefined };
        const cause = causes.get(causeKey(group, column));
        return (
          <>
            <Link href={changed(datesAlone(place), changes, viewPath(tenant, "explorer"))} title={value}>
              <bdi>{nameOf(group, [column])}</bdi>
            </Link>
            {cause !== undefined && <Cause cause={cause} columns={partColumns[column]} />}
          </>
        );
      },
    },
    {
      key: "now",
      title: text.amount,
      isNumber: true,
      leads: true,
      money: (group) => [{ value: exact(group.total_amount), currency: group.currency }],
    },
    ...(isCompared
      ? [
          {
            key: "change",
            title: text.change,
            isNumber: true,
            change: ({ total_amount, previous_amount, currency }: BreakdownRow) => ({
              currency,
              now: exact(total_amount),
              before: exact(previous_amount ?? "0"),
              isUnsure: isUnsure(result),
            }),
          },
          {
            key: "why",
            title: "",
            cell: (group: BreakdownRow) => (
              <WhySumLink
                place={place}
                currency={group.currency}
                group={group}
                name={nameOf(group, [column])}
              />
            ),
          },
        ]
      : []),
  ];
}

function Cause({ cause, columns }: { readonly cause: BreakdownRow; readonly columns: readonly string[] }) {
  const [what = "", of] = columns.map((column) => nameOf(cause, [column]));
  const words = text.cause(changeText(changeOf(cause), cause.currency), what, of);
  return (
    <div class="hint cause" title={words}>
      <bdi>{words}</bdi>
    </div>
  );
}
