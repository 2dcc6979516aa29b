/**
 * The statement of an identity, a team or a selection: its costs and their reasons, on one page to send, print and
 * keep.
 */
import { useState } from "preact/hooks";
import { coverageOf } from "../../common/coverage.js";
import { compare, exact } from "../../common/exact-decimal.js";
import {
  type BreakdownRequest,
  type BreakdownRow,
  breakdownKey,
  bucketAmount,
  exportAddress,
  listed,
  loadBreakdown,
  type Others,
  partsOf,
  type ShownBreakdown,
  type Totals,
} from "../api/breakdown.js";
import type { Schemas } from "../api/client.js";
import { tagColumnsOf, useDays, useReconciliation, useTagKeys } from "../api/questions.js";
import { percentage } from "../money/amount-text.js";
import { AmountCell } from "../parts/amount.js";
import { nameOf } from "../parts/breakdown-chart.js";
import { SearchBox } from "../parts/controls.js";
import { Download } from "../parts/download.js";
import { FilterBar, valuesInWords } from "../parts/filter-bar.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { NoCosts } from "../parts/no-costs.js";
import { shownPeriod } from "../parts/period-picker.js";
import { ReconciliationBanner } from "../parts/reconciliation-banner.js";
import { Rows } from "../parts/rows.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { dayCount } from "../state/days.js";
import { type Filter, filterParameters, filtersOf } from "../state/filters.js";
import { changed, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { type Period, periodOf } from "../state/period.js";
import { useData } from "../state/use-data.js";
import { useSettled } from "../state/use-settled.js";
import { en } from "../text/en.js";

const text = en.statement;
const MAX_LINES = 1000;

interface ViewProps {
  readonly place: Place;
  readonly tenant: string;
}

export function StatementView({ place, tenant }: ViewProps) {
  const filters = filtersOf(place);
  const tagKeys = useTagKeys(tenant, periodOf(place));
  const reconciliation = useReconciliation(tenant, periodOf(place));
  return (
    <>
      {filters.length === 0 ? (
        <h1>{en.views.statement}</h1>
      ) : (
        <div class="title">
          <h1>
            <Title tenant={tenant} period={periodOf(place)} filters={filters} />
          </h1>
          <span class="hint">
            {tenant} · {shownPeriod(periodOf(place))} UTC
          </span>
          <Completeness tenant={tenant} period={periodOf(place)} />
        </div>
      )}
      <FilterBar place={place} tenant={tenant} tagColumns={tagColumnsOf(tagKeys)} />
      {filters.length === 0 ? (
        <Choice place={place} tenant={tenant} />
      ) : (
        <Charges place={place} tenant={tenant} reconciliation={reconciliation.value} />
      )}
      {filters.length > 0 && <Rows place={place} tenant={tenant} />}
      <Shown data={reconciliation} height="4rem">
        {(loaded) => <ReconciliationBanner reconciliation={loaded} />}
      </Shown>
    </>
  );
}

/** How many days of the period are covered, and whether their costs may still change. */
function Completeness({ tenant, period }: Pick<TitleProps, "tenant" | "period">) {
  const { value: days, isStale } = useDays(tenant, period);
  if (days === undefined || isStale) return null;
  const coverage = coverageOf(days, dayCount(period.first, period.last));
  return (
    <span class={coverage.state === "final" ? "hint" : "incomplete"} role="note">
      {text.coverage(coverage)}
    </span>
  );
}

interface TitleProps {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
}

/** Title with the filtered identities, by name and id if a name is known. */
function Title({ tenant, period, filters }: TitleProps) {
  const identities = filters.filter(({ column, isExcluding }) => column === "identity_id" && !isExcluding);
  const ids = identities.flatMap(({ values }) => values);
  const request: BreakdownRequest = {
    tenant,
    period,
    filters: identities,
    groupBy: ["identity_id"],
    limit: MAX_LINES,
  };
  const named = useData(ids.length === 0 ? "no names" : breakdownKey(request), async (signal) =>
    ids.length === 0 ? [] : (await loadBreakdown(request, signal)).groups,
  );
  const names = new Map(
    (named.value ?? []).map(({ dimensions, display_names: { identity_id: name } }) => [
      dimensions.identity_id ?? "",
      name,
    ]),
  );
  const withName = (id: string) => {
    const name = names.get(id);
    return name === undefined || name === id ? id : text.named(name, id);
  };
  const whose = filters.map((filter) =>
    identities.includes(filter) ? filter.values.map(withName).join(", ") : valuesInWords(filter),
  );
  return <bdi class="long">{text.of(whose.join(", "))}</bdi>;
}

/** Identities to choose from: the largest, and the number of others. */
function Choice({ place, tenant }: ViewProps) {
  const [search, setSearch] = useState("");
  const settledSearch = useSettled(search);
  const request: BreakdownRequest = {
    tenant,
    period: periodOf(place),
    filters: [],
    groupBy: ["identity_id"],
    limit: 50,
    search: settledSearch,
  };
  // `isSearch` is part of the data, because the previous result is shown until the next one arrives.
  const data = useData(`statements ${breakdownKey(request)}`, async (signal) => ({
    breakdown: await loadBreakdown(request, signal),
    isSearch: settledSearch !== "",
  }));
  const columns: TableColumn<BreakdownRow | Others>[] = [
    {
      key: "identity",
      title: en.columns.identity_id ?? "",
      cell: (row) =>
        "dimensions" in row ? <ToStatement place={place} group={row} /> : text.more(row.group_count),
    },
    {
      key: "amount",
      title: text.charged,
      isNumber: true,
      leads: true,
      money: (row) => [{ value: bucketAmount(row), currency: row.currency }],
    },
  ];
  return (
    <section class="card">
      <h2>{text.choose}</h2>
      <p class="hint">{text.chooseHint}</p>
      <SearchBox label={text.search} value={search} onInput={setSearch} />
      <Shown data={data} height="20rem">
        {({ breakdown, isSearch }) =>
          breakdown.groups.length > 0 ? (
            <DataTable
              caption={text.choose}
              columns={columns}
              rows={breakdown.totals.flatMap(({ currency }) => {
                const { groups, others, unallocated } = listed(breakdown, currency);
                return [...groups, others, unallocated].filter((row) => row !== undefined);
              })}
              keyOf={(row) =>
                JSON.stringify([row.currency, "dimensions" in row ? row.dimensions.identity_id : null])
              }
            />
          ) : isSearch ? (
            <Empty title={text.noneFound} />
          ) : (
            <NoCosts tenant={tenant} />
          )
        }
      </Shown>
    </section>
  );
}

function ToStatement({ place, group }: { readonly place: Place; readonly group: BreakdownRow }) {
  const { identity_id: id = "" } = group.dimensions;
  const filter: Filter = { column: "identity_id", isExcluding: false, values: [id] };
  return (
    <Link href={changed(place, filterParameters(filter))}>
      <bdi>{nameOf(group, ["identity_id"])}</bdi>
    </Link>
  );
}

interface ChargesProps extends ViewProps {
  readonly reconciliation: Schemas["Reconciliation"] | undefined;
}

function Charges({ place, tenant, reconciliation }: ChargesProps) {
  const period = periodOf(place);
  const filters = filtersOf(place);
  const common = { tenant, period, filters };
  const byLine: BreakdownRequest = {
    ...common,
    groupBy: ["product_type", "resource_id"],
    limit: MAX_LINES,
  };
  const byMethod: BreakdownRequest = { ...common, groupBy: ["allocation_method"], limit: 10 };
  const lines = useData(breakdownKey(byLine), (signal) => loadBreakdown(byLine, signal));
  const methods = useData(breakdownKey(byMethod), (signal) => loadBreakdown(byMethod, signal));
  const billOf = (currency: string) =>
    reconciliation?.totals.find((each) => each.currency === currency)?.billing_amount;
  return (
    <>
      <p class="controls">
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
      <Shown data={lines} height="30rem">
        {(breakdown) =>
          breakdown.totals.length === 0 ? (
            <Empty title={text.none}>
              <p>{text.noneHint}</p>
            </Empty>
          ) : (
            breakdown.totals.map((totals) => (
              <section key={totals.currency} class="card">
                <Sums totals={totals} bill={billOf(totals.currency)} />
                <h2>{text.lines}</h2>
                <Lines breakdown={breakdown} totals={totals} />
                <h2 class="next">{text.methods}</h2>
                <Shown data={methods}>
                  {({ groups }) => (
                    <Methods groups={groups.filter(({ currency }) => currency === totals.currency)} />
                  )}
                </Shown>
              </section>
            ))
          )
        }
      </Shown>
    </>
  );
}

/** The total amount and its two parts. */
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

interface Line {
  readonly key: string;
  readonly product: string;
  readonly resource: string;
  readonly sums: Pick<Totals, "total_amount" | "parts">;
}

function Lines({ breakdown, totals }: { readonly breakdown: ShownBreakdown; readonly totals: Totals }) {
  const { currency } = totals;
  const lines = breakdown.groups
    .filter((group) => group.currency === currency)
    .map((group): Line => {
      const { product_type: product = "", resource_id: resource = "" } = group.dimensions;
      const key = JSON.stringify([product, resource]);
      return { key, product, resource: group.display_names.resource_id ?? resource, sums: group };
    })
    // Sort by product, and within a product by amount, largest first.
    .sort((a, b) =>
      a.product === b.product
        ? compare(bucketAmount(b.sums), bucketAmount(a.sums))
        : a.product < b.product
          ? -1
          : 1,
    );
  const others = breakdown.others
    .filter((each) => each.currency === currency)
    .map(
      (each): Line => ({ key: "others", product: text.others(each.group_count), resource: "", sums: each }),
    );
  const amount = (key: string, title: string, of: (sums: Line["sums"]) => string): TableColumn<Line> => ({
    key,
    title,
    isNumber: true,
    leads: key === "total",
    money: ({ sums }) => [{ value: exact(of(sums)), currency, isNamed: true }],
    totalMoney: [{ value: exact(of(totals)), currency, isNamed: true }],
  });
  return (
    <DataTable
      caption={text.lines}
      columns={[
        { key: "product", title: en.columns.product_type ?? "", cell: ({ product }) => <bdi>{product}</bdi> },
        {
          key: "resource",
          title: en.columns.resource_id ?? "",
          cell: ({ resource }) => <bdi>{resource}</bdi>,
        },
        ...partsOf(totals).map((part) => amount(part, en.explorer.parts[part], ({ parts }) => parts[part])),
        amount("total", en.inCurrency(en.overview.amount, currency), ({ total_amount }) => total_amount),
      ]}
      rows={[...lines, ...others]}
      keyOf={({ key }) => key}
      totalTitle={breakdown.groups.some(({ provisional }) => provisional) ? en.provisionalTotal : en.total}
    />
  );
}

function Methods({ groups }: { readonly groups: readonly BreakdownRow[] }) {
  const methodOf = (group: BreakdownRow) => group.dimensions.allocation_method ?? "";
  return (
    <dl class="sums methods">
      {groups.map((group) => (
        <div key={methodOf(group)}>
          <dt>{text.method[methodOf(group)] ?? methodOf(group)}</dt>
          <dd>
            <AmountCell value={bucketAmount(group)} currency={group.currency} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
