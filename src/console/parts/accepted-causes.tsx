/** Causes that people accept until a day: a drawer that accepts one, and the list of them, where each can be taken back. */
import { useState } from "preact/hooks";
import { addDays } from "../../common/days.js";
import { sumOf } from "../../common/exact-decimal.js";
import { splitNames } from "../../common/name-list.js";
import { type BreakdownRow, bucketAmount, type Totals } from "../api/breakdown.js";
import { api, bodyOf, type Schemas } from "../api/client.js";
import { causeText, textsOfAccepted, useCostsOf } from "../api/questions.js";
import { percentage } from "../money/amount-text.js";
import { currentDay, shownDay } from "../state/days.js";
import { changed, type Place } from "../state/location.js";
import { periodOf } from "../state/period.js";
import { useChange } from "../state/use-change.js";
import { columnName, en, isIssueReason, reasonOf } from "../text/en.js";
import { AmountCell } from "./amount.js";
import { Day } from "./controls.js";
import { DecisionForm } from "./decision-form.js";
import { Drawer } from "./drawer.js";
import { Link } from "./link.js";
import { FieldError, Shown } from "./messages.js";
import { RequireScope } from "./require-scope.js";
import { DataTable, type TableColumn } from "./table.js";

const text = en.worklist;
const DEFAULT_DAYS = 30;

type AcceptedCause = Schemas["AcceptedCause"];
type IssueCause = Pick<AcceptedCause, "allocation_detail" | "product_type" | "rule">;

/** A cause in words, such as `The line names no identity, AmazonS3, storage`. */
const inWords = ({ allocation_detail, product_type, rule }: IssueCause) =>
  [reasonOf(allocation_detail), product_type, rule].filter((word) => word !== "").join(", ");

/** The cause of a text of the address; undefined if it is none. */
function causeOfText(cause: string | null): IssueCause | undefined {
  const [detail = "", product_type = "", rule = ""] = splitNames(cause ?? "");
  return isIssueReason(detail) ? { allocation_detail: detail, product_type, rule } : undefined;
}

export function AcceptLink({ place, group }: { readonly place: Place; readonly group: BreakdownRow }) {
  const cause = causeText(group.dimensions);
  const of = causeOfText(cause);
  if (of === undefined) return null;
  return (
    <RequireScope scope="assign">
      <Link href={changed(place, { accept: cause })} aria-label={text.acceptOf(inWords(of))}>
        {text.accept}
      </Link>
    </RequireScope>
  );
}

interface DrawerProps {
  readonly place: Place;
  readonly tenant: string;
}

export function AcceptDrawer({ place, tenant }: DrawerProps) {
  const cause = causeOfText(place.query.get("accept"));
  if (cause === undefined) return null;
  return (
    <Drawer key={inWords(cause)} place={place} parameter="accept" title={text.acceptTitle}>
      <h2>{text.acceptTitle}</h2>
      <p>
        <bdi>{inWords(cause)}</bdi>
      </p>
      <RequireScope scope="assign">
        <AcceptForm tenant={tenant} cause={cause} />
      </RequireScope>
    </Drawer>
  );
}

function AcceptForm({ tenant, cause }: { readonly tenant: string; readonly cause: IssueCause }) {
  const [until, setUntil] = useState(() => addDays(currentDay(), DEFAULT_DAYS));
  const params = { path: { tenant_name: tenant } };
  const accepted = { ...cause, accepted_until: until };
  return (
    <DecisionForm
      hint={text.acceptHint}
      submit={text.acceptSubmit}
      save={(by) =>
        bodyOf(
          api.POST("/api/v1/tenants/{tenant_name}/accepted-causes", { params, body: { ...accepted, ...by } }),
        )
      }
      done={() => text.acceptDone(shownDay(until))}
    >
      <Day label={text.until} value={until} onInput={setUntil} required />
    </DecisionForm>
  );
}

