/** Lines and amounts of each allocation rule, by currency and tier, and the tag coverage of the bill. */
import { exact } from "../../common/exact-decimal.js";
import type { Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { AmountCell } from "../parts/amount.js";
import { Link } from "../parts/link.js";
import { Shown } from "../parts/messages.js";
import { shownPeriod } from "../parts/period-picker.js";
import { PeriodProof } from "../parts/reconciliation-banner.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { WhereText } from "../parts/where.js";
import { changed, datesAlone, type Place } from "../state/location.js";
import { viewPath } from "../state/paths.js";
import { periodOf, periodParameters } from "../state/period.js";
import { en } from "../text/en.js";
import { rules as text } from "../text/rules.js";

type Rule = Schemas["RulesReport"]["rules"][number];
type ProductRule = Schemas["RulesReport"]["product_rules"][number];
type PassingStep = Schemas["RulesReport"]["steps"][number];
type Sums = Rule["sums"][number];

interface ViewProps {
  readonly place: Place;
  readonly tenant: string;
}

export function Rules({ place, tenant }: ViewProps) {
  const period = periodOf(place);
  const params = { path: { tenant_name: tenant }, query: periodParameters(period) };
  const data = useApi("/api/v1/tenants/{tenant_name}/rules", params);
  const explore = (filter: Record<string, string>) =>
    changed(datesAlone(place), { ...filter, group_by: ["identity_id"] }, viewPath(tenant, "explorer"));
  const sumColumns: TableColumn<{ readonly sums: readonly Sums[] }>[] = [
    {
      key: "lines",
      title: text.lines,
      isNumber: true,
      cell: ({ sums }) => (
        <div>
          {sums.map(({ currency, line_count: lines }) => (
            <div key={currency}>{lines.toLocaleString("en")}</div>
          ))}
        </div>
      ),
    },
    {
      key: "amount",
      title: en.overview.amount,
      isNumber: true,
      cell: ({ sums }) => (
        <div>
          {sums.map((each) => (
            <SumWithTiers key={each.currency} sums={each} />
          ))}
        </div>
      ),
    },
  ];
  const configured: TableColumn<Rule>[] = [
    {
      key: "rule",
      title: en.columns.rule ?? "",
      cell: (rule) => (
        <>
          <Link href={explore({ rule: rule.name })}>{rule.name}</Link>
          {!rule.configured && <div class="hint">{text.former}</div>}
          {rule.keep && <div class="hint">{text.keep}</div>}
          {(rule.stage ?? 1) > 1 && <div class="hint">{text.stage(rule.stage ?? 1)}</div>}
          {rule.narrow_weights.map(({ currency, covered }) => (
            <div key={currency} class="hint">
              ⚠ {text.narrow(currency, covered)}
            </div>
          ))}
          {rule.took_nothing && <div class="hint">⚠ {text.idle}</div>}
        </>
      ),
    },
    {
      key: "where",
      title: text.takes,
      wraps: true,
      cell: (rule) =>
        rule.configured && (
          <div>
            <WhereText where={rule.where} />
          </div>
        ),
    },
    ...sumColumns,
  ];
  const passing: TableColumn<PassingStep>[] = [
    {
      key: "step",
      title: text.step,
      cell: ({ name, configured: isConfigured, passed_nothing: isIdle }) => (
        <>
          {name}
          {!isConfigured && <div class="hint">{text.former}</div>}
          {isIdle && <div class="hint">⚠ {text.passedNothing}</div>}
        </>
      ),
    },
    {
      key: "amount",
      title: en.overview.amount,
      isNumber: true,
      money: ({ sums }) => sums.map(({ amount, currency }) => ({ value: exact(amount), currency })),
    },
  ];
  const products: TableColumn<ProductRule>[] = [
    {
      key: "product",
      title: en.columns.product_type ?? "",
      cell: ({ product_type: product }) => (
        <Link href={explore({ rule: "", product_type: product })}>
          <bdi>{product}</bdi>
        </Link>
      ),
    },
    ...sumColumns,
  ];
  return (
    <>
      <div class="title">
        <h1>{text.title}</h1>
        <span class="hint">{shownPeriod(period)}</span>
      </div>
      <p>{text.lead}</p>
      <PeriodProof tenant={tenant} period={period} />
      <Shown data={data} isMain>
        {({ rules, steps, product_rules: ofProducts, other_product_rules: others }) => (
          <>
            <section class="card">
              <h2>{text.configured}</h2>
              {rules.length === 0 ? (
                <p class="hint">{text.none}</p>
              ) : (
                <DataTable
                  caption={text.configured}
                  columns={configured}
                  rows={rules}
                  keyOf={({ name }) => name}
                />
              )}
            </section>
            {steps.length > 0 && (
              <section class="card">
                <h2>{text.steps}</h2>
                <DataTable caption={text.steps} columns={passing} rows={steps} keyOf={({ name }) => name} />
              </section>
            )}
            <section class="card">
              <h2>{text.products}</h2>
              {ofProducts.length === 0 ? (
                <p class="hint">{rules.some(({ sums }) => sums.length > 0) ? text.allTaken : text.nothing}</p>
              ) : (
                <DataTable
                  caption={text.products}
                  columns={products}
                  rows={ofProducts}
                  keyOf={({ product_type: product }) => product}
                />
              )}
              {others.map(({ currency, amount, product_type_count: count }) => (
                <p key={currency} class="hint">
                  {text.others(count)}: <AmountCell value={exact(amount)} currency={currency} />
                </p>
              ))}
            </section>
          </>
        )}
      </Shown>
      <TagCoverage place={place} tenant={tenant} />
    </>
  );
}

/** The amount of a currency. Its details show the amount of each tier. */
function SumWithTiers({ sums: { currency, amount, tiers } }: { readonly sums: Sums }) {
  return (
    <details>
      <summary>
        <AmountCell value={exact(amount)} currency={currency} />
      </summary>
      {tiers.map((tier) => (
        <div
          key={JSON.stringify([tier.component, tier.tier, tier.allocation_method, tier.allocation_detail])}
        >
          <span class="hint">{inWords(tier)}</span>{" "}
          <AmountCell value={exact(tier.amount)} currency={currency} />
        </div>
      ))}
    </details>
  );
}

/** The method of a tier, and the reason for it if that needs attention. */
function inWords({
  component,
  tier,
  allocation_method: method,
  allocation_detail: detail,
}: Sums["tiers"][number]) {
  const reasons: Readonly<Record<string, { readonly why: string }>> = en.worklist.reasons;
  const why = reasons[detail]?.why;
  return [
    text.tier(component, tier),
    en.rows.methods[method] ?? method,
    ...(why === undefined ? [] : [why]),
  ].join(" · ");
}

type CoveredKey = Schemas["TagCoverage"]["currencies"][number]["tag_keys"][number] & {
  readonly currency: string;
};

/** The column for a key of a line's tags. Declared columns are among them, under their own names. */
function lineColumn(key: string): string {
  return key.startsWith("column:") ? key : `line_tag:${key}`;
}

function TagCoverage({ place, tenant }: ViewProps) {
  const params = { path: { tenant_name: tenant }, query: periodParameters(periodOf(place)) };
  const data = useApi("/api/v1/tenants/{tenant_name}/tag-coverage", params);
  const columns: TableColumn<CoveredKey>[] = [
    {
      key: "key",
      title: text.tagKey,
      cell: ({ tag_key: key }) => (
        <Link
          href={changed(datesAlone(place), { group_by: [lineColumn(key)] }, viewPath(tenant, "explorer"))}
        >
          <bdi>{key}</bdi>
        </Link>
      ),
    },
    {
      key: "share",
      title: text.share,
      isNumber: true,
      cell: ({ share }) => (share === null ? "–" : `${(Math.floor(Number(share) * 1000) / 10).toFixed(1)} %`),
    },
    {
      key: "tagged",
      title: text.tagged,
      isNumber: true,
      leads: true,
      money: ({ tagged_amount: amount, currency }) => [{ value: exact(amount), currency }],
    },
  ];
  return (
    <section class="card">
      <h2>{text.coverage}</h2>
      <p class="hint">{text.coverageLead}</p>
      <Shown data={data}>
        {({ currencies }) => {
          const rows = currencies.flatMap(({ currency, tag_keys: keys }) =>
            keys.map((key) => ({ ...key, currency })),
          );
          if (rows.length === 0) return <p class="hint">{text.untagged}</p>;
          return (
            <DataTable
              caption={text.coverage}
              columns={columns}
              rows={rows}
              keyOf={({ currency, tag_key: key }) => JSON.stringify([currency, key])}
            />
          );
        }}
      </Shown>
    </section>
  );
}
