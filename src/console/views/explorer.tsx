/** Costs grouped by up to three columns, over time, filtered and compared. A click on a group drills down. */
import { useState } from "preact/hooks";
import { exact } from "../../common/exact-decimal.js";
import {
  type BreakdownRequest,
  type BreakdownRow,
  breakdownAddress,
  breakdownKey,
  bucketAmount,
  exportAddress,
  listed,
  MAX_GROUPS,
  partsOf,
  type Sums,
  sqlAddress,
  type Totals,
} from "../api/breakdown.js";
import { type BreakdownResult, isLikeWithLike, loadCompared } from "../api/comparison.js";
import { tagColumnsOf, useReconciliation, useTagKeys } from "../api/questions.js";
import { percentage } from "../money/amount-text.js";
import { BreakdownChart, chartColors, keyOf, nameOf } from "../parts/breakdown-chart.js";
import { Swatch } from "../parts/chart.js";
import { ComparedNotes, comparedWith } from "../parts/compared.js";
import { Choice } from "../parts/controls.js";
import { Download } from "../parts/download.js";
import { FilterBar, valuesInWords } from "../parts/filter-bar.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { ReconciliationBanner } from "../parts/reconciliation-banner.js";
import { Rows } from "../parts/rows.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { WhySumLink } from "../parts/why-sum-link.js";
import { OTHERS_COLOR } from "../state/colors.js";
import {
  type FilterColumn,
  filterParameters,
  filtersOf,
  isFilterable,
  isFilterColumn,
  isOfLines,
  withOnly,
} from "../state/filters.js";
import { changed, go, type Place } from "../state/location.js";
import { bucketFor, periodOf } from "../state/period.js";
import { useData } from "../state/use-data.js";
import { columnName, en } from "../text/en.js";

const text = en.explorer;

/** Columns to group by, in addition to tags. */
const groupColumns = [
  "identity_id",
  "team",
  "resource_id",
  "product_type",
  "product_category",
  "environment_id",
  "cost_type",
  "allocation_method",
  "allocation_detail",
  "passed_from",
  "currency",
  "charge_category",
  "service_provider",
  "account_id",
  "region_id",
  "sku_id",
  "rule",
];
const MAX_COLUMNS = 3;
const limits = [5, 10, 50, 200, MAX_GROUPS];
/** The service can sort by these, and by the columns of groups. The last two need a comparison. */
const sortKeys = ["total_amount", "own", "shared", "passed", "unallocated", "row_count"];
const comparedSortKeys = ["previous_amount", "change"];