interface AcceptedProps extends DrawerProps {
  /** The costs of all other causes in the period. */
  readonly open: { readonly groups: readonly BreakdownRow[]; readonly totals: readonly Totals[] };
  /** Also those whose day has passed. */
  readonly accepted: readonly AcceptedCause[];
}

/** Renders nothing if no cause was ever accepted. */
export function AcceptedCauses({ place, tenant, open, accepted }: AcceptedProps) {
  const costs = useCostsOf(tenant, periodOf(place), textsOfAccepted(accepted));
  if (accepted.length === 0) return null;
  return (
    <section class="card">
      <Shown data={costs} height="1.6rem">
        {(leftOut) => <Accepted tenant={tenant} open={open} accepted={accepted} leftOut={leftOut} />}
      </Shown>
    </section>
  );
}

function Accepted({
  tenant,
  open,
  accepted,
  leftOut,
}: Omit<AcceptedProps, "place"> & { readonly leftOut: AcceptedProps["open"] }) {
  // A cause whose day has passed is among the others.
  const groups = [...leftOut.groups, ...open.groups];
  const groupsOf = (cause: IssueCause) => {
    const wanted = causeText(cause);
    return groups.filter(({ dimensions }) => causeText(dimensions) === wanted);
  };
  const current = accepted.filter(({ is_current }) => is_current);
  const otherCosts = new Map(open.totals.map((totals) => [totals.currency, bucketAmount(totals)]));
  const columns: TableColumn<AcceptedCause>[] = [
    { key: "cause", title: text.cause, wraps: true, cell: (row) => reasonOf(row.allocation_detail) },
    { key: "product", title: columnName("product_type"), cell: (row) => <bdi>{row.product_type}</bdi> },
    { key: "rule", title: columnName("rule"), cell: (row) => <bdi>{row.rule}</bdi> },
    {
      key: "amount",
      title: en.overview.amount,
      isNumber: true,
      leads: true,
      money: (row) =>
        groupsOf(row).map((group) => ({ value: bucketAmount(group), currency: group.currency })),
    },
    {
      key: "until",
      title: text.until,
      cell: ({ accepted_until: day, is_current }) =>
        is_current ? shownDay(day) : text.passed(shownDay(day)),
    },
    { key: "reason", title: en.assign.reason, wraps: true, cell: ({ reason }) => <bdi>{reason}</bdi> },
    { key: "by", title: text.by, cell: ({ created_by }) => <bdi>{created_by}</bdi> },
    {
      key: "change",
      title: "",
      cell: (row) => (
        <RequireScope scope="assign">
          <TakeBack tenant={tenant} cause={row} />
        </RequireScope>
      ),
    },
  ];
  return (
    <details>
      <summary>
        {text.accepted(current.length)}
        {leftOut.totals.map((totals) => {
          const { currency } = totals;
          const amount = bucketAmount(totals);
          const whole = sumOf([amount, otherCosts.get(currency) ?? []].flat());
          return (
            <span key={currency}>
              , <AmountCell value={amount} currency={currency} />, {percentage(amount, whole)}
            </span>
          );
        })}
      </summary>
      <DataTable
        caption={text.acceptedCaption}
        columns={columns}
        rows={accepted}
        keyOf={({ accepted_cause_id }) => String(accepted_cause_id)}
      />
    </details>
  );
}

function TakeBack({ tenant, cause }: { readonly tenant: string; readonly cause: AcceptedCause }) {
  const { error, isBusy, change } = useChange();
  const params = { path: { tenant_name: tenant, accepted_cause_id: cause.accepted_cause_id } };
  const takeBack = () =>
    bodyOf(api.DELETE("/api/v1/tenants/{tenant_name}/accepted-causes/{accepted_cause_id}", { params }));
  return (
    <>
      <button
        type="button"
        disabled={isBusy}
        aria-label={text.takeBackOf(inWords(cause))}
        onClick={() => void change(takeBack)}
      >
        {text.takeBack}
      </button>
      <FieldError error={error} />
    </>
  );
}
