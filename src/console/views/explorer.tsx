/** Costs grouped by up to three columns, over time, filtered and compared. A click on a group drills down. */
import { useContext, useState } from "preact/hooks";
import {
  type BreakdownRequest,
  breakdownAddress,
  exportAddress,
  type OtherCost,
  otherCosts,
  sqlAddress,
} from "../api/breakdown.js";
import { loadCompared } from "../api/comparison.js";
import { tagColumnsOf, useReconciliation, useTagKeys } from "../api/questions.js";
import { BreakdownChart } from "../parts/breakdown-chart.js";
import { CompareChoice } from "../parts/compare-choice.js";
import { ComparedNotes } from "../parts/compared.js";
import { Choice } from "../parts/controls.js";
import { Download } from "../parts/download.js";
import { drilled, limits, othersHref } from "../parts/drill-down.js";
import { FilterBar } from "../parts/filter-bar.js";
import { Groups, GroupsOverTime } from "../parts/groups-table.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { ReconciliationBanner } from "../parts/reconciliation-banner.js";
import { Rows } from "../parts/rows.js";
import { type Names, useNames } from "../parts/whose.js";
import { SignedInCaller } from "../state/caller.js";
import { type Filter, filtersOf, isOfLines, withOnly } from "../state/filters.js";
import { changed, go, type Place } from "../state/location.js";
import { bucketFor, comparedPeriod, periodOf } from "../state/period.js";
import { useLoaded } from "../state/use-data.js";
import { columnName, en } from "../text/en.js";
import { valuesInWords } from "../text/filter-words.js";

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
  const before = comparedPeriod(place);
  const isCompared = before !== undefined;
  const isOverTime = query.get("table") === "time";
  const sorts = [...shown, ...sortKeys, ...(isCompared ? comparedSortKeys : [])];
  const orders = sorts.flatMap((by) => [`${by}.asc`, `${by}.desc`]);
  const costs = useOtherCosts(tenant);
  const cost = costs.find((each) => each === query.get("cost"));
  const filters = filtersOf(place);
  const names = useNames({ tenant, period, filters });
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
    before,
    cost,
  };
  const data = useLoaded(loadCompared, request);
  const current = data.isStale ? undefined : data.value;
  const comparison = current?.comparison;
  const Table = isOverTime ? GroupsOverTime : Groups;
  const linkedRequest = current?.request ?? request;
  return (
    <>
      <div class="title">
        <h1>{en.views.explorer}</h1>
        <Trail place={place} names={names} />
      </div>
      <div onFocusCapture={loadTagKeys} onPointerEnter={loadTagKeys}>
        <FilterBar place={place} tenant={tenant} tagColumns={tagColumnsOf(tagKeys)} names={names} />
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
        <Choice
          label={text.table}
          value={isOverTime ? "time" : ""}
          options={[
            ["", text.sums],
            ["time", text.overTime],
          ]}
          onChoose={(table) => go(changed(place, { table: table === "" ? undefined : table }))}
        />
        {costs.length > 0 && (
          <Choice
            label={text.cost}
            value={cost ?? "charged"}
            options={(["charged", ...costs] as const).map((each) => [each, text.costs[each]])}
            onChoose={(chosen) => go(changed(place, { cost: chosen === "charged" ? undefined : chosen }))}
          />
        )}
        <CompareChoice place={place} comparison={comparison} />
        <span class="spring" />
        <span class="exports">
          {text.export}:{" "}
          {cost === undefined &&
            (["csv", "excel", "parquet"] as const).map((file) => (
              <Download key={file} href={exportAddress(request, file)}>
                {text.files[file]}
              </Download>
            ))}
          <Download href={sqlAddress(linkedRequest, false)} opened>
            {text.sql}
          </Download>
          <Download href={sqlAddress(linkedRequest, true)} opened>
            {text.sqlOverTime}
          </Download>
          <Download href={breakdownAddress(linkedRequest)} opened>
            {text.json}
          </Download>
        </span>
      </div>
      <Shown data={proof} height="var(--proof)">
        {(reconciliation) => (
          <ReconciliationBanner
            reconciliation={reconciliation}
            isOfLines={lineFilters.length > 0}
            filtered={
              lineFilters.length === filters.length || cost !== undefined
                ? undefined
                : data.value?.breakdown.totals
            }
          />
        )}
      </Shown>
      {cost !== undefined && (
        <p class="hint">
          {text.otherCostHints[cost]} {text.otherCostHint}
        </p>
      )}
      {comparison && <ComparedNotes comparison={comparison} />}
      <Shown data={data} isMain>
        {(result) =>
          result.breakdown.totals.length === 0 ? (
            <Empty title={text.noRows}>
              <p>{text.noRowsHint}</p>
            </Empty>
          ) : (
            result.breakdown.totals.map((totals) => (
              <section class="card" key={totals.currency}>
                <BreakdownChart
                  title={
                    result.request.cost === undefined ? text.title : text.otherCosts[result.request.cost]
                  }
                  place={place}
                  result={result}
                  currency={totals.currency}
                  kind={query.get("chart") === "area" ? "area" : "bars"}
                  othersHref={othersHref(place, result, totals)}
                  hrefOf={(group) => drilled(place, group, result.request.groupBy)}
                />
                <Table place={place} result={result} totals={totals} order={request.order} />
              </section>
            ))
          )
        }
      </Shown>
      <Rows place={place} tenant={tenant} />
    </>
  );
}

/** The costs that the tenant's bills have besides the charged one. */
function useOtherCosts(tenant: string): readonly OtherCost[] {
  return useContext(SignedInCaller)?.ecosystems[tenant] === "focus" ? otherCosts : [];
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

/** Breadcrumbs of the filters. Each leads back to the filters up to it. */
function Trail({ place, names }: { readonly place: Place; readonly names: Names | undefined }) {
  const only = filtersOf(place);
  const wordsOf = (filter: Filter) => valuesInWords(filter, (value) => names?.(filter.column, value));
  if (only.length === 0) return null;
  const without = (from: number) => changed(place, withOnly(only, only.slice(0, from)));
  return (
    <nav class="trail" aria-label={text.path}>
      <Link href={without(0)}>{text.everything}</Link>
      {only.map((filter, index) => (
        <span key={JSON.stringify(filter)}>
          {" › "}
          {index === only.length - 1 ? (
            <bdi>{wordsOf(filter)}</bdi>
          ) : (
            <Link href={without(index + 1)}>
              <bdi>{wordsOf(filter)}</bdi>
            </Link>
          )}
        </span>
      ))}
    </nav>
  );
}
