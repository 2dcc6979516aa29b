/** Costs of Kafka clusters by topic, cluster or product, over time. A click on a group narrows to it. */
import { exact } from "../../common/exact-decimal.js";
import { addressOf, bucketAmount, listed, MAX_GROUPS, tenantPath } from "../api/breakdown.js";
import type { Schemas } from "../api/client.js";
import { get } from "../api/use-api.js";
import { percentage } from "../money/amount-text.js";
import { BreakdownChart, type ChartedResult, chartColors, keyOf, nameOf } from "../parts/breakdown-chart.js";
import { Swatch } from "../parts/chart-tip.js";
import { Choice, PlaceSearch } from "../parts/controls.js";
import { Download } from "../parts/download.js";
import { Chip } from "../parts/filter-bar.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { shownPeriod } from "../parts/period-picker.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { OTHERS_COLOR } from "../state/colors.js";
import { changed, go, type Place } from "../state/location.js";
import { bucketFor, periodOf, periodParameters } from "../state/period.js";
import { useLoaded } from "../state/use-data.js";
import { columnName, en } from "../text/en.js";

const text = en.topics;

/** Columns to group and to filter by, and the column to group by once a value of it is chosen. */
const columns = {
  topic_name: "product_type",
  cluster_resource_id: "topic_name",
  product_type: "topic_name",
  attribution_method: "topic_name",
} as const;
type Column = keyof typeof columns;
const columnNames = Object.keys(columns) as Column[];
const limits = [10, 50, 200, MAX_GROUPS];
const lengths = ["day", "week", "month"] as const;

type Breakdown = Schemas["TopicBreakdown"];
type Group = Breakdown["groups"][number];
interface Result extends Omit<ChartedResult<Group>, "breakdown"> {
  readonly breakdown: Breakdown;
}

interface TopicsRequest extends Pick<Result, "request"> {
  readonly query: object;
}

async function loadTopics({ request, query }: TopicsRequest, signal: AbortSignal): Promise<Result> {
  const params = { path: { tenant_name: request.tenant }, query };
  const path = "/api/v1/tenants/{tenant_name}/topic-attributions/breakdown";
  return { breakdown: await get(path, params, signal), request, coveredDays: undefined };
}

export function Topics({ place, tenant }: { readonly place: Place; readonly tenant: string }) {
  const { query } = place;
  const period = periodOf(place);
  const by = columnNames.find((each) => each === query.get("group_by")) ?? "topic_name";
  const timeBucket = lengths.find((each) => each === query.get("time_bucket")) ?? bucketFor(period);
  const limit = limits.find((each) => each === Number(query.get("limit"))) ?? 10;
  const order = sortKeys.includes((query.get("order") ?? "").replace(/\.(asc|desc)$/, ""))
    ? (query.get("order") ?? undefined)
    : undefined;
  const search = query.get("search") ?? "";
  const filters = columnNames.flatMap((column) => query.getAll(column).map((value) => ({ column, value })));
  const parameters = {
    ...periodParameters(period),
    group_by: [by],
    time_bucket: timeBucket,
    limit,
    ...(order !== undefined && { order }),
    ...(search !== "" && { search }),
    ...Object.fromEntries(columnNames.map((column) => [column, query.getAll(column)])),
  };
  const data = useLoaded(loadTopics, {
    request: { tenant, period, groupBy: [by], timeBucket },
    query: parameters,
  });
  const without = (column: Column, value: string) =>
    changed(place, { [column]: query.getAll(column).filter((each) => each !== value) });
  return (
    <>
      <div class="title">
        <h1>{text.title}</h1>
        <span class="hint">{shownPeriod(period)}</span>
      </div>
      <p>{text.lead}</p>
      <section class="filters" aria-label={en.filters.label}>
        {filters.map(({ column, value }) => (
          <Chip
            key={`${column} ${value}`}
            filter={{ column, isExcluding: false, values: [shownValue(column, value)] }}
            rest={without(column, value)}
          />
        ))}
      </section>
      <div class="controls">
        <Choice
          label={text.groupBy}
          value={by}
          options={columnNames.map((column) => [column, columnName(column)])}
          onChoose={(column) => go(changed(place, { group_by: column, order: undefined }))}
        />
        <Choice
          label={en.explorer.buckets}
          value={timeBucket}
          options={lengths.map((length) => [length, en.explorer.bucketNames[length] ?? length])}
          onChoose={(length) => go(changed(place, { time_bucket: length }))}
        />
        <Choice
          label={en.explorer.top}
          value={String(limit)}
          options={limits.map((each) => [String(each), en.explorer.topOf(each)])}
          onChoose={(most) => go(changed(place, { limit: most }))}
        />
        <PlaceSearch place={place} label={text.search} />
        <span class="spring" />
        <Download href={addressOf(`${tenantPath(tenant)}/topic-attributions/breakdown`, parameters)} opened>
          {text.json}
        </Download>
      </div>
      <Shown data={data} isMain>
        {(result) =>
          result.breakdown.totals.length === 0 ? (
            <Empty title={search === "" && filters.length === 0 ? text.nothing : text.noMatch}>
              <p>{search === "" && filters.length === 0 ? text.nothingHint : en.explorer.noRowsHint}</p>
            </Empty>
          ) : (
            result.breakdown.totals.map((totals) => (
              <section class="card" key={totals.currency}>
                <BreakdownChart
                  place={place}
                  title={text.title}
                  result={result}
                  currency={totals.currency}
                  hrefOf={(group) => narrowed(place, by, group)}
                />
                <Groups place={place} result={result} totals={totals} by={by} order={order} />
              </section>
            ))
          )
        }
      </Shown>
    </>
  );
}

