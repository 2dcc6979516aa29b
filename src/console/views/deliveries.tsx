/** Delivered bills: which of them count, findings about them, and those that wait to be accepted. */
import { useState } from "preact/hooks";
import { exact } from "../../common/exact-decimal.js";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { useApi } from "../api/use-api.js";
import { AmountCell } from "../parts/amount.js";
import { DeliveryChange } from "../parts/delivery-change.js";
import { Empty, FieldError, Shown } from "../parts/messages.js";
import { PageLinks, shownPage, useLastPage } from "../parts/pages.js";
import { RequireScope } from "../parts/require-scope.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { shownInstant } from "../state/days.js";
import type { Place } from "../state/location.js";
import { useChange } from "../state/use-change.js";
import { deliveries as text } from "../text/deliveries.js";

type Delivery = Schemas["Delivery"];

export function Deliveries({ place, tenant }: { readonly place: Place; readonly tenant: string }) {
  const page = shownPage(place);
  const query = { page, page_size: 50 };
  const data = useApi("/api/v1/tenants/{tenant_name}/deliveries", { path: { tenant_name: tenant }, query });
  useLastPage(place, data);
  const columns = columnsOf(tenant);
  return (
    <>
      <h1>{text.title}</h1>
      <p>{text.lead}</p>
      <Shown data={data} isMain>
        {({ items, total, pages }) =>
          items.length === 0 ? (
            <Empty title={text.none}>
              <p>{text.noneHint}</p>
            </Empty>
          ) : (
            <section class="card">
              <DataTable
                caption={text.title}
                columns={columns}
                rows={items}
                keyOf={({ delivery_id: id }) => String(id)}
              />
              <PageLinks place={place} page={page} pages={pages} countText={text.count(total)} />
            </section>
          )
        }
      </Shown>
    </>
  );
}

function columnsOf(tenant: string): TableColumn<Delivery>[] {
  return [
    {
      key: "source",
      title: text.source,
      cell: ({ source, kind }) => (
        <>
          {source}
          {kind === "additive" && <div class="hint">{text.addition}</div>}
        </>
      ),
    },
    {
      key: "period",
      title: text.period,
      cell: ({ billing_period: period }) => period ?? text.byLines,
    },
    {
      key: "state",
      title: text.state,
      wraps: true,
      cell: (delivery) => (
        <>
          <span class={`status ${statusOf(delivery.state)}`}>{text.states[delivery.state]}</span>
          {delivery.problem !== null && <div class="hint">{delivery.problem}</div>}
          {delivery.state === "waiting_for_acceptance" && (
            <RequireScope scope="run">
              <Accept tenant={tenant} delivery={delivery} />
            </RequireScope>
          )}
        </>
      ),
    },
    {
      key: "loaded",
      title: text.loaded,
      cell: ({ loaded_at: at }) => at !== null && <time dateTime={at}>{shownInstant(at)}</time>,
    },
    {
      key: "lines",
      title: text.lines,
      isNumber: true,
      cell: ({ lines }) => lines?.toLocaleString("en"),
    },
    {
      key: "sums",
      title: text.sums,
      isNumber: true,
      leads: true,
      money: ({ sums }) =>
        sums.map(({ currency, effective_cost: cost }) => ({ value: exact(cost), currency })),
    },
    {
      key: "change",
      title: text.change,
      wraps: true,
      cell: (delivery) => <DeliveryChange tenant={tenant} delivery={delivery} />,
    },
    {
      key: "classes",
      title: text.classes,
      wraps: true,
      cell: (delivery) => <Classes delivery={delivery} />,
    },
    { key: "odd", title: text.odd, cell: (delivery) => <Odd delivery={delivery} /> },
    { key: "files", title: text.files, cell: (delivery) => <Files delivery={delivery} /> },
  ];
}

/** CSS class of the state, one of those for states of runs. */
function statusOf(state: Delivery["state"]): string {
  if (state === "refused") return "failed";
  if (state === "waiting_for_acceptance") return "completed_with_errors";
  return state === "current" ? "completed" : "";
}

/** Counts and costs of the lines that are not charged, by reason. */
function Classes({ delivery: { classes } }: { readonly delivery: Delivery }) {
  const others = classes.filter((each) => each.class !== "charged" && each.rows > 0);
  if (others.length === 0) return null;
  return (
    <ul>
      {others.map((each) => (
        <li key={`${each.class} ${each.reason} ${each.currency}`}>
          {text.className(each.class, each.reason)}: {text.onLines(each.rows)},{" "}
          <AmountCell value={exact(each.cost)} currency={each.currency} />
        </li>
      ))}
    </ul>
  );
}

function Odd({ delivery: { findings, remarks } }: { readonly delivery: Delivery }) {
  if (findings.length + remarks.length === 0) return null;
  return (
    <details>
      <summary>{text.oddCount(findings.length + remarks.length)}</summary>
      <ul>
        {findings.map(({ id, what, lines, examples }) => (
          <li key={id}>
            {what} ({text.onLines(lines)})
            <div class="hint">
              <bdi>{examples.join(", ")}</bdi>
            </div>
          </li>
        ))}
        {remarks.map((remark) => (
          <li key={remark}>{remark}</li>
        ))}
      </ul>
    </details>
  );
}

function Files({ delivery: { files, file_count: count } }: { readonly delivery: Delivery }) {
  return (
    <details>
      <summary>{text.fileCount(count)}</summary>
      <ul>
        {files.map(({ name, format, focus_version: version, dataset }) => (
          <li key={name}>
            <bdi>{name}</bdi>
            <div class="hint">{text.version(format, version, dataset)}</div>
          </li>
        ))}
        {count > files.length && <li>… {(count - files.length).toLocaleString("en")}</li>}
      </ul>
    </details>
  );
}

interface AcceptProps {
  readonly tenant: string;
  readonly delivery: Delivery;
}

/** Asks for confirmation, because the delivery that counts now has more of the month. */
function Accept({ tenant, delivery: { delivery_id: id, source, billing_period } }: AcceptProps) {
  const [isConfirming, setConfirming] = useState(false);
  const { error, isBusy, change } = useChange();
  const params = { path: { tenant_name: tenant, delivery_id: id } };
  const accept = () =>
    bodyOf(api.POST("/api/v1/tenants/{tenant_name}/deliveries/{delivery_id}/accept", { params }));
  if (!isConfirming)
    return (
      <button
        type="button"
        aria-label={text.acceptOf(source, billing_period ?? text.byLines)}
        onClick={() => setConfirming(true)}
      >
        {text.accept}
      </button>
    );
  return (
    <fieldset>
      <legend>{text.sure}</legend>
      <button type="button" disabled={isBusy} onClick={() => void change(accept)}>
        {text.yes}
      </button>{" "}
      <button type="button" disabled={isBusy} onClick={() => setConfirming(false)}>
        {text.no}
      </button>
      <FieldError error={error} />
    </fieldset>
  );
}
