/** Costs grouped by up to three columns, over time, filtered and compared. A click on a group drills down. */
import { useState } from "preact/hooks";
import { compare, exact, minus } from "../../common/exact-decimal.js";
import {
  type BreakdownRequest,
  type BreakdownRow,
  breakdownAddress,
  breakdownKey,
  bucketAmount,
  exportAddress,
  type Sums,
  sqlAddress,
  type Totals,
} from "../api/breakdown.js";
import { type BreakdownResult, isLikeWithLike, loadCompared } from "../api/comparison.js";
import { tagColumnsOf, useReconciliation, useTagKeys } from "../api/questions.js";
import { percentage } from "../money/amount-text.js";
import { BreakdownChart, keyOf, nameOf } from "../parts/breakdown-chart.js";
import { ComparedNotes, comparedWith } from "../parts/compared.js";
import { Choice } from "../parts/controls.js";
import { Download } from "../parts/download.js";
import { FilterBar, valuesInWords } from "../parts/filter-bar.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { ReconciliationBanner } from "../parts/reconciliation-banner.js";
import { Rows } from "../parts/rows.js";
import { DataTable, type TableColumn } from "../parts/table.js";
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
const limits = [5, 10, 50, 200, 1000];

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
        <h1>{text.title}</h1>
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
                  onPick={(group) => go(drilled(place, group, result.request.groupBy) ?? changed(place, {}))}
                />
                <Groups place={place} result={result} totals={totals} />
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

interface GroupsProps {
  readonly place: Place;
  readonly result: BreakdownResult;
  readonly totals: Totals;
}

/** A row of the table: a group, or the sum of all others. */
interface Row extends Sums {
  readonly group?: BreakdownRow;
  readonly key: string;
  readonly name: string;
}

function Groups({ place, result: { breakdown, request, comparison }, totals }: GroupsProps) {
  const { groupBy } = request;
  const whole = bucketAmount(totals);
  const { currency } = totals;
  const groups = breakdown.groups.filter((group) => group.currency === currency);
  const other = breakdown.others.find((each) => each.currency === currency);
  const rows: Row[] = [
    ...groups.map((group) => ({ ...group, group, key: keyOf(group, groupBy), name: nameOf(group, groupBy) })),
    ...(other === undefined ? [] : [{ ...other, key: "", name: en.other(other.group_count) }]),
  ];
  const [sortKey = "", direction] = (place.query.get("sort") ?? "").split(".");
  const sorting = sortKey === "" ? undefined : { key: sortKey, isDescending: direction === "desc" };
  const textOf = ({ group }: Row, column: string) => (group === undefined ? "" : nameOf(group, [column]));
  const number = (key: string, title: string, sumOf: (sums: Sums) => string): TableColumn<Row> => ({
    key,
    title: key === "total" ? en.inCurrency(title, currency) : title,
    isNumber: true,
    leads: key === "total",
    money: (row) => [{ value: exact(sumOf(row)), currency, isNamed: true }],
    order: (a, b) => compare(exact(sumOf(a)), exact(sumOf(b))),
    totalMoney: [{ value: exact(sumOf(totals)), currency, isNamed: true }],
  });
  const before = (sums: Sums) => exact(sums.previous_amount ?? "0");
  const isUnsure = comparison !== undefined && !isLikeWithLike(comparison);
  const shown: TableColumn<Row>[] = [
    ...groupBy.map(
      (column, index): TableColumn<Row> => ({
        key: column,
        title: columnName(column),
        order: (a, b) => textOf(a, column).localeCompare(textOf(b, column), "en"),
        cell: (row) =>
          index === 0 ? (
            <Name
              row={row}
              place={place}
              columns={groupBy}
              position={groups.indexOf(row.group as BreakdownRow)}
            />
          ) : (
            <bdi title={row.group?.dimensions[column]}>{row.group && nameOf(row.group, [column])}</bdi>
          ),
      }),
    ),
    number("total", en.overview.amount, ({ total_amount }) => total_amount),
    {
      key: "share",
      title: en.overview.share,
      isNumber: true,
      total: percentage(whole, whole),
      cell: (row) => percentage(bucketAmount(row), whole),
    },
    ...(comparison !== undefined
      ? [
          number("before", en.overview.before, ({ previous_amount }) => previous_amount ?? "0"),
          {
            key: "change",
            title: en.overview.change,
            isNumber: true,
            change: (row: Row) => ({ now: bucketAmount(row), before: before(row), currency, isUnsure }),
            order: (a: Row, b: Row) =>
              compare(minus(bucketAmount(a), before(a)), minus(bucketAmount(b), before(b))),
            totalChange: { now: whole, before: before(totals), currency, isUnsure },
          },
        ]
      : []),
    number("usage", text.usage, ({ usage_amount }) => usage_amount),
    number("shared", text.shared, ({ shared_amount }) => shared_amount),
    // Only tenants with steps of `pass_on` have costs that were passed on.
    ...(totals.passed_amount === "0"
      ? []
      : [number("passed", text.passed, ({ passed_amount }) => passed_amount)]),
    {
      key: "rows",
      title: en.overview.rows,
      isNumber: true,
      total: totals.row_count.toLocaleString("en"),
      cell: (row) => row.row_count.toLocaleString("en"),
      order: (a, b) => a.row_count - b.row_count,
    },
  ];
  return (
    <DataTable
      caption={text.title}
      columns={shown}
      rows={rows}
      keyOf={({ key }) => key}
      sorting={sorting}
      onSort={({ key, isDescending }) =>
        go(changed(place, { sort: `${key}.${isDescending ? "desc" : "asc"}` }), { replace: true })
      }
      totalTitle={groups.some(({ provisional }) => provisional) ? en.provisionalTotal : en.total}
    />
  );
}

interface NameProps {
  readonly row: Row;
  readonly place: Place;
  readonly columns: readonly string[];
  readonly position: number;
}

function Name({ row, place, columns: groupBy, position }: NameProps) {
  const { group } = row;
  const swatch = (
    <span class={`swatch color-${position < 0 || position >= 10 ? 0 : position + 1}`} aria-hidden="true" />
  );
  if (group === undefined)
    return (
      <>
        {swatch} {row.name}
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
