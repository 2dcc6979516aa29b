/** Overview of costs: total, change, reconciliation, costs over time, largest changes and issues. */
import { firstOfMonth, lastOfMonth } from "../../common/days.js";
import { exact } from "../../common/exact-decimal.js";
import {
  type BreakdownRequest,
  type BreakdownRow,
  breakdownKey,
  isUnallocated,
  loadBreakdown,
  MAX_GROUPS,
  type Sums,
} from "../api/breakdown.js";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { type BreakdownResult, isLikeWithLike, loadCompared } from "../api/comparison.js";
import { useReconciliation } from "../api/questions.js";
import { approximate } from "../money/amount-text.js";
import { forecastOf, shownEstimate } from "../money/forecast.js";
import { AmountCell, Change } from "../parts/amount.js";
import { BreakdownChart, nameOf } from "../parts/breakdown-chart.js";
import { ComparedNotes, comparedWith } from "../parts/compared.js";
import { Link } from "../parts/link.js";
import { Shown } from "../parts/messages.js";
import { NoCosts } from "../parts/no-costs.js";
import { shownPeriod } from "../parts/period-picker.js";
import { PeriodProof } from "../parts/reconciliation-banner.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { currentDay, dayCount, shownInstant, shownMonth } from "../state/days.js";
import { changed, datesAlone, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { bucketFor, type Period, periodOf } from "../state/period.js";
import { useData } from "../state/use-data.js";
import { en, issueReasons, reasonOf } from "../text/en.js";

const text = en.overview;

interface ViewProps {
  readonly place: Place;
  readonly tenant: string;
}

export function Overview({ place, tenant }: ViewProps) {
  const period = periodOf(place);
  const request = { tenant, period, filters: [], groupBy: ["identity_id"], compare: true };
  const overTime: BreakdownRequest = { ...request, timeBucket: bucketFor(period), limit: 8, movers: 8 };
  const costs = useData(`overview ${breakdownKey(overTime)}`, (signal) => loadCompared(overTime, signal));
  const current = costs.isStale ? undefined : costs.value;
  const comparison = current?.comparison;
  const hasCosts = current && current.breakdown.totals.length > 0;
  const now = currentDay();
  const month: Period = { first: firstOfMonth(now), last: lastOfMonth(now) };
  const soFar = useReconciliation(tenant, month).value?.days ?? [];
  return (
    <>
      <div class="title">
        <h1>{text.title}</h1>
        <span class="hint">
          {shownPeriod(period)}
          {comparison && `, ${comparedWith(comparison)}`}
        </span>
      </div>
      {comparison && hasCosts && <ComparedNotes comparison={comparison} />}
      <PeriodProof tenant={tenant} period={period} />
      <Shown data={costs} height="28rem">
        {(result) =>
          result.breakdown.totals.length === 0 ? (
            <NoCosts tenant={tenant} />
          ) : (
            result.breakdown.totals.map((totals) => (
              <section class="card" key={totals.currency}>
                <div class="heads">
                  <Headline result={result} totals={totals} />
                  {period.first <= month.last && period.last >= month.first && (
                    <Forecast month={month} days={soFar} currency={totals.currency} />
                  )}
                </div>
                <h2>
                  {text.overTime}
                  <Link
                    class="quiet"
                    href={changed(
                      datesAlone(place),
                      { group_by: "identity_id", compare: "previous" },
                      viewPath(tenant, "explorer"),
                    )}
                  >
                    {text.more}
                  </Link>
                </h2>
                <BreakdownChart
                  title={text.overTime}
                  result={result}
                  currency={totals.currency}
                  othersHref={
                    totals.group_count > result.breakdown.limit
                      ? changed(
                          datesAlone(place),
                          { group_by: "identity_id", limit: String(MAX_GROUPS) },
                          viewPath(tenant, "explorer"),
                        )
                      : undefined
                  }
                />
              </section>
            ))
          )
        }
      </Shown>
      <div class="pair">
        <section class="card">
          <h2>{comparison?.firstDay === undefined ? text.movers : text.largest}</h2>
          <Shown data={costs}>{(result) => <Movers result={result} place={place} tenant={tenant} />}</Shown>
        </section>
        <Issues tenant={tenant} period={period} place={place} hasCosts={hasCosts} />
      </div>
      <LastRun tenant={tenant} />
    </>
  );
}

function Headline({ result, totals }: { readonly result: BreakdownResult; readonly totals: Sums }) {
  const now = exact(totals.total_amount);
  return (
    <div class="head">
      <div class="hint">
        {text.cost}, {shownPeriod(result.request.period)}
      </div>
      <div class="large">
        <AmountCell value={now} currency={totals.currency} />
      </div>
      {totals.previous_amount !== undefined && (
        <Change
          now={now}
          before={exact(totals.previous_amount)}
          currency={totals.currency}
          isUnsure={isUnsure(result)}
        />
      )}
    </div>
  );
}

const isUnsure = ({ comparison }: BreakdownResult) => comparison === undefined || !isLikeWithLike(comparison);

interface ForecastProps {
  readonly month: Period;
  /** Days of the month, in all currencies. */
  readonly days: Schemas["Reconciliation"]["days"];
  readonly currency: string;
}

/** Forecast of the current month, as a range. */
function Forecast({ month, days, currency }: ForecastProps) {
  const costs = days
    .filter((day) => day.currency === currency)
    .map(({ billing_amount }) => approximate(exact(billing_amount)));
  const left = dayCount(month.first, month.last) - costs.length;
  const range = forecastOf(costs, left);
  if (range === undefined) return null;
  return (
    <div class="head" title={text.forecastHint(costs.length)}>
      <div class="hint">{text.forecast(shownMonth(month.first))}</div>
      <div class="large">
        {[...new Set(range.map(shownEstimate))].join(" – ")} <span class="currency">{currency}</span>
      </div>
    </div>
  );
}

interface MoversProps extends ViewProps {
  readonly result: BreakdownResult;
}

function Movers({ result, place, tenant }: MoversProps) {
  const { groups, movers = groups } = result.breakdown;
  const isCompared = result.breakdown.movers !== undefined;
  const moved = movers.filter(({ previous_amount: before, total_amount: now }) => before !== now);
  const rows = [...moved.filter((group) => !isUnallocated(group)), ...moved.filter(isUnallocated)];
  const columns: TableColumn<BreakdownRow>[] = [
    {
      key: "identity",
      title: en.columns.identity_id ?? "",
      cell: (group) => <GroupLink group={group} place={place} tenant={tenant} />,
    },
    {
      key: "now",
      title: text.amount,
      isNumber: true,
      leads: true,
      money: (group) => [{ value: exact(group.total_amount), currency: group.currency }],
    },
  ];
  if (isCompared)
    columns.push({
      key: "change",
      title: text.change,
      isNumber: true,
      change: ({ total_amount, previous_amount, currency }) => ({
        currency,
        now: exact(total_amount),
        before: exact(previous_amount ?? "0"),
        isUnsure: isUnsure(result),
      }),
    });
  return rows.length === 0 ? (
    <p class="hint">{en.change.none}</p>
  ) : (
    <DataTable
      caption={isCompared ? text.movers : text.largest}
      columns={columns}
      rows={rows}
      keyOf={(group) => `${group.currency} ${group.dimensions.identity_id}`}
    />
  );
}

function GroupLink({ group, place, tenant }: ViewProps & { readonly group: BreakdownRow }) {
  const id = group.dimensions.identity_id ?? "";
  const changes = { identity_id: id, group_by: ["resource_id", "product_type"], compare: "previous" };
  return (
    <Link href={changed(datesAlone(place), changes, viewPath(tenant, "explorer"))} title={id}>
      <bdi>{nameOf(group, ["identity_id"])}</bdi>
    </Link>
  );
}

interface PeriodViewProps extends ViewProps {
  readonly period: Period;
}

/** Costs that need attention, by reason. */
function Issues({
  tenant,
  period,
  place,
  hasCosts,
}: PeriodViewProps & { readonly hasCosts: boolean | undefined }) {
  const request: BreakdownRequest = {
    tenant,
    period,
    limit: issueReasons.length,
    groupBy: ["allocation_detail"],
    filters: [{ column: "allocation_detail", isExcluding: false, values: issueReasons }],
  };
  const data = useData(breakdownKey(request), (signal) => loadBreakdown(request, signal));
  const columns: TableColumn<BreakdownRow>[] = [
    {
      key: "reason",
      title: text.reason,
      cell: ({ dimensions: { allocation_detail } }) => (
        <Link href={changed(datesAlone(place), { allocation_detail }, viewPath(tenant, "worklist"))}>
          {reasonOf(allocation_detail)}
        </Link>
      ),
    },
    {
      key: "rows",
      title: text.rows,
      isNumber: true,
      cell: ({ row_count }) => row_count.toLocaleString("en"),
    },
    {
      key: "amount",
      title: text.amount,
      isNumber: true,
      leads: true,
      money: (group) => [{ value: exact(group.total_amount), currency: group.currency }],
    },
  ];
  return (
    <section class="card">
      <h2>
        {text.issues}
        <Link class="quiet" href={changed(datesAlone(place), {}, viewPath(tenant, "worklist"))}>
          {en.views.worklist}
        </Link>
      </h2>
      <Shown data={data}>
        {({ groups }) =>
          groups.length === 0 ? (
            // A period without costs has no issues either, which is not good news.
            <p class="hint">{hasCosts ? text.noIssues : hasCosts === false && text.noneToCheck}</p>
          ) : (
            <DataTable
              caption={text.issues}
              columns={columns}
              rows={groups}
              keyOf={({ currency, dimensions }) => `${currency} ${dimensions.allocation_detail}`}
            />
          )
        }
      </Shown>
    </section>
  );
}

function LastRun({ tenant }: { readonly tenant: string }) {
  const data = useData(JSON.stringify(["pipeline", tenant]), (signal) =>
    bodyOf(
      api.GET("/api/v1/tenants/{tenant_name}/pipeline/status", {
        params: { path: { tenant_name: tenant } },
        signal,
      }),
    ),
  );
  return (
    <Shown data={data} height="2rem">
      {({ last_run, last_result }) => (
        <p class="hint">
          {text.lastRun}: {last_run === null ? text.neverRan : shownInstant(last_run)}
          {last_result !== null && last_result.errors.length > 0 && (
            <>
              {" "}
              <Link href={viewPath(tenant, "runs")}>{last_result.errors[0]}</Link>
            </>
          )}
        </p>
      )}
    </Shown>
  );
}
