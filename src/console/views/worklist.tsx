/** Costs without a known cause, by amount, with the reason and what to do about it. */
import { useState } from "preact/hooks";
import { exact } from "../../common/exact-decimal.js";
import type { Schemas } from "../api/client.js";
import { leftOutOf, useAcceptedCauses, useCauses, useReconciliation } from "../api/questions.js";
import { useApi } from "../api/use-api.js";
import { AcceptDrawer } from "../parts/accepted-causes.js";
import { AssignDrawer, AssignLink } from "../parts/assign.js";
import { Assignments, useAssignedOn, useAssignments } from "../parts/assignment-list.js";
import { Causes, causeOf, causeParameters } from "../parts/causes.js";
import { Choice, narrow } from "../parts/controls.js";
import { Download } from "../parts/download.js";
import { Chip } from "../parts/filter-bar.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { Lacking } from "../parts/missing-days.js";
import { NoCosts } from "../parts/no-costs.js";
import { PageLinks, shownPage, useLastPage } from "../parts/pages.js";
import { shownPeriod } from "../parts/period-picker.js";
import { ReconciliationBanner } from "../parts/reconciliation-banner.js";
import { RequireScope } from "../parts/require-scope.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { type Changes, changed, datesAlone, go, type Place } from "../state/location.js";
import { type TenantView, viewPath } from "../state/paths.js";
import { periodOf, periodParameters } from "../state/period.js";
import type { Data } from "../state/use-data.js";
import { en, isIssueReason, issueReasons, reasonOf } from "../text/en.js";

const text = en.worklist;
type Issue = Schemas["AllocationIssue"];

