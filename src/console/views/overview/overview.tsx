/** The first screen: four figures, costs over time, what grew and fell, and what needs attention. */
import { MAX_GROUPS } from "../../api/breakdown.js";
import type { Schemas } from "../../api/client.js";
import { loadCompared } from "../../api/comparison.js";
import { useReconciliation } from "../../api/questions.js";
import { useApi } from "../../api/use-api.js";
import { BreakdownChart } from "../../parts/breakdown-chart.js";
import { ComparedNotes, comparedWith } from "../../parts/compared.js";
import { Choice } from "../../parts/controls.js";
import { Link } from "../../parts/link.js";
import { Shown } from "../../parts/messages.js";
import { NoCosts } from "../../parts/no-costs.js";
import { shownPeriod } from "../../parts/period-picker.js";
import { addsUp, ReconciliationBanner } from "../../parts/reconciliation-banner.js";
import { changed, datesAlone, go, type Place } from "../../state/location.js";
import { viewPath } from "../../state/paths.js";
import { bucketFor, type Period, periodOf } from "../../state/period.js";
import { useLoaded } from "../../state/use-data.js";
import { columnName, en } from "../../text/en.js";
import { Attention } from "./attention.js";
import { Changes, MOVERS } from "./changes.js";
import { currentMonth, Figures } from "./figures.js";
import { bestSplit, CHART_GROUPS, chosenSplit, type SplitColumn, splitColumns } from "./split.js";

const text = en.overview;

export function Overview({ place, tenant }: { readonly place: Place; readonly tenant: string }) {
  const period = periodOf(place);
  const costs = useLoaded(loadCosts, { tenant, period, chosen: chosenSplit(place) });
  const current = costs.isStale ? undefined : costs.value?.result;
  const comparison = current?.comparison;
  const hasCosts = current && current.breakdown.totals.length > 0;
  const bill = useReconciliation(tenant, period);
  const month = useReconciliation(tenant, currentMonth()).value;
  const path = { tenant_name: tenant };
  const run = useApi("/api/v1/tenants/{tenant_name}/pipeline/status", { path }).value;
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
      <Shown data={costs} isMain>
        {({ column, result }) =>
          result.breakdown.totals.length === 0 ? (
            <NoCosts tenant={tenant} />
          ) : (
            <>
              <Figures
                place={place}
                tenant={tenant}
                result={result}
                month={month}
                bill={bill.isStale ? undefined : bill.value}
                run={run}
              />
              <Shown data={bill} height="2.2rem">
                {(reconciliation) => <Proof reconciliation={reconciliation} />}
              </Shown>
              {result.breakdown.totals.map((totals) => (
                <section class="card" key={totals.currency}>
                  <h2>
                    {text.overTime(columnName(column))}
                    <Link
                      class="quiet"
                      href={explored(place, tenant, { group_by: column, compare: "previous" })}
                    >
                      {en.views.explorer}
                    </Link>
                    <span class="spring" />
                    <Choice
                      label={text.splitBy}
                      value={column}
                      options={splitColumns.map((each) => [each, columnName(each)])}
                      onChoose={(next) => go(changed(place, { group_by: next }), { replace: true })}
                    />
                  </h2>
                  <BreakdownChart
                    title={text.overTime(columnName(column))}
                    place={place}
                    result={result}
                    currency={totals.currency}
                    othersHref={
                      totals.group_count > result.request.limit
                        ? explored(place, tenant, { group_by: column, limit: String(MAX_GROUPS) })
                        : undefined
                    }
                  />
                </section>
              ))}
              <Changes place={place} tenant={tenant} result={result} column={column} />
            </>
          )
        }
      </Shown>
      <Attention place={place} tenant={tenant} hasCosts={hasCosts} run={run} />
    </>
  );
}

interface CostsRequest {
  readonly tenant: string;
  readonly period: Period;
  readonly chosen: SplitColumn | undefined;
}

async function loadCosts({ tenant, period, chosen }: CostsRequest, signal: AbortSignal) {
  const column = chosen ?? (await bestSplit(tenant, period, signal));
  const split = { groupBy: [column], timeBucket: bucketFor(period), limit: CHART_GROUPS };
  const request = { tenant, period, filters: [], ...split, compare: true, movers: MOVERS };
  return { column, result: await loadCompared(request, signal) };
}

const explored = (place: Place, tenant: string, changes: Readonly<Record<string, string>>) =>
  changed(datesAlone(place), changes, viewPath(tenant, "explorer"));

/** Says whether the bill equals its chargebacks, and opens the sum. A difference is open at once. */
function Proof({ reconciliation }: { readonly reconciliation: Schemas["Reconciliation"] }) {
  if (reconciliation.totals.length === 0) return null;
  const isWhole = reconciliation.totals.every(({ currency }) => addsUp(reconciliation, currency));
  return (
    <details class="tick" open={!isWhole}>
      <summary class={isWhole ? "whole" : "broken"}>{isWhole ? text.addsUp : text.differs}</summary>
      <ReconciliationBanner reconciliation={reconciliation} />
    </details>
  );
}
