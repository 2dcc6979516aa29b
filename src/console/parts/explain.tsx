/** Drawer that explains an amount, from the chargeback back to the bill. It is open while the address has `why`. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { exact, minus, zero } from "../../common/exact-decimal.js";
import { groupDigits } from "../../common/figures.js";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { approximate } from "../money/amount-text.js";
import { shownDay, shownInstant } from "../state/days.js";
import { changed, type Place } from "../state/location.js";
import { useData } from "../state/use-data.js";
import { en } from "../text/en.js";
import { AmountCell } from "./amount.js";
import { Drawer } from "./drawer.js";
import { Link } from "./link.js";
import { Empty, Shown } from "./messages.js";
import { DataTable, type TableColumn } from "./table.js";
import { DimensionTags } from "./tag-editor.js";

const text = en.explain;
const PAGE_SIZE = 20;

type Explanation = Schemas["Explanation"];
type Recipient = Schemas["Recipient"];

/** Format of `why`: dimension, timestamp, component, currency; then the path, and which giving of it is explained. */
const FORM = /^\d+,\d{4}-\d\d-\d\dT[\d:.]+Z,\d+,[^,]+(,\d+){0,2}$/;

/** The value of `why` for a row. */
export function whyParameter(row: Schemas["ChargebackRow"]): string {
  const { component, path_id = 0 } = row.metadata;
  return [row.dimension_id, row.timestamp, component, row.currency, path_id].join(",");
}

interface ExplainProps {
  readonly place: Place;
  readonly tenant: string;
  readonly why: string;
}

export function Explain({ place, tenant, why }: ExplainProps) {
  return (
    <Drawer place={place} parameter="why" title={text.title}>
      {FORM.test(why) ? (
        <ExplanationView place={place} tenant={tenant} why={why} />
      ) : (
        <Empty title={text.noSuchRow} />
      )}
    </Drawer>
  );
}

function ExplanationView({ place, tenant, why }: ExplainProps) {
  const [page, setPage] = useState(1);
  const [id = "", timestamp = "", component = "", currency = "", path, giving] = why.split(",");
  const params = {
    path: { tenant_name: tenant, dimension_id: Number(id) },
    query: {
      date: timestamp.slice(0, 10),
      timestamp,
      component: Number(component),
      currency,
      ...(path !== undefined && { path_id: Number(path) }),
      ...(giving !== undefined && { giving: Number(giving) }),
      page,
      page_size: PAGE_SIZE,
    },
  };
  const data = useData(JSON.stringify(["explain", tenant, why, page]), (signal) =>
    bodyOf(api.GET("/api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}/explain", { params, signal })),
  );
  return (
    <Shown data={data} height="60vh">
      {(explanation) => (
        <>
          <Chain
            explanation={explanation}
            page={page}
            setPage={setPage}
            givings={<Givings explanation={explanation} place={place} why={why} />}
          />
          <Step title={en.views.tags}>
            <DimensionTags tenant={tenant} dimension={params.path.dimension_id} />
          </Step>
        </>
      )}
    </Shown>
  );
}

interface ChainProps {
  readonly explanation: Explanation;
  readonly page: number;
  readonly setPage: (page: number) => void;
  readonly givings: ComponentChildren;
}

