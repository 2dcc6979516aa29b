/** Costs without a known cause, by amount, with the reason and what to do about it. */
import { exact } from "../../common/exact-decimal.js";
import type { Schemas } from "../api/client.js";
import { useIssues, useReconciliation } from "../api/questions.js";
import { Choice, narrow } from "../parts/controls.js";
import { Link } from "../parts/link.js";
import { Empty, Shown } from "../parts/messages.js";
import { Lacking } from "../parts/missing-days.js";
import { NoCosts } from "../parts/no-costs.js";
import { PageLinks, shownPage, useLastPage } from "../parts/pages.js";
import { shownPeriod } from "../parts/period-picker.js";
import { ReconciliationBanner } from "../parts/reconciliation-banner.js";
import { DataTable, type TableColumn } from "../parts/table.js";
import { type Changes, changed, datesAlone, type Place } from "../state/location.js";
import { type TenantView, viewPath } from "../state/paths.js";
import { periodOf } from "../state/period.js";
import type { Data } from "../state/use-data.js";
import { en, isIssueReason, issueReasons, reasonOf } from "../text/en.js";

const text = en.worklist;
type Issue = Schemas["AllocationIssue"];

export function Worklist({ place, tenant }: { readonly place: Place; readonly tenant: string }) {
  const period = periodOf(place);
  const page = shownPage(place);
  const requestedReason = place.query.get("allocation_detail");
  const reason = isIssueReason(requestedReason) ? requestedReason : undefined;
  const data = useIssues(tenant, period, {
    page,
    page_size: 100,
    ...(reason !== undefined && { allocation_detail: [reason] }),
  });
  useLastPage(place, data);
  const proof = useReconciliation(tenant, period);
  // Links keep only the reason, because this view ignores other filters.
  const linked = (view: TenantView, { identity_id, resource_id, product_type }: Issue, more: Changes = {}) =>
    changed(
      datesAlone(place),
      { allocation_detail: reason, identity_id, resource_id, product_type, ...more },
      viewPath(tenant, view),
    );
  const columns: TableColumn<Issue>[] = [
    {
      key: "resource",
      title: en.columns.resource_id ?? "",
      cell: (row) => (
        <Link href={linked("explorer", row, { group_by: "allocation_method" })}>
          <bdi>{row.resource_id}</bdi>
        </Link>
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
        <details>
          <summary>{text.reasons[row.allocation_detail].why}</summary>
          <p class="hint">{text.reasons[row.allocation_detail].todo}</p>
        </details>
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
    { key: "tag", title: "", cell: (row) => <Link href={linked("tags", row)}>{text.tag}</Link> },
  ];
  return (
    <>
      <div class="title">
        <h1>{text.title}</h1>
        <span class="hint">{shownPeriod(period)}</span>
      </div>
      <p>{text.lead}</p>
      <Shown data={proof} height="4rem">
        {(reconciliation) => <ReconciliationBanner reconciliation={reconciliation} />}
      </Shown>
      <div class="controls">
        <Choice
          label={en.overview.reason}
          value={reason ?? ""}
          options={[["", text.anyReason], ...issueReasons.map((each) => [each, reasonOf(each)] as const)]}
          onChoose={(allocation_detail) => narrow(place, { allocation_detail })}
        />
      </div>
      <Shown data={data} height="20rem">
        {({ items, total, pages }) =>
          total === 0 ? (
            <NothingListed tenant={tenant} reason={reason} proof={proof} />
          ) : (
            <section class="card">
              <DataTable
                caption={text.title}
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
              <PageLinks place={place} page={page} pages={pages} countText={text.causes(total)} />
            </section>
          )
        }
      </Shown>
      <Lacking place={place} tenant={tenant} />
    </>
  );
}

interface NothingListedProps {
  readonly tenant: string;
  readonly reason: string | undefined;
  readonly proof: Data<Schemas["Reconciliation"]>;
}

/** Says that nothing needs attention only if there are costs, and the list was not limited to one reason. */
function NothingListed({ tenant, reason, proof }: NothingListedProps) {
  if (reason !== undefined) return <Empty title={text.nothingOf(reasonOf(reason))} />;
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
