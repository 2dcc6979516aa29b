/**
 * The statement of an identity, a team or a selection: its costs and their reasons, on one page to send, print and
 * keep.
 */
import { exact } from "../../common/exact-decimal.js";
import {
  type BreakdownRequest,
  bucketAmount,
  exportAddress,
  MAX_GROUPS,
  partsOf,
  type Totals,
  useBreakdown,
} from "../api/breakdown.js";
import type { Schemas } from "../api/client.js";
import { tagColumnsOf, useReconciliation, useTagKeys } from "../api/questions.js";
import { useApi } from "../api/use-api.js";
import { percentage } from "../money/amount-text.js";
import { AmountCell } from "../parts/amount.js";
import { Download } from "../parts/download.js";
import { FilterBar } from "../parts/filter-bar.js";
import { Link } from "../parts/link.js";
import { Empty, Loading, Shown } from "../parts/messages.js";
import { MonthBars } from "../parts/month-bars.js";
import { ReconciliationBanner } from "../parts/reconciliation-banner.js";
import { Rows } from "../parts/rows.js";
import { SharedRules, UnallocatedReasons } from "../parts/statement-causes.js";
import { StatementChange } from "../parts/statement-change.js";
import { StatementChoice } from "../parts/statement-choice.js";
import { Letterhead } from "../parts/statement-head.js";
import { StatementLines } from "../parts/statement-lines.js";
import { useNames } from "../parts/whose.js";
import { filtersOf } from "../state/filters.js";
import { changed, type Place } from "../state/location.js";
import { datesAlone } from "../state/parameters.js";
import { viewPath } from "../state/paths.js";
import { periodOf, periodParameters } from "../state/period.js";
import { en } from "../text/en.js";

const text = en.statement;

interface ViewProps {
  readonly place: Place;
  readonly tenant: string;
}

export function StatementView({ place, tenant }: ViewProps) {
  const filters = filtersOf(place);
  const period = periodOf(place);
  const tagKeys = useTagKeys(tenant, period);
  const reconciliation = useReconciliation(tenant, period);
  const isChosen = filters.length > 0;
  const names = useNames({ tenant, period, filters });
  const days = useApi("/api/v1/tenants/{tenant_name}/status", {
    path: { tenant_name: tenant },
    query: periodParameters(period),
  });
  const hasDays = days.value !== undefined || days.error !== undefined;
  return (
    <>
      {!isChosen ? (
        <h1>{en.views.statement}</h1>
      ) : names === undefined || !hasDays ? (
        <Loading />
      ) : (
        <Letterhead tenant={tenant} period={period} filters={filters} names={names} days={days} />
      )}
      <FilterBar place={place} tenant={tenant} tagColumns={tagColumnsOf(tagKeys)} names={names} />
      {isChosen ? (
        <Charges place={place} tenant={tenant} reconciliation={reconciliation.value} />
      ) : (
        <StatementChoice place={place} tenant={tenant} />
      )}
      {isChosen && <Rows place={place} tenant={tenant} />}
      <Shown data={reconciliation} height="var(--proof)">
        {(loaded) => <ReconciliationBanner reconciliation={loaded} />}
      </Shown>
    </>
  );
}

interface ChargesProps extends ViewProps {
  readonly reconciliation: Schemas["Reconciliation"] | undefined;
}

function Charges({ place, tenant, reconciliation }: ChargesProps) {
  const common = { tenant, period: periodOf(place), filters: filtersOf(place) };
  const byLine: BreakdownRequest = {
    ...common,
    groupBy: ["product_type", "resource_id"],
    limit: MAX_GROUPS,
  };
  const lines = useBreakdown(byLine);
  const billOf = (currency: string) =>
    reconciliation?.totals.find((each) => each.currency === currency)?.billing_amount;
  return (
    <>
      <p class="controls">
        <Link href={changed(datesAlone(place), {})}>{text.all}</Link>
        <Link
          href={changed(place, { group_by: ["product_type", "resource_id"] }, viewPath(tenant, "explorer"))}
        >
          {text.explore}
        </Link>
        <span class="exports">
          <Download href={exportAddress(common, "csv", { head: true })}>{text.csv}</Download>
          <Download href={exportAddress(common, "excel", { head: true })}>{text.excel}</Download>
        </span>
        <button type="button" onClick={() => print()}>
          {text.print}
        </button>
      </p>
      <Shown data={lines} isMain>
        {(breakdown) =>
          breakdown.totals.length === 0 ? (
            <Empty title={text.none}>
              <p>{text.noneHint}</p>
            </Empty>
          ) : (
            breakdown.totals.map((totals) => (
              <section key={totals.currency} class="card statement">
                <Sums totals={totals} bill={billOf(totals.currency)} />
                <StatementChange {...common} place={place} currency={totals.currency} />
                <section class="months">
                  <h2>{text.months}</h2>
                  <MonthBars {...common} currency={totals.currency} />
                </section>
                <StatementLines {...common} breakdown={breakdown} totals={totals} />
                <SharedRules {...common} totals={totals} />
                <UnallocatedReasons {...common} totals={totals} />
              </section>
            ))
          )
        }
      </Shown>
    </>
  );
}

/** The total amount and its parts. */
function Sums({ totals, bill }: { readonly totals: Totals; readonly bill: string | undefined }) {
  const percent = bill === undefined ? undefined : percentage(bucketAmount(totals), exact(bill));
  return (
    <dl class="sums">
      <div class="whole">
        <dt>{text.charged}</dt>
        <dd>
          <AmountCell value={bucketAmount(totals)} currency={totals.currency} />
          {percent !== undefined && <small> · {text.ofBill(percent)}</small>}
        </dd>
      </div>
      {partsOf(totals).map((part) => (
        <div key={part}>
          <dt>{text.parts[part]}</dt>
          <dd>
            <AmountCell value={exact(totals.parts[part])} currency={totals.currency} isNamed />
          </dd>
        </div>
      ))}
    </dl>
  );
}