/** One section for each step from the amount back to the bill. */
function Chain({ explanation, page, setPage, givings }: ChainProps) {
  const { row, line, rule, split, tiers, samples } = explanation;
  const { currency } = row;
  return (
    <>
      <h2>
        <AmountCell value={exact(row.amount)} currency={currency} />
      </h2>
      <p>
        <bdi>
          {text.what(explanation.identity_name ?? explanation.identity_id, shownDay(explanation.date))}
        </bdi>
        <br />
        <bdi>
          {explanation.product_type} · {explanation.resource_name ?? explanation.resource_id}
        </bdi>
        {row.provisional && <strong> · {text.provisional}</strong>}
      </p>
      {givings}
      <Step title={text.line}>
        {line === null ? (
          <p>{text.noLine}</p>
        ) : (
          <p>
            <AmountCell value={exact(line.total_cost)} currency={currency} />
            {line.bill_lines > 1 && <span class="hint"> {text.billLines(line.bill_lines)}</span>}
          </p>
        )}
        {line?.priced != null && <Priced priced={line.priced} />}
      </Step>
      {rule === null ? (
        <p class="hint">{text.noRule}</p>
      ) : (
        rule.components.length > 1 && (
          <Step title={text.parts}>
            <ul>
              {rule.components.map((each) => (
                <li key={each.component}>
                  {text.ratio(each.ratio)} <AmountCell value={exact(each.amount)} currency={currency} />
                  {each.component === row.component && <strong> {text.thisOne}</strong>}
                </li>
              ))}
            </ul>
          </Step>
        )
      )}
      {tiers !== null && (
        <Step title={text.tiers}>
          <ol>
            {tiers
              .filter(({ outcome }) => outcome !== "not_reached")
              .map((each) => (
                <Tier key={each.tier} tier={each} />
              ))}
          </ol>
        </Step>
      )}
      <Step title={text.shares(explanation.recipients.total)}>
        {!explanation.weights_kept && <p class="hint">{text.noWeights}</p>}
        <Recipients explanation={explanation} />
        {explanation.recipients.pages > 1 && (
          <p class="pages">
            <button type="button" disabled={page === 1} onClick={() => setPage(page - 1)}>
              {en.pages.before}
            </button>{" "}
            {en.pages.page(page, explanation.recipients.pages)}{" "}
            <button
              type="button"
              disabled={page >= explanation.recipients.pages}
              onClick={() => setPage(page + 1)}
            >
              {en.pages.next}
            </button>
          </p>
        )}
        {split !== null && explanation.recipients.total > 1 && (
          <Arithmetic explanation={explanation} split={split} />
        )}
      </Step>
      {samples.length > 0 && (
        <Step title={text.samples}>
          <Samples samples={samples} />
        </Step>
      )}
      <Step title={text.published}>
        <p>
          {explanation.published_at === null
            ? text.unknownPublication
            : shownInstant(explanation.published_at)}
          {explanation.owner.owner_ids.length > 0 && (
            <>
              <br />
              <bdi>{text.owner(explanation.owner.owner_ids.join(", "))}</bdi>
            </>
          )}
        </p>
      </Step>
    </>
  );
}

/** How the bill calculates the line, each part with all its digits. */
function Priced({ priced }: { readonly priced: NonNullable<NonNullable<Explanation["line"]>["priced"]> }) {
  return (
    <ul class="priced">
      {priced.products.map(({ quantity, unit, unit_price, amount }) => (
        <li key={`${unit} ${unit_price}`}>
          {text.product(groupDigits(quantity), unit, groupDigits(unit_price))} ={" "}
          <AmountCell value={exact(amount)} />
        </li>
      ))}
      {priced.reductions.map(({ kind, amount }) => (
        <li key={kind}>
          {text.reductions[kind]} <AmountCell value={minus(zero, exact(amount))} />
        </li>
      ))}
    </ul>
  );
}

/** Lists the identities that had the cost, in order, if steps passed it on. Each giving has its own explanation. */
function Givings({
  explanation: { path, giving, row },
  place,
  why,
}: {
  readonly explanation: Explanation;
  readonly place: Place;
  readonly why: string;
}) {
  if (path.length === 0) return null;
  const rowOfWhy = [...why.split(",").slice(0, 4), row.path_id];
  return (
    <Step title={text.passed}>
      <ol class="givings">
        {path.map((hop, index) => (
          <li key={hop.step} class={index === giving ? "used" : undefined}>
            <Link href={changed(place, { why: [...rowOfWhy, index].join(",") })}>
              <bdi>{hop.identity_id}</bdi>
            </Link>{" "}
            <AmountCell value={exact(hop.amount)} currency={row.currency} />
            <span class="hint"> {en.rows.methods[hop.allocation_method]}</span>
            {index === giving && <strong> {text.explained}</strong>}
          </li>
        ))}
        <li class={giving === path.length ? "used" : undefined}>
          <Link href={changed(place, { why: rowOfWhy.join(",") })}>{text.finally}</Link>
          {giving === path.length && <strong> {text.explained}</strong>}
        </li>
      </ol>
    </Step>
  );
}