export function Explorer({ place, tenant }: { readonly place: Place; readonly tenant: string }) {
  const { query } = place;
  const period = periodOf(place);
  // Tag keys are loaded when the user reaches for a column, not for every period that is shown before.
  const [keysPeriod, setKeysPeriod] = useState(period);
  const loadTagKeys = () => setKeysPeriod(period);
  const tagKeys = useTagKeys(tenant, keysPeriod);
  const groupBy = query.getAll("group_by").slice(0, MAX_COLUMNS);
  const shown = groupBy.length === 0 ? ["identity_id"] : groupBy;
  const timeBucket = query.get("time_bucket") ?? bucketFor(period);
  const limit = limits.find((each) => each === Number(query.get("limit"))) ?? 10;
  const isCompared = query.get("compare") === "previous";
  const sorts = [...shown, ...sortKeys, ...(isCompared ? comparedSortKeys : [])];
  const orders = sorts.flatMap((by) => [`${by}.asc`, `${by}.desc`]);
  const filters = filtersOf(place);
  const lineFilters = filters.filter(isOfLines);
  const proof = useReconciliation(tenant, period, lineFilters);
  const request: BreakdownRequest = {
    tenant,
    period,
    filters,
    groupBy: shown,
    timeBucket,
    limit,
    order: orders.includes(query.get("order") ?? "") ? (query.get("order") ?? undefined) : undefined,
    compare: isCompared,
  };
  // The result has its request, because the previous result is shown until the next one arrives.
  const data = useData(`explorer ${breakdownKey(request)}`, (signal) => loadCompared(request, signal));
  const current = data.isStale ? undefined : data.value;
  const comparison = current?.comparison;
  const linkedRequest = current?.request ?? request;
  return (
    <>
      <div class="title">
        <h1>{en.views.explorer}</h1>
        <Trail place={place} />
      </div>
      <div onFocusCapture={loadTagKeys} onPointerEnter={loadTagKeys}>
        <FilterBar place={place} tenant={tenant} tagColumns={tagColumnsOf(tagKeys)} />
      </div>
      <div class="controls" onFocusCapture={loadTagKeys} onPointerEnter={loadTagKeys}>
        <GroupBy place={place} groupBy={shown} tagColumns={tagColumnsOf(tagKeys)} />
        <Choice
          label={text.buckets}
          value={timeBucket}
          options={Object.entries(text.bucketNames)}
          onChoose={(bucket) => go(changed(place, { time_bucket: bucket }))}
        />
        <Choice
          label={text.top}
          value={String(limit)}
          options={limits.map((each) => [String(each), text.topOf(each)])}
          onChoose={(most) => go(changed(place, { limit: most }))}
        />
        <Choice
          label={text.chart}
          value={query.get("chart") ?? "bars"}
          options={[
            ["bars", text.bars],
            ["area", text.area],
          ]}
          onChoose={(chart) => go(changed(place, { chart: chart === "bars" ? undefined : chart }))}
        />
        <label>
          <input
            type="checkbox"
            checked={isCompared}
            onChange={({ currentTarget }) =>
              go(changed(place, { compare: currentTarget.checked ? "previous" : undefined }))
            }
          />{" "}
          {text.compare}
          {comparison && <span class="hint"> ({comparedWith(comparison)})</span>}
        </label>
        <span class="spring" />
        <span class="exports">
          {text.export}:{" "}
          {(["csv", "excel", "parquet"] as const).map((file) => (
            <Download key={file} href={exportAddress(request, file)}>
              {text.files[file]}
            </Download>
          ))}
          <Download href={sqlAddress(linkedRequest, false)} opened="breakdown.sql">
            {text.sql}
          </Download>
          <Download href={sqlAddress(linkedRequest, true)} opened="breakdown.sql">
            {text.sqlOverTime}
          </Download>
          <Download href={breakdownAddress(linkedRequest)} opened="breakdown.json">
            {text.json}
          </Download>
        </span>
      </div>
      {comparison && <ComparedNotes comparison={comparison} />}
      <Shown data={proof} height="4rem">
        {(reconciliation) => (
          <ReconciliationBanner
            reconciliation={reconciliation}
            isOfLines={lineFilters.length > 0}
            filtered={lineFilters.length === filters.length ? undefined : data.value?.breakdown.totals}
          />
        )}
      </Shown>
      <Shown data={data} height="30rem">
        {(result) =>
          result.breakdown.totals.length === 0 ? (
            <Empty title={text.noRows}>
              <p>{text.noRowsHint}</p>
            </Empty>
          ) : (
            result.breakdown.totals.map((totals) => (
              <section class="card" key={totals.currency}>
                <BreakdownChart
                  title={text.title}
                  result={result}
                  currency={totals.currency}
                  kind={query.get("chart") === "area" ? "area" : "bars"}
                  othersHref={othersHref(place, result, totals)}
                  onPick={(group) => go(drilled(place, group, result.request.groupBy) ?? changed(place, {}))}
                />
                <Groups place={place} result={result} totals={totals} order={request.order} />
              </section>
            ))
          )
        }
      </Shown>
      <Rows place={place} tenant={tenant} />
    </>
  );
}

interface GroupByProps {
  readonly place: Place;
  readonly groupBy: readonly string[];
  readonly tagColumns: readonly string[];
}

