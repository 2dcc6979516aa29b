/** Costs by whatever one asks for: grouped by up to three columns, over time, filtered, compared, and drilled into by a click. */
import {
  addressOf,
  amountOf,
  askBreakdown,
  type Breakdown,
  type BreakdownQuestion,
  breakdownKey,
  breakdownQuery,
  type Group,
  type Sums,
  type Totals,
} from "../api/breakdown.js";
import { api, bodyOf } from "../api/client.js";
import { compare, decimal, minus, percentage } from "../money/decimal.js";
import { Amount, Change } from "../parts/amount.js";
import { BreakdownChart, keyOf, nameOf } from "../parts/breakdown-chart.js";
import { FilterBar } from "../parts/filter-bar.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { type Column, Table } from "../parts/table.js";
import {
  type FilterColumn,
  asParameters as filterParameters,
  filterQuery,
  filtersOf,
  isFilterColumn,
} from "../state/filters.js";
import { changed, go, type Place } from "../state/location.js";
import { asParameters, bucketFor, periodOf } from "../state/period.js";
import { useData } from "../state/use-data.js";
import { columnName, en } from "../text/en.js";

const text = en.explorer;

const columns = [
  ...["identity_id", "team", "resource_id", "product_type", "product_category"],
  ...["environment_id", "cost_type", "allocation_method", "currency"],
];
const MOST_COLUMNS = 3;
const limits = [5, 10, 50, 200, 1000];