export function Worklist({ place, tenant }: { readonly place: Place; readonly tenant: string }) {
  const period = periodOf(place);
  const page = shownPage(place);
  const requestedReason = place.query.get("allocation_detail");
  const reason = isIssueReason(requestedReason) ? requestedReason : undefined;
  const { product_type, rule } = causeOf(place);
  const cause = { product_type, rule };
  const accepted = useAcceptedCauses(tenant);
  const causes = useCauses(tenant, period, accepted);
  const leftOut = leftOutOf(accepted);
  const query = leftOut && {
    ...periodParameters(period),
    page,
    page_size: 100,
    ...(reason !== undefined && { allocation_detail: [reason] }),
    ...(product_type !== undefined && { product_type: [product_type] }),
    ...(rule !== undefined && { rule: [rule] }),
    ...leftOut,
  };
  const data = useApi(
    "/api/v1/tenants/{tenant_name}/chargebacks/allocation-issues",
    query && { path: { tenant_name: tenant }, query },
  );
  useLastPage(place, data);
  const proof = useReconciliation(tenant, period);
  // Links keep only the reason and the row's own values, because this view ignores other filters.
  const linked = (view: TenantView, { identity_id, resource_id, product_type }: Issue, more: Changes = {}) =>
    changed(
      datesAlone(place),
      { allocation_detail: reason, identity_id, resource_id, product_type, ...more },
      viewPath(tenant, view),
    );
  const assignedTo = useAssignedOn(tenant, period.last);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const toggle = (resource: string) => {
    const next = new Set(selected);
    if (!next.delete(resource)) next.add(resource);
    setSelected(next);
  };
  const columns: TableColumn<Issue>[] = [
    {
      key: "resource",
      title: en.columns.resource_id ?? "",
      cell: (row) => (
        <>
          <RequireScope scope="assign">
            <input
              type="checkbox"
              aria-label={en.assign.select(row.resource_id)}
              checked={selected.has(row.resource_id)}
              onChange={() => toggle(row.resource_id)}
            />{" "}
          </RequireScope>
          <Link href={linked("explorer", row, { group_by: "allocation_method" })}>
            <bdi title={row.resource_id}>{row.resource_name ?? row.resource_id}</bdi>
          </Link>
        </>
      ),
    },
    { key: "product", title: en.columns.product_type ?? "", cell: (row) => row.product_type },
    {
      key: "identity",
      title: text.paidBy,
      cell: (row) => <bdi>{row.identity_name ?? row.identity_id}</bdi>,
    },
    {
      key: "reason",
      title: en.overview.reason,
      cell: (row) => (
        <>
          <details>
            <summary>{text.reasons[row.allocation_detail].why}</summary>
            <p class="hint">{text.reasons[row.allocation_detail].todo}</p>
          </details>
          <Assigned identity={assignedTo(row.resource_id)} />
        </>
      ),
    },
    {
      key: "rows",
      title: en.overview.rows,
      isNumber: true,
      cell: (row) => row.row_count.toLocaleString("en"),
    },
    {
      key: "amount",
      title: en.overview.amount,
      isNumber: true,
      leads: true,
      money: (row) => [{ value: exact(row.total_cost), currency: row.currency }],
    },
    {
      key: "assign",
      title: "",
      cell: (row) => <AssignLink place={place} resource={row.resource_id} />,
    },
  ];
  return (
    <>
      <div class="title">
        <h1>{en.views.worklist}</h1>
        <span class="hint">{shownPeriod(period)}</span>
      </div>
      <p>{text.lead}</p>
      <Shown data={proof} height="var(--proof)">
        {(reconciliation) => <ReconciliationBanner reconciliation={reconciliation} />}
      </Shown>
      <Causes place={place} tenant={tenant} causes={causes} accepted={accepted} />
      <Shown data={data} isMain>
        {({ items, total, pages }) =>
          total === 0 && reason === undefined && product_type === undefined && rule === undefined ? (
            <NothingListed tenant={tenant} proof={proof} />
          ) : (
            <section class="card">
              <h2>{text.resources}</h2>
              <div class="filters">
                {Object.entries(cause).map(
                  ([column, value]) =>
                    value !== undefined && (
                      <Chip
                        key={column}
                        filter={{ column, isExcluding: false, values: [value] }}
                        rest={changed(place, causeParameters({ ...cause, [column]: undefined }))}
                      />
                    ),
                )}
              </div>
              <div class="controls">
                <Choice
                  label={en.overview.reason}
                  value={reason ?? ""}
                  options={[
                    ["", text.anyReason],
                    ...issueReasons.map((each) => [each, reasonOf(each)] as const),
                  ]}
                  onChoose={(allocation_detail) => narrow(place, { allocation_detail })}
                />
                {selected.size > 0 && (
                  <button
                    type="button"
                    class="primary"
                    onClick={() => go(changed(place, { assign: [...selected] }))}
                  >
                    {en.assign.assignSelected(selected.size)}
                  </button>
                )}
              </div>
              {total === 0 && <p class="hint">{text.noneOfCause}</p>}
              <DataTable
                caption={text.resources}
                columns={columns}
                rows={items}
                keyOf={(row) =>
                  JSON.stringify([
                    row.env_id,
                    row.resource_id,
                    row.product_type,
                    row.identity_id,
                    row.allocation_detail,
                    row.currency,
                  ])
                }
              />
              <PageLinks place={place} page={page} pages={pages} countText={text.resourceCount(total)} />
            </section>
          )
        }
      </Shown>
      <AllAssignments tenant={tenant} />
      <Lacking place={place} tenant={tenant} leftOut={leftOut} />
      <AcceptDrawer place={place} tenant={tenant} />
      <AssignDrawer place={place} tenant={tenant} />
    </>
  );
}

/** The rows of published days keep their reason until a run has counted the assignment. */
function Assigned({ identity }: { readonly identity: string | undefined }) {
  return identity === undefined ? null : <div class="hint">{en.assign.assignedTo(identity)}</div>;
}

function AllAssignments({ tenant }: { readonly tenant: string }) {
  const data = useAssignments(tenant, { page_size: 100 });
  if (data.value?.total === 0) return null;
  return (
    <section class="card assignments">
      <h2>{en.assign.assignments}</h2>
      <p>
        {data.value !== undefined && en.assign.count(data.value.total)}{" "}
        <Download href={`/api/v1/tenants/${encodeURIComponent(tenant)}/assignments/map`}>
          {en.assign.map}
        </Download>
      </p>
      <Assignments tenant={tenant} data={data} none={en.assign.none} />
    </section>
  );
}

interface NothingListedProps {
  readonly tenant: string;
  readonly proof: Data<Schemas["Reconciliation"]>;
}

/** Says that nothing needs attention only if there are costs. */
function NothingListed({ tenant, proof }: NothingListedProps) {
  // Costs are still loading, or failed to load; the error is shown above.
  if (proof.value === undefined || proof.isStale) return null;
  return proof.value.totals.length === 0 ? (
    <NoCosts tenant={tenant} />
  ) : (
    <Empty title={text.nothing}>
      <p>{text.nothingHint}</p>
    </Empty>
  );
}