function GroupBy({ place, groupBy, tagColumns }: GroupByProps) {
  // Include columns that only the address names, such as a tag of the bill.
  const all = [...new Set([...groupColumns, ...tagColumns, ...groupBy])];
  const choose = (index: number, column: string) => {
    const next = groupBy.flatMap((each, at) => (at === index ? [] : [each]));
    if (column !== "") next.splice(index, 0, column);
    go(changed(place, { group_by: [...new Set(next)] }));
  };
  return (
    <span class="group-by">
      {[...groupBy, ...(groupBy.length < MAX_COLUMNS ? [""] : [])].map((column, index) => (
        <label key={index}>
          {index === 0 ? text.groupBy : text.thenBy}{" "}
          <select value={column} onChange={({ currentTarget }) => choose(index, currentTarget.value)}>
            {(index > 0 || groupBy.length > 1) && <option value="">{text.nothing}</option>}
            {all.map((name) => (
              <option key={name} value={name} disabled={name !== column && groupBy.includes(name)}>
                {columnName(name)}
              </option>
            ))}
          </select>
        </label>
      ))}
    </span>
  );
}

/** Address after a click on a group: filtered to the group, and grouped by the next column. The trail leads back. */
function drilled(place: Place, group: BreakdownRow, groupBy: readonly string[]): string | undefined {
  const filters = filtersOf(place);
  const narrowed = groupBy.filter(isFilterColumn);
  const valueIn = (column: string) => group.dimensions[column] ?? "";
  if (narrowed.some((column) => !isFilterable(column, valueIn(column)))) return undefined;
  const changes = narrowed.map((column) =>
    filterParameters({ column, isExcluding: false, values: [valueIn(column)] }),
  );
  const fixed = new Set([...narrowed, ...filters.map(({ column }) => column)]);
  const next = ["resource_id", "identity_id", "product_type", "cost_type"].find(
    (column) => !fixed.has(column as FilterColumn),
  );
  return changed(place, { ...Object.assign({}, ...changes), group_by: next ?? "allocation_method" });
}

/** Breadcrumbs of the filters. Each leads back to the filters up to it. */
function Trail({ place }: { readonly place: Place }) {
  const only = filtersOf(place);
  if (only.length === 0) return null;
  const without = (from: number) => changed(place, withOnly(only, only.slice(0, from)));
  return (
    <nav class="trail" aria-label={text.path}>
      <Link href={without(0)}>{text.everything}</Link>
      {only.map((filter, index) => (
        <span key={JSON.stringify(filter)}>
          {" › "}
          {index === only.length - 1 ? (
            <bdi>{valuesInWords(filter)}</bdi>
          ) : (
            <Link href={without(index + 1)}>
              <bdi>{valuesInWords(filter)}</bdi>
            </Link>
          )}
        </span>
      ))}
    </nav>
  );
}

/** Address with more groups, for what is summed up as others; undefined if there are none, or no more can be shown. */
function othersHref(place: Place, { request, breakdown }: BreakdownResult, totals: Totals) {
  const isCut = breakdown.others.some(({ currency }) => currency === totals.currency);
  const next = limits.find((each) => each >= totals.group_count) ?? MAX_GROUPS;
  return isCut && request.limit < MAX_GROUPS ? changed(place, { limit: String(next) }) : undefined;
}

interface GroupsProps {
  readonly place: Place;
  readonly result: BreakdownResult;
  readonly totals: Totals;
  /** The order in the address: the rows may still have the one before. */
  readonly order: string | undefined;
}

/** A row of the table: a group, or the sum of all others. */
interface Row extends Sums {
  readonly group?: BreakdownRow;
  readonly key: string;
  readonly name: string;
}