export function Explorer({ place, tenant }: { readonly place: Place; readonly tenant: string }) {
  const keys = useData(JSON.stringify(["tag keys", tenant]), (signal) => tagKeys(tenant, signal));
  const { query } = place;
  const period = periodOf(place);
  const groupBy = query.getAll("group_by").slice(0, MOST_COLUMNS);
  const shown = groupBy.length === 0 ? ["identity_id"] : groupBy;
  const timeBucket = query.get("time_bucket") ?? bucketFor(period);
  const limit = limits.find((each) => each === Number(query.get("limit"))) ?? 10;
  const isCompared = query.get("compare") === "previous";
  const filters = filtersOf(place);
  const question: BreakdownQuestion = {
    tenant,
    period,
    filters,
    groupBy: shown,
    timeBucket,
    limit,
    compare: isCompared,
  };
  const data = useData(breakdownKey(question), (signal) => askBreakdown(question, signal));
  const base = `/api/v1/tenants/${encodeURIComponent(tenant)}/chargebacks`;
  const rows = { ...asParameters(period), ...filterQuery(filters) };
  return (
    <>
      <div class="title">
        <h1>{text.title}</h1>
        <Trail place={place} />
      </div>
      <FilterBar place={place} tenant={tenant} tagKeys={keys.value ?? []} />
      <div class="controls">
        <GroupBy place={place} groupBy={shown} tagKeys={keys.value ?? []} />
        <label>
          {text.buckets}{" "}
          <select
            value={timeBucket}
            onChange={({ currentTarget }) => go(changed(place, { time_bucket: currentTarget.value }))}
          >
            {Object.entries(text.bucketNames).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <label>
          {text.top}{" "}
          <select
            value={String(limit)}
            onChange={({ currentTarget }) => go(changed(place, { limit: currentTarget.value }))}
          >
            {limits.map((each) => (
              <option key={each} value={String(each)}>
                {text.topOf(each)}
              </option>
            ))}
          </select>
        </label>
        <label>
          {text.chart}{" "}
          <select
            value={query.get("chart") ?? "bars"}
            onChange={({ currentTarget }) =>
              go(changed(place, { chart: currentTarget.value === "bars" ? undefined : currentTarget.value }))
            }
          >
            <option value="bars">{text.bars}</option>
            <option value="area">{text.area}</option>
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={isCompared}
            onChange={({ currentTarget }) =>
              go(changed(place, { compare: currentTarget.checked ? "previous" : undefined }))
            }
          />{" "}
          {text.compare}
        </label>
        <span class="spring" />
        <span class="exports">
          {text.export}:{" "}
          {["csv", "parquet"].map((format) => (
            <a key={format} href={addressOf(`${base}/export`, { ...rows, format })} download>
              {format === "csv" ? "CSV" : "Parquet"}
            </a>
          ))}
          <a href={addressOf(`${base}/breakdown`, breakdownQuery(question))}>{text.json}</a>
        </span>
      </div>
      <Shown data={data} height="30rem">
        {(found) =>
          found.totals.length === 0 ? (
            <Empty title={text.noRows}>
              <p>{text.noRowsHint}</p>
            </Empty>
          ) : (
            found.totals.map((totals) => (
              <section class="card" key={totals.currency}>
                <BreakdownChart
                  title={text.title}
                  found={found}
                  currency={totals.currency}
                  columns={shown}
                  kind={query.get("chart") === "area" ? "area" : "bars"}
                  onPick={(group) => go(drilled(place, group, shown))}
                />
                <Groups {...{ place, tenant, found, totals }} columns={shown} isCompared={isCompared} />
              </section>
            ))
          )
        }
      </Shown>
    </>
  );
}

async function tagKeys(tenant: string, signal: AbortSignal): Promise<string[]> {
  const query = { page_size: 1000 };
  const { items } = await bodyOf(
    api.GET("/api/v1/tenants/{tenant_name}/tags", {
      params: { path: { tenant_name: tenant }, query },
      signal,
    }),
  );
  return [...new Set(items.map(({ tag_key }) => tag_key))].sort();
}

interface GroupByProps {
  readonly place: Place;
  readonly groupBy: readonly string[];
  readonly tagKeys: readonly string[];
}

function GroupBy({ place, groupBy, tagKeys }: GroupByProps) {
  const all = [...columns, ...tagKeys.map((key) => `tag:${key}`)];
  const choose = (index: number, column: string) => {
    const next = groupBy.flatMap((each, at) => (at === index ? [] : [each]));
    if (column !== "") next.splice(index, 0, column);
    go(changed(place, { group_by: [...new Set(next)] }));
  };
  return (
    <span class="group-by">
      {[...groupBy, ...(groupBy.length < MOST_COLUMNS ? [""] : [])].map((column, index) => (
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

/** Where a click on a group leads: only it, by what one would ask next. The columns come back by the trail. */
function drilled(place: Place, group: Group, groupBy: readonly string[]): string {
  const filters = filtersOf(place);
  const narrowed = groupBy.filter(isFilterColumn);
  const changes = narrowed.map((column) =>
    filterParameters({ column, values: [group.dimensions[column] ?? ""] }),
  );
  const fixed = new Set([...narrowed, ...filters.map(({ column }) => column)]);
  const next = ["resource_id", "identity_id", "product_type", "cost_type"].find(
    (column) => !fixed.has(column as FilterColumn),
  );
  return changed(place, { ...Object.assign({}, ...changes), group_by: next ?? "allocation_method" });
}

/** The filters that were drilled through, each a way back. */
function Trail({ place }: { readonly place: Place }) {
  const only = filtersOf(place);
  if (only.length === 0) return null;
  const without = (from: number) =>
    changed(
      place,
      Object.assign({}, ...only.slice(from).map((filter) => filterParameters({ ...filter, values: [] }))),
    );
  return (
    <nav class="trail" aria-label={text.path}>
      <Link href={without(0)}>{text.everything}</Link>
      {only.map((filter, index) => (
        <span key={filter.column}>
          {" › "}
          {index === only.length - 1 ? (
            <bdi>{filter.values.join(", ")}</bdi>
          ) : (
            <Link href={without(index + 1)}>
              <bdi>{filter.values.join(", ")}</bdi>
            </Link>
          )}
        </span>
      ))}
    </nav>
  );
}

interface GroupsProps {
  readonly place: Place;
  readonly tenant: string;
  readonly found: Breakdown;
  readonly totals: Totals;
  readonly columns: readonly string[];
  readonly isCompared: boolean;
}

/** A row of the table: a group, or all others together. */
interface Row extends Sums {
  readonly group?: Group;
  readonly key: string;
  readonly name: string;
}

function Groups({ place, found, totals, columns: groupBy, isCompared }: GroupsProps) {
  const whole = amountOf(totals);
  const { currency } = totals;
  const groups = found.groups.filter((group) => group.currency === currency);
  const other = found.others.find((each) => each.currency === currency);
  const rows: Row[] = [
    ...groups.map((group) => ({ ...group, group, key: keyOf(group, groupBy), name: nameOf(group, groupBy) })),
    ...(other === undefined ? [] : [{ ...other, key: "", name: en.other(other.group_count) }]),
  ];
  const [sortKey = "", direction] = (place.query.get("sort") ?? "").split(".");
  const sorting = sortKey === "" ? undefined : { key: sortKey, isDescending: direction === "desc" };
  const textOf = ({ group }: Row, column: string) => (group === undefined ? "" : nameOf(group, [column]));
  const number = (key: string, title: string, of: (sums: Sums) => string): Column<Row> => ({
    ...{ key, title, isNumber: true },
    cell: (row) => <Amount value={decimal(of(row))} />,
    order: (a, b) => compare(decimal(of(a)), decimal(of(b))),
    total: <Amount value={decimal(of(totals))} currency={key === "total" ? currency : undefined} />,
  });
  const before = (sums: Sums) => decimal(sums.previous_amount ?? "0");
  const shown: Column<Row>[] = [
    ...groupBy.map(
      (column, index): Column<Row> => ({
        key: column,
        title: columnName(column),
        order: (a, b) => textOf(a, column).localeCompare(textOf(b, column), "en"),
        cell: (row) =>
          index === 0 ? (
            <Name row={row} place={place} columns={groupBy} position={groups.indexOf(row.group as Group)} />
          ) : (
            <bdi title={row.group?.dimensions[column]}>{row.group && nameOf(row.group, [column])}</bdi>
          ),
      }),
    ),
    number("total", en.overview.amount, ({ total_amount }) => total_amount),
    {
      ...{ key: "share", title: en.overview.share, isNumber: true, total: percentage(whole, whole) },
      cell: (row) => percentage(amountOf(row), whole),
    },
    ...(isCompared
      ? [
          number("before", en.overview.before, ({ previous_amount }) => previous_amount ?? "0"),
          {
            ...{ key: "change", title: en.overview.change, isNumber: true },
            cell: (row: Row) => <Change now={amountOf(row)} before={before(row)} />,
            order: (a: Row, b: Row) => compare(minus(amountOf(a), before(a)), minus(amountOf(b), before(b))),
            total: <Change now={whole} before={before(totals)} />,
          },
        ]
      : []),
    number("usage", text.usage, ({ usage_amount }) => usage_amount),
    number("shared", text.shared, ({ shared_amount }) => shared_amount),
    {
      ...{
        key: "rows",
        title: en.overview.rows,
        isNumber: true,
        total: totals.row_count.toLocaleString("en"),
      },
      cell: (row) => row.row_count.toLocaleString("en"),
      order: (a, b) => a.row_count - b.row_count,
    },
  ];
  return (
    <Table
      caption={text.title}
      columns={shown}
      rows={rows}
      keyOf={({ key }) => key}
      sorting={sorting}
      onSort={({ key, isDescending }) =>
        go(changed(place, { sort: `${key}.${isDescending ? "desc" : "asc"}` }), { replace: true })
      }
      totalTitle={en.total}
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
  return (
    <>
      {swatch}{" "}
      <Link href={drilled(place, group, groupBy)} title={Object.values(group.dimensions).join(" · ")}>
        <bdi>{nameOf(group, groupBy.slice(0, 1))}</bdi>
      </Link>
      {group.provisional && <span class="badge"> {"≈"}</span>}
    </>
  );
}
