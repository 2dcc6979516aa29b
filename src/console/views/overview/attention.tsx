/** What needs attention: costs by reason, and the errors of the last run. */
import { exact } from "../../../common/exact-decimal.js";
import { type BreakdownRequest, type BreakdownRow, useBreakdown } from "../../api/breakdown.js";
import type { Schemas } from "../../api/client.js";
import { leftOutOf, useAcceptedCauses } from "../../api/questions.js";
import { Link } from "../../parts/link.js";
import { Shown } from "../../parts/messages.js";
import { DataTable, type TableColumn } from "../../parts/table.js";
import { changed, datesAlone, type Place } from "../../state/location.js";
import { viewPath } from "../../state/paths.js";
import { periodOf } from "../../state/period.js";
import { en, issueReasons, reasonOf } from "../../text/en.js";

const text = en.overview;

interface AttentionProps {
  readonly place: Place;
  readonly tenant: string;
  /** Undefined while it is not known. */
  readonly hasCosts: boolean | undefined;
  readonly run: Schemas["PipelineStatus"] | undefined;
}

export function Attention({ place, tenant, hasCosts, run }: AttentionProps) {
  const leftOut = leftOutOf(useAcceptedCauses(tenant));
  const request: BreakdownRequest | undefined = leftOut && {
    tenant,
    period: periodOf(place),
    limit: issueReasons.length,
    groupBy: ["allocation_detail"],
    filters: [{ column: "allocation_detail", isExcluding: false, values: issueReasons }],
    causes: leftOut,
  };
  const data = useBreakdown(request);
  const toFix = (changes = {}) => changed(datesAlone(place), changes, viewPath(tenant, "worklist"));
  const columns: TableColumn<BreakdownRow>[] = [
    {
      key: "reason",
      title: text.reason,
      cell: ({ dimensions: { allocation_detail } }) => (
        <Link href={toFix({ allocation_detail })}>{reasonOf(allocation_detail)}</Link>
      ),
    },
    {
      key: "rows",
      title: text.rows,
      isNumber: true,
      cell: ({ row_count }) => row_count.toLocaleString("en"),
    },
    {
      key: "amount",
      title: text.amount,
      isNumber: true,
      leads: true,
      money: (group) => [{ value: exact(group.total_amount), currency: group.currency }],
    },
  ];
  const [error] = run?.last_result?.errors ?? [];
  return (
    <section class="card">
      <h2>
        {text.issues}
        <Link class="quiet" href={toFix()}>
          {en.views.worklist}
        </Link>
      </h2>
      {error !== undefined && (
        <p>
          {text.lastRunFailed} <Link href={viewPath(tenant, "runs")}>{error}</Link>
        </p>
      )}
      <Shown data={data}>
        {({ groups }) =>
          groups.length === 0 ? (
            // A period without costs has no issues either, which is not good news.
            <p class="hint">{hasCosts ? text.noIssues : hasCosts === false && text.noneToCheck}</p>
          ) : (
            <DataTable
              caption={text.issues}
              columns={columns}
              rows={groups}
              keyOf={({ currency, dimensions }) => `${currency} ${dimensions.allocation_detail}`}
            />
          )
        }
      </Shown>
    </section>
  );
}
