/** Drawer that explains an amount, from the chargeback back to the bill. It is open while the address has `why`. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { exact } from "../../common/exact-decimal.js";
import type { Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { approximate } from "../money/amount-text.js";
import { shownInstant } from "../state/days.js";
import { changed, type Place } from "../state/location.js";
import { en } from "../text/en.js";
import { AmountCell } from "./amount.js";
import { Drawer } from "./drawer.js";
import { Link } from "./link.js";
import { Empty, Shown } from "./messages.js";
import { DimensionTags } from "./tag-editor.js";
import { WhyDays } from "./why-days.js";
import { WhyHead } from "./why-head.js";
import { Arithmetic, Recipients } from "./why-split.js";
import { WhyStrip } from "./why-strip.js";

const text = en.explain;
const PAGE_SIZE = 20;

type Explanation = Schemas["Explanation"];

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
  const data = useApi("/api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}/explain", params);
  return (
    <Shown data={data} height="60vh">
      {(explanation) => (
        <>
          <WhyHead explanation={explanation} place={place} tenant={tenant} />
          <Chain
            explanation={explanation}
            page={page}
            setPage={setPage}
            givings={<Givings explanation={explanation} place={place} why={why} />}
          />
          {explanation.giving === explanation.path.length && (
            <Step title={text.days}>
              <p class="hint">{text.daysHint}</p>
              <WhyDays explanation={explanation} place={place} tenant={tenant} why={why} />
            </Step>
          )}
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

/** How the amount came about: the way to it, who else shares the cost, and why nobody before them does. */
function Chain({ explanation, page, setPage, givings }: ChainProps) {
  const { rule, tiers, samples } = explanation;
  return (
    <>
      <WhyStrip explanation={explanation} />
      {rule === null && <p class="hint">{text.noRule}</p>}
      {explanation.line === null && <p class="hint">{text.noLine}</p>}
      <Arithmetic explanation={explanation} />
      {givings}
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
      </Step>
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