function Groups({ place, result, totals, order }: GroupsProps) {
  const { breakdown, request, comparison } = result;
  const { groupBy } = request;
  const whole = bucketAmount(totals);
  const { currency } = totals;
  const { groups, others, unallocated } = listed(breakdown, currency);
  const colors = chartColors(result, currency);
  const rowOf = (group: BreakdownRow): Row => ({
    ...group,
    group,
    key: keyOf(group, groupBy),
    name: nameOf(group, groupBy),
  });
  const rows: Row[] = [
    ...groups.map(rowOf),
    ...(others === undefined ? [] : [{ ...others, key: "", name: en.other(others.group_count) }]),
    ...(unallocated === undefined ? [] : [rowOf(unallocated)]),
  ];
  const number = (sortKey: string, title: string, sumOf: (sums: Sums) => string): TableColumn<Row> => ({
    key: sortKey,
    sortKey,
    title: sortKey === "total_amount" ? en.inCurrency(title, currency) : title,
    isNumber: true,
    leads: sortKey === "total_amount",
    money: (row) => [{ value: exact(sumOf(row)), currency, isNamed: true }],
    totalMoney: [{ value: exact(sumOf(totals)), currency, isNamed: true }],
  });
  const before = (sums: Sums) => exact(sums.previous_amount ?? "0");
  const isUnsure = comparison !== undefined && !isLikeWithLike(comparison);
  const shown: TableColumn<Row>[] = [
    ...groupBy.map(
      (column, index): TableColumn<Row> => ({
        key: column,
        title: columnName(column),
        sortKey: column,
        cell: (row) =>
          index === 0 ? (
            <Name
              row={row}
              place={place}
              columns={groupBy}
              color={colors.get(row.key) ?? OTHERS_COLOR}
              othersHref={othersHref(place, result, totals)}
            />
          ) : (
            <bdi title={row.group?.dimensions[column]}>{row.group && nameOf(row.group, [column])}</bdi>
          ),
      }),
    ),
    number("total_amount", en.overview.amount, ({ total_amount }) => total_amount),
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
            change: (row: Row) => ({ now: bucketAmount(row), before: before(row), currency, isUnsure }),
            totalChange: { now: whole, before: before(totals), currency, isUnsure },
          },
        ]
      : []),
    ...partsOf(totals).map((part) => number(part, text.parts[part], ({ parts }) => parts[part])),
    {
      key: "row_count",
      sortKey: "row_count",
      title: en.overview.rows,
      isNumber: true,
      total: totals.row_count.toLocaleString("en"),
      cell: (row) => row.row_count.toLocaleString("en"),
    },
    {
      key: "why",
      title: "",
      total: <WhySumLink place={place} currency={currency} name={en.total} />,
      cell: ({ group, name }) =>
        group && <WhySumLink place={place} currency={currency} group={group} name={name} />,
    },
  ];
  return (
    <DataTable
      caption={text.title}
      columns={shown}
      rows={rows}
      keyOf={({ key }) => key}
      order={order}
      onSort={(next) => go(changed(place, { order: next }), { replace: true })}
      totalTitle={breakdown.groups.some(({ provisional }) => provisional) ? en.provisionalTotal : en.total}
    />
  );
}

interface NameProps {
  readonly row: Row;
  readonly place: Place;
  readonly columns: readonly string[];
  readonly color: string;
  readonly othersHref: string | undefined;
}

function Name({ row, place, columns: groupBy, color, othersHref: more }: NameProps) {
  const { group } = row;
  const swatch = <Swatch color={color} />;
  if (group === undefined)
    return (
      <>
        {swatch} {more === undefined ? row.name : <Link href={more}>{row.name}</Link>}
      </>
    );
  const inside = drilled(place, group, groupBy);
  const name = <bdi>{nameOf(group, groupBy.slice(0, 1))}</bdi>;
  return (
    <>
      {swatch}{" "}
      {inside === undefined ? (
        name
      ) : (
        <Link href={inside} title={Object.values(group.dimensions).join(" · ")}>
          {name}
        </Link>
      )}
      {group.provisional && (
        <span class="badge" title={text.provisionalGroup}>
          {" ≈"}
          <span class="unseen"> {text.provisionalGroup}</span>
        </span>
      )}
    </>
  );
}
