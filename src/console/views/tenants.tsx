/** All tenants: what each cost, whether it adds up, how its days stand. */
import type { Schemas } from "../api/client.js";
import { useReconciliation } from "../api/questions.js";
import { decimal } from "../money/decimal.js";
import { Amount } from "../parts/amount.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { shownPeriod } from "../parts/period-picker.js";
import { addsUp } from "../parts/proof.js";
import { type Column, Table } from "../parts/table.js";
import { changed, type Place } from "../state/location.js";
import { pathOf } from "../state/paths.js";
import { type Period, periodOf } from "../state/period.js";
import { en } from "../text/en.js";

const text = en.tenants;
type Tenant = Schemas["TenantSummary"];

export function Tenants({ place, tenants }: { readonly place: Place; readonly tenants: readonly Tenant[] }) {
  const period = periodOf(place);
  const columns: Column<Tenant>[] = [
    {
      ...{ key: "tenant", title: en.frame.tenant },
      cell: ({ tenant_name: name }) => (
        <Link href={changed(place, {}, pathOf(name, "overview"))}>
          <bdi>{name}</bdi>
        </Link>
      ),
    },
    { ...{ key: "ecosystem", title: text.ecosystem }, cell: ({ ecosystem }) => ecosystem },
    {
      ...{ key: "cost", title: en.overview.cost, isNumber: true },
      cell: ({ tenant_name: name }) => <Cost tenant={name} period={period} />,
    },
    {
      ...{ key: "calculated", title: text.calculated, isNumber: true },
      cell: ({ dates_calculated }) => dates_calculated,
    },
    {
      ...{ key: "pending", title: text.pending, isNumber: true },
      cell: ({ dates_pending }) => dates_pending,
    },
    {
      ...{ key: "provisional", title: text.provisional, isNumber: true },
      cell: ({ dates_provisional }) => dates_provisional,
    },
    { ...{ key: "last", title: text.last }, cell: ({ last_calculated_date }) => last_calculated_date ?? "–" },
  ];
  return (
    <>
      <div class="title">
        <h1>{text.title}</h1>
        <span class="hint">{shownPeriod(period)}</span>
      </div>
      {tenants.length === 0 ? (
        <Empty title={text.none} />
      ) : (
        <section class="card">
          <Table
            caption={text.title}
            columns={columns}
            rows={tenants}
            keyOf={({ tenant_name }) => tenant_name}
          />
        </section>
      )}
    </>
  );
}

/** By currency, and whether the bill is what was charged. */
function Cost({ tenant, period }: { readonly tenant: string; readonly period: Period }) {
  const data = useReconciliation(tenant, period);
  return (
    <Shown data={data} height="1rem">
      {(found) =>
        found.totals.map((each) => (
          <div key={each.currency} class={addsUp(found, each.currency) ? undefined : "broken"}>
            <Amount value={decimal(each.billing_amount)} currency={each.currency} />
          </div>
        ))
      }
    </Shown>
  );
}