const sortKeys: readonly string[] = [...columnNames, "total_amount", "usage_amount", "shared_amount"];

const shownValue = (column: Column, value: string) =>
  column === "attribution_method" ? (text.methods[value] ?? value) : value;

/** The address with only the group, divided by the next column. */
function narrowed(place: Place, by: Column, group: Group): string {
  return changed(place, {
    [by]: group.dimensions[by],
    group_by: columns[by],
    order: undefined,
    search: undefined,
  });
}

interface GroupsProps {
  readonly place: Place;
  readonly result: Result;
  readonly totals: Breakdown["totals"][number];
  readonly by: Column;
  readonly order: string | undefined;
}

/** A group, or the sum of all others. */
type Row = Pick<Group, "total_amount" | "usage_amount" | "shared_amount"> & {
  readonly key: string;
  readonly name: string;
  readonly href?: string;
};

function Groups({ place, result, totals, by, order }: GroupsProps) {
  const { currency } = totals;
  const { groups, others, unallocated } = listed(result.breakdown, currency);
  const colors = chartColors(result, currency);
  const rowOf = (group: Group): Row => ({
    ...group,
    key: keyOf(group, [by]),
    name: shownValue(by, nameOf(group, [by])),
    href: narrowed(place, by, group),
  });
  const rows: Row[] = [
    ...groups.map(rowOf),
    ...(others === undefined ? [] : [{ ...others, key: "", name: en.other(others.group_count) }]),
    ...(unallocated === undefined ? [] : [rowOf(unallocated)]),
  ];
  const whole = bucketAmount(totals);
  const money = (
    key: "total_amount" | "usage_amount" | "shared_amount",
    title: string,
  ): TableColumn<Row> => ({
    key,
    sortKey: key,
    title,
    isNumber: true,
    leads: key === "total_amount",
    money: (row) => [{ value: exact(row[key]), currency, isNamed: true }],
    totalMoney: [{ value: exact(totals[key]), currency, isNamed: true }],
  });
  const shown: TableColumn<Row>[] = [
    {
      key: by,
      sortKey: by,
      title: columnName(by),
      cell: ({ key, name, href }) => (
        <>
          <Swatch color={colors.get(key) ?? OTHERS_COLOR} />{" "}
          {href === undefined ? (
            name
          ) : (
            <Link href={href}>
              <bdi>{name}</bdi>
            </Link>
          )}
        </>
      ),
    },
    money("total_amount", en.inCurrency(en.overview.amount, currency)),
    {
      key: "share",
      title: en.overview.share,
      isNumber: true,
      total: percentage(whole, whole),
      cell: (row) => percentage(bucketAmount(row), whole),
    },
    money("usage_amount", text.measured),
    money("shared_amount", text.even),
  ];
  return (
    <DataTable
      caption={text.title}
      columns={shown}
      rows={rows}
      keyOf={({ key }) => key}
      order={order}
      onSort={(next) => go(changed(place, { order: next }), { replace: true })}
      totalTitle={
        result.breakdown.groups.some(({ provisional }) => provisional) ? en.provisionalTotal : en.total
      }
    />
  );
}