function Step({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="step">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Tier({
  tier: { kind, outcome, sources },
}: {
  readonly tier: NonNullable<Explanation["tiers"]>[number];
}) {
  const isUsed = outcome === "used" || outcome === "given_up";
  return (
    <li class={isUsed ? "used" : undefined}>
      {text.kinds[kind]}
      {sources.length > 0 && <span class="hint"> ({sources.map(({ name }) => name).join(", ")})</span>}
      {": "}
      {isUsed ? <strong>{text.outcomes[outcome]}</strong> : text.outcomes[outcome]}
      {sources.map(({ name, gap }) => gap !== null && <div key={name} class="hint">{`${name}: ${gap}`}</div>)}
    </li>
  );
}

/** The recipients on this page. The explained identity is added if it is on another page. */
function Recipients({ explanation }: { readonly explanation: Explanation }) {
  const { items } = explanation.recipients;
  const own = explanation.this;
  const isOnPage = items.some(({ identity_id }) => identity_id === own.identity_id);
  const columns: TableColumn<Recipient>[] = [
    {
      key: "identity",
      title: en.columns.identity_id ?? "",
      cell: (each) => {
        const name = <bdi>{each.identity_name ?? each.identity_id}</bdi>;
        return each.identity_id === own.identity_id ? <strong>{name}</strong> : name;
      },
    },
    { key: "weight", title: text.weight, isNumber: true, cell: ({ weight }) => groupDigits(weight ?? "") },
    {
      key: "share",
      title: en.overview.share,
      isNumber: true,
      cell: ({ share }) => share !== null && <Bar share={share} />,
    },
    {
      key: "amount",
      title: en.overview.amount,
      isNumber: true,
      leads: true,
      money: ({ amount }) => [{ value: exact(amount) }],
    },
  ];
  return (
    <DataTable
      caption={text.shares(explanation.recipients.total)}
      columns={columns}
      rows={isOnPage ? items : [own, ...items]}
      keyOf={({ identity_id }) => identity_id}
    />
  );
}

function Bar({ share }: { readonly share: string }) {
  const percent = 100 * approximate(exact(share));
  return (
    <span class="share">
      {percent.toFixed(percent < 10 ? 2 : 1)} %
      <span class="bar color-1" aria-hidden="true" style={{ width: `${Math.min(100, percent)}%` }} />
    </span>
  );
}

/** The calculation of the identity's part, in whole ticks. */
function Arithmetic({
  explanation: { this: own },
  split,
}: {
  readonly explanation: Explanation;
  readonly split: NonNullable<Explanation["split"]>;
}) {
  return (
    <p class="arithmetic">
      {text.arithmetic({
        ticks: groupDigits(split.component_ticks),
        tick: split.tick,
        upTo: groupDigits(own.weight_up_to ?? ""),
        weight: groupDigits(own.weight ?? ""),
        total: groupDigits(split.total_weight),
        offset: groupDigits(split.rounding_offset),
        own: groupDigits(own.ticks ?? ""),
      })}{" "}
      {own.has_residue === true && split.residue !== "0" && text.residue(split.residue)}
    </p>
  );
}

/** One bar chart of hourly usage for each metric. */
function Samples({ samples }: { readonly samples: Explanation["samples"] }) {
  const metrics = [...new Set(samples.map(({ metric }) => metric))];
  return (
    <>
      {metrics.map((metric) => {
        const own = samples.filter((sample) => sample.metric === metric);
        const sizes = own.map(({ quantity }) => approximate(exact(quantity)));
        const most = Math.max(...sizes, Number.MIN_VALUE);
        return (
          <figure key={metric} class="samples">
            <figcaption>{metric}</figcaption>
            <div role="img" aria-label={text.samplesOf(metric, own.length)}>
              {own.map(({ timestamp, quantity }, index) => (
                <span
                  key={timestamp}
                  class="color-1"
                  title={`${shownInstant(timestamp)}: ${quantity}`}
                  style={{ height: `${(100 * (sizes[index] ?? 0)) / most}%` }}
                />
              ))}
            </div>
          </figure>
        );
      })}
    </>
  );
}
