/** All tenants: costs, reconciliation, health and days of each, and their total. */
import { exact, sumOf } from "../../common/exact-decimal.js";
import type { Schemas } from "../api/client.js";
import { reconciliation } from "../api/questions.js";
import { get, useApi } from "../api/use-api.js";
import { HealthBadge, type TenantReadiness, useReadiness } from "../parts/health.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { shownPeriod } from "../parts/period-picker.js";
import { addsUp, provisionalDays } from "../parts/reconciliation-banner.js";
import { DataTable, type Money, type TableColumn } from "../parts/table.js";
import { shownDay } from "../state/days.js";
import { changed, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { periodOf } from "../state/period.js";
import { REQUEST_FAILED, useEach } from "../state/use-each.js";
import { en } from "../text/en.js";

const text = en.tenants;
type Tenant = Schemas["TenantSummary"];
type Reconciliation = Schemas["Reconciliation"];

export function Tenants({ place }: { readonly place: Place }) {
  const data = useApi("/api/v1/tenants", {});
  return (
    <>
      <div class="title">
        <h1>{text.title}</h1>
        <span class="hint">{shownPeriod(periodOf(place))}</span>
      </div>
      <Shown data={data}>{(tenants) => <List place={place} tenants={tenants} />}</Shown>
    </>
  );
}

function List({ place, tenants }: { readonly place: Place; readonly tenants: readonly Tenant[] }) {
  const period = periodOf(place);
  const names = tenants.map(({ tenant_name: name }) => name);
  const readiness = useReadiness();
  const reconciliations = useEach(names, JSON.stringify(["costs", names, period]), (name, signal) =>
    get(...reconciliation(name, period), signal),
  );
  const loaded = [...reconciliations.values()].filter(
    (each): each is Reconciliation => each !== REQUEST_FAILED,
  );
  const sum = (count: (tenant: Tenant) => number) => tenants.reduce((all, each) => all + count(each), 0);
  const columns: TableColumn<Tenant>[] = [
    {
      key: "tenant",
      title: en.frame.tenant,
      cell: ({ tenant_name: name }) => (
        <Link href={changed(place, {}, viewPath(name, "overview"))}>
          <bdi>{name}</bdi>
        </Link>
      ),
    },
    {
      key: "cost",
      title: en.overview.cost,
      isNumber: true,
      leads: true,
      money: ({ tenant_name: name }) => moneyOf(reconciliations.get(name)),
      totalMoney: totalsOf(loaded),
    },
    {
      key: "health",
      title: text.health,
      wraps: true,
      cell: ({ tenant_name: name }) => (
        <TenantHealth
          tenant={readiness.value?.find((each) => each.tenant_name === name)}
          isLoading={readiness.value === undefined && readiness.error === undefined}
          isLacking={reconciliations.get(name) === REQUEST_FAILED}
        />
      ),
    },
    {
      key: "provisional",
      title: text.provisional,
      isNumber: true,
      cell: ({ dates_provisional }) => dates_provisional.toLocaleString("en"),
      total: sum(({ dates_provisional }) => dates_provisional).toLocaleString("en"),
    },
    {
      key: "pending",
      title: text.pending,
      isNumber: true,
      cell: ({ dates_pending }) => dates_pending.toLocaleString("en"),
      total: sum(({ dates_pending }) => dates_pending).toLocaleString("en"),
    },
    {
      key: "calculated",
      title: text.calculated,
      isNumber: true,
      cell: ({ dates_calculated }) => dates_calculated.toLocaleString("en"),
      total: sum(({ dates_calculated }) => dates_calculated).toLocaleString("en"),
    },
    {
      key: "last",
      title: text.last,
      cell: ({ last_calculated_date: last }) => (last ? shownDay(last) : "–"),
    },
    { key: "ecosystem", title: text.ecosystem, cell: ({ ecosystem }) => ecosystem },
  ];
  const isProvisional = loaded.some((each) => provisionalDays(each) > 0);
  return tenants.length === 0 ? (
    <Empty title={text.none} />
  ) : (
    <section class="card">
      <DataTable
        caption={text.title}
        columns={columns}
        rows={tenants}
        keyOf={({ tenant_name }) => tenant_name}
        totalTitle={text.total(tenants.length - loaded.length, isProvisional)}
      />
    </section>
  );
}

interface TenantHealthProps {
  readonly tenant: TenantReadiness | undefined;
  readonly isLoading: boolean;
  /** Whether loading its costs failed. */
  readonly isLacking: boolean;
}

function TenantHealth({ tenant, isLoading, isLacking }: TenantHealthProps) {
  return (
    <>
      {isLoading && "…"}
      {tenant !== undefined && <HealthBadge tenant={tenant} />}
      {isLacking && <div class="health bad">{text.noCosts}</div>}
    </>
  );
}

/** Costs by currency. `broken` if the bill differs from its chargebacks. */
function moneyOf(reconciliation: Reconciliation | typeof REQUEST_FAILED | undefined): Money[] {
  if (reconciliation === undefined || reconciliation === REQUEST_FAILED) return [];
  return reconciliation.totals.map(({ currency, billing_amount: amount }) => ({
    value: exact(amount),
    currency,
    broken: !addsUp(reconciliation, currency),
  }));
}

/** Costs of all tenants by currency. */
function totalsOf(known: readonly Reconciliation[]): Money[] {
  const all = known.flatMap(moneyOf);
  const currencies = [...new Set(all.map(({ currency }) => currency))].sort();
  return currencies.map((currency) => {
    const own = all.filter((each) => each.currency === currency);
    const broken = own.some((each) => each.broken === true);
    return { value: sumOf(own.map(({ value }) => value)), currency, broken };
  });
}
