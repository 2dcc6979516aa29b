/** Tables of a breakdown: the sums of each group, or its amounts over time. */
import { exact, minus, sumOf } from "../../common/exact-decimal.js";
import { bucketAmount, partsOf, type Sums, type Totals } from "../api/breakdown.js";
import { type BreakdownResult, isLikeWithLike } from "../api/comparison.js";
import { percentage } from "../money/amount-text.js";
import { changed, go, type Place } from "../state/location.js";
import { en } from "../text/en.js";
import { bucketName, bucketsOfPeriod } from "./breakdown-chart.js";
import { type GroupRow, nameColumns, rowsOf } from "./group-name.js";
import { DataTable, type TableColumn } from "./table.js";
import { WhySumLink } from "./why-sum-link.js";

interface GroupsProps {
  readonly place: Place;
  readonly result: BreakdownResult;
  readonly totals: Totals;
  /** The order in the address: the rows may still have the one before. */
  readonly order: string | undefined;
}

/** The sums of each group, compared with another period if the request does. */
export function Groups({ place, result, totals, order }: GroupsProps) {
  const { breakdown, comparison } = result;
  const whole = bucketAmount(totals);
  const { currency } = totals;
  const rows = rowsOf(result, currency);
  const number = (sortKey: string, title: string, sumOf: (sums: Sums) => string): TableColumn<GroupRow> => ({
    key: sortKey,
    sortKey,
    title: sortKey === "total_amount" ? en.inCurrency(title, currency) : title,
    isNumber: true,
    leads: sortKey === "total_amount",
    money: (row) => [{ value: exact(sumOf(row)), currency, isNamed: true }],
    totalMoney: [{ value: exact(sumOf(totals)), currency, isNamed: true }],
  });
  const { cost } = result.request;
  const amountTitle = cost === undefined ? en.overview.amount : en.explorer.otherCosts[cost];
  const before = (sums: Sums) => exact(sums.previous_amount ?? "0");
  const isUnsure = comparison !== undefined && !isLikeWithLike(comparison);
  const shown: TableColumn<GroupRow>[] = [
    ...nameColumns(place, result, totals),
    number("total_amount", amountTitle, ({ total_amount }) => total_amount),
    {
      key: "share",
      title: en.overview.share,
      isNumber: true,
      total: percentage(whole, whole),
      cell: (row) => percentage(bucketAmount(row), whole),
    },
    ...(totals.previous_amount !== undefined
      ? [
          number("previous_amount", en.overview.before, ({ previous_amount }) => previous_amount ?? "0"),
          {
            key: "change",
            sortKey: "change",
            title: en.overview.change,
            isNumber: true,
            change: (row: GroupRow) => ({ now: bucketAmount(row), before: before(row), currency, isUnsure }),
            totalChange: { now: whole, before: before(totals), currency, isUnsure },
          },
        ]
      : []),
    ...partsOf(totals).map((part) => number(part, en.explorer.parts[part], ({ parts }) => parts[part])),
    {
      key: "row_count",
      sortKey: "row_count",
      title: en.overview.rows,
      isNumber: true,
      total: totals.row_count.toLocaleString("en"),
      cell: (row) => row.row_count.toLocaleString("en"),
    },
    // Explanations are of the charged cost.
    ...(cost === undefined ? [whyColumn(place, currency)] : []),
  ];
  return (
    <DataTable
      caption={en.explorer.title}
      columns={shown}
      rows={rows}
      keyOf={({ key }) => key}
      order={order}
      onSort={(next) => go(changed(place, { order: next }), { replace: true })}
      totalTitle={breakdown.groups.some(({ provisional }) => provisional) ? en.provisionalTotal : en.total}
    />
  );
}

function whyColumn(place: Place, currency: string): TableColumn<GroupRow> {
  return {
    key: "why",
    title: "",
    total: <WhySumLink place={place} currency={currency} name={en.total} />,
    cell: ({ group, name }) =>
      group && <WhySumLink place={place} currency={currency} group={group} name={name} />,
  };
}

/** More columns than this are too many to read. */
const MAX_TIME_COLUMNS = 120;

/** The amounts of each group over time: a column for each bucket. */
export function GroupsOverTime({ place, result, totals, order }: GroupsProps) {
  const { breakdown } = result;
  const { currency } = totals;
  const buckets = bucketsOfPeriod(result);
  if (buckets.length > MAX_TIME_COLUMNS)
    return <p class="hint">{en.explorer.tooManyColumns(buckets.length)}</p>;
  const rows = rowsOf(result, currency);
  const amountAt = (amounts: readonly string[] | undefined, position: number) =>
    exact(amounts?.[position] ?? "0");
  // The service does not return the others over time: they are what the groups leave of the totals.
  const othersAt = (position: number) =>
    minus(
      amountAt(totals.amounts, position),
      sumOf(rows.map(({ group }) => amountAt(group?.amounts, position))),
    );
  const columns: TableColumn<GroupRow>[] = [
    ...nameColumns(place, result, totals),
    {
      key: "total_amount",
      sortKey: "total_amount",
      title: en.inCurrency(en.total, currency),
      isNumber: true,
      leads: true,
      money: (row) => [{ value: bucketAmount(row), currency, isNamed: true }],
      totalMoney: [{ value: bucketAmount(totals), currency, isNamed: true }],
    },
    ...buckets.map(
      ({ label, position, note }): TableColumn<GroupRow> => ({
        key: label,
        title: note === undefined ? bucketName(label) : en.chart.partialBucket(bucketName(label), note),
        isNumber: true,
        money: ({ group }) => {
          const value = group === undefined ? othersAt(position) : amountAt(group.amounts, position);
          return position < 0 ? [] : [{ value, currency, isNamed: true }];
        },
        totalMoney:
          position < 0 ? [] : [{ value: amountAt(totals.amounts, position), currency, isNamed: true }],
      }),
    ),
  ];
  return (
    <DataTable
      caption={en.explorer.overTime}
      columns={columns}
      rows={rows}
      keyOf={({ key }) => key}
      order={order}
      onSort={(next) => go(changed(place, { order: next }), { replace: true })}
      totalTitle={breakdown.groups.some(({ provisional }) => provisional) ? en.provisionalTotal : en.total}
    />
  );
}
