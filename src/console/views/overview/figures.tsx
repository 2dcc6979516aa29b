/** The four figures at the top: the cost, the current month, what is unallocated, and how fresh the data is. */
import type { ComponentChildren } from "preact";
import { firstOfMonth, lastOfMonth } from "../../../common/days.js";
import { exact } from "../../../common/exact-decimal.js";
import type { Totals } from "../../api/breakdown.js";
import type { Schemas } from "../../api/client.js";
import type { BreakdownResult } from "../../api/comparison.js";
import { approximate, percentage } from "../../money/amount-text.js";
import { forecastOf, shownEstimate } from "../../money/forecast.js";
import { AmountCell, Change } from "../../parts/amount.js";
import { Link } from "../../parts/link.js";
import { shownPeriod } from "../../parts/period-picker.js";
import { provisionalDays } from "../../parts/reconciliation-banner.js";
import { currentDay, dayCount, shownDay, shownInstant, shownMonth } from "../../state/days.js";
import { changed, datesAlone, type Place } from "../../state/location.js";
import { viewPath } from "../../state/paths.js";
import type { Period } from "../../state/period.js";
import { en } from "../../text/en.js";
import { isUnsure } from "./changes.js";

const text = en.overview;

export const currentMonth = (): Period => ({
  first: firstOfMonth(currentDay()),
  last: lastOfMonth(currentDay()),
});

interface FiguresProps {
  readonly place: Place;
  readonly tenant: string;
  readonly result: BreakdownResult;
  /** The bill of the current month. */
  readonly month: Schemas["Reconciliation"] | undefined;
  /** The bill of the period. */
  readonly bill: Schemas["Reconciliation"] | undefined;
  readonly run: Schemas["PipelineStatus"] | undefined;
}

/** A row for each currency. How fresh the data is concerns all of them, so only the first row has it. */
export function Figures({ result, ...rest }: FiguresProps) {
  const month = currentMonth();
  const { period } = result.request;
  const isCurrent = period.first <= month.last && period.last >= month.first;
  return (
    <>
      {result.breakdown.totals.map((totals, index) => (
        <section
          key={totals.currency}
          class={isCurrent ? "figures" : "figures three"}
          aria-label={text.figures(totals.currency)}
        >
          <Cost result={result} totals={totals} />
          {isCurrent && rest.month !== undefined && (
            <Month month={month} bill={rest.month} currency={totals.currency} />
          )}
          <Unallocated totals={totals} place={rest.place} tenant={rest.tenant} />
          {index === 0 && <Freshness coveredDays={result.coveredDays} bill={rest.bill} run={rest.run} />}
        </section>
      ))}
    </>
  );
}

interface FigureProps {
  readonly title: ComponentChildren;
  readonly value: ComponentChildren;
  readonly children?: ComponentChildren;
}

const Figure = ({ title, value, children }: FigureProps) => (
  <div class="card head">
    <div class="hint">{title}</div>
    <div class="large">{value}</div>
    {children}
  </div>
);

function Cost({ result, totals }: { readonly result: BreakdownResult; readonly totals: Totals }) {
  const now = exact(totals.total_amount);
  const { currency, previous_amount: before } = totals;
  return (
    <Figure
      title={`${text.cost}, ${shownPeriod(result.request.period)}`}
      value={<AmountCell value={now} currency={currency} />}
    >
      {before !== undefined && (
        <Change now={now} before={exact(before)} currency={currency} isUnsure={isUnsure(result)} />
      )}
    </Figure>
  );
}

interface MonthProps {
  readonly month: Period;
  readonly bill: Schemas["Reconciliation"];
  readonly currency: string;
}

/** The current month so far, and the range in which it will end. */
function Month({ month, bill: { days, totals }, currency }: MonthProps) {
  const soFar = totals.find((each) => each.currency === currency)?.billing_amount ?? "0";
  const costs = days
    .filter((day) => day.currency === currency)
    .map(({ billing_amount }) => approximate(exact(billing_amount)));
  const range = forecastOf(costs, dayCount(month.first, month.last) - costs.length);
  return (
    <Figure
      title={text.monthSoFar(shownMonth(month.first))}
      value={<AmountCell value={exact(soFar)} currency={currency} />}
    >
      {range !== undefined && (
        <span title={text.forecastHint(costs.length)}>
          {text.forecast([...new Set(range.map(shownEstimate))].join(" – "))}
        </span>
      )}
    </Figure>
  );
}

interface UnallocatedProps extends Pick<FiguresProps, "place" | "tenant"> {
  readonly totals: Totals;
}

function Unallocated({ totals: { currency, parts, total_amount }, place, tenant }: UnallocatedProps) {
  const amount = exact(parts.unallocated);
  return (
    <Figure title={text.unallocated} value={<AmountCell value={amount} currency={currency} />}>
      <span>
        {text.ofCost(percentage(amount, exact(total_amount)) ?? "")}
        {amount.units !== 0n && (
          <>
            {" · "}
            <Link href={changed(datesAlone(place), {}, viewPath(tenant, "worklist"))}>
              {en.views.worklist}
            </Link>
          </>
        )}
      </span>
    </Figure>
  );
}

interface FreshnessProps extends Pick<FiguresProps, "bill" | "run"> {
  readonly coveredDays: ReadonlySet<string> | undefined;
}

function Freshness({ coveredDays, bill, run }: FreshnessProps) {
  const latest = coveredDays && [...coveredDays].sort().at(-1);
  const provisional = bill === undefined ? 0 : provisionalDays(bill);
  return (
    <Figure
      title={text.dataUpTo}
      value={latest === undefined ? text.unknownDay : <time dateTime={latest}>{shownDay(latest)}</time>}
    >
      {run !== undefined && (
        <span>{run.last_run === null ? text.neverRan : `${text.lastRun} ${shownInstant(run.last_run)}`}</span>
      )}
      {provisional > 0 && <span class="provisional">{text.provisional(provisional)}</span>}
    </Figure>
  );
}
