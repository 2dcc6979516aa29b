/** The table of causes of the costs that need attention. One change removes a cause. The most expensive come first. */
import { exact, sumOf } from "../../common/exact-decimal.js";
import { type BreakdownRow, bucketAmount, type Totals } from "../api/breakdown.js";
import type { Schemas } from "../api/client.js";
import type { useCauses } from "../api/questions.js";
import { approximate, percentage } from "../money/amount-text.js";
import { changed, type Place } from "../state/location.js";
import type { Data } from "../state/use-data.js";
import { columnName, en, isIssueReason, reasonOf } from "../text/en.js";
import { AcceptedCauses, AcceptLink } from "./accepted-causes.js";
import { Link } from "./link.js";
import { Shown } from "./messages.js";
import { DataTable, type TableColumn } from "./table.js";

const text = en.worklist;

interface ChosenCause {
  readonly product_type: string | undefined;
  readonly rule: string | undefined;
}

/** The product and the rule that the list is limited to. They are no filters, which follow to other views. */
export const causeOf = ({ query }: Place): ChosenCause => ({
  product_type: query.get("cause_product") ?? undefined,
  rule: query.get("cause_rule") ?? undefined,
});

export const causeParameters = ({ product_type, rule }: ChosenCause) => ({
  cause_product: product_type,
  cause_rule: rule,
  page: undefined,
});

/** Smaller causes are one row until the reader asks for them: together they are less than this share. */
const SMALL_SHARE = 0.01;

interface CausesProps {
  readonly place: Place;
  readonly tenant: string;
  readonly causes: ReturnType<typeof useCauses>;
  readonly accepted: Data<Schemas["AcceptedCause"][]>;
}

export function Causes({ place, tenant, causes, accepted }: CausesProps) {
  return (
    <Shown data={accepted} height="16rem">
      {(decisions) => (
        <Shown data={causes} height="16rem">
          {(open) => (
            <>
              {open.totals.map((totals) => (
                <Table key={totals.currency} place={place} groups={open.groups} totals={totals} />
              ))}
              <AcceptedCauses place={place} tenant={tenant} open={open} accepted={decisions} />
            </>
          )}
        </Shown>
      )}
    </Shown>
  );
}

interface Row {
  readonly key: string;
  readonly amount: string;
  /** The sum of this cause and of all before it. */
  readonly together: string;
  readonly group?: BreakdownRow;
}

interface TableProps {
  readonly place: Place;
  /** The largest causes of all currencies. */
  readonly groups: readonly BreakdownRow[];
  readonly totals: Totals;
}

function Table({ place, groups: all, totals }: TableProps) {
  const { currency, group_count: count } = totals;
  const groups = all.filter((group) => group.currency === currency);
  const whole = bucketAmount(totals);
  const isAll = place.query.get("causes") === "all";
  const shown = isAll ? groups : groups.slice(0, largeOnes(groups, approximate(whole)));
  const shareOf = (amounts: readonly BreakdownRow[]) => percentage(sumOf(amounts.map(bucketAmount)), whole);
  const small = count - shown.length;
  const rows: Row[] = shown.map((group, index) => ({
    key: JSON.stringify(group.dimensions),
    amount: group.total_amount,
    together: shareOf(shown.slice(0, index + 1)) ?? "",
    group,
  }));
  const hasRules = groups.some(({ dimensions }) => dimensions.rule !== "");
  const columns: TableColumn<Row>[] = [
    {
      key: "cause",
      title: text.cause,
      wraps: true,
      cell: ({ group }) => group && <Cause place={place} group={group} />,
    },
    {
      key: "product",
      title: columnName("product_type"),
      cell: ({ group }) => <bdi>{group?.dimensions.product_type}</bdi>,
    },
    ...(hasRules
      ? [
          {
            key: "rule",
            title: columnName("rule"),
            cell: ({ group }: Row) => <bdi>{group?.dimensions.rule}</bdi>,
          },
        ]
      : []),
    {
      key: "amount",
      title: en.inCurrency(en.overview.amount, currency),
      isNumber: true,
      leads: true,
      money: ({ amount }) => [{ value: exact(amount), currency, isNamed: true }],
      totalMoney: [{ value: whole, currency, isNamed: true }],
    },
    {
      key: "share",
      title: en.overview.share,
      isNumber: true,
      cell: ({ group }) => group && shareOf([group]),
    },
    { key: "together", title: text.together, isNumber: true, cell: ({ together }) => together },
    { key: "accept", title: "", cell: ({ group }) => group && <AcceptLink place={place} group={group} /> },
  ];
  return (
    <section class="card">
      <h2>{text.byCause}</h2>
      <DataTable
        caption={text.byCause}
        columns={columns}
        rows={rows}
        keyOf={({ key }) => key}
        totalTitle={text.causes(count)}
      />
      {small > 0 && groups.length > shown.length && (
        <p>
          <Link href={changed(place, { causes: "all" })}>{text.smaller(small)}</Link>
        </p>
      )}
    </section>
  );
}

/** How many of the largest groups leave less than a small share of the whole. */
function largeOnes(groups: readonly BreakdownRow[], whole: number): number {
  let left = Math.abs(whole);
  const enough = groups.findIndex((group) => {
    left -= Math.abs(approximate(bucketAmount(group)));
    return left < SMALL_SHARE * Math.abs(whole);
  });
  return enough < 0 ? groups.length : enough + 1;
}

function Cause({ place, group }: { readonly place: Place; readonly group: BreakdownRow }) {
  const { allocation_detail: reason } = group.dimensions;
  const { product_type, rule } = group.dimensions;
  const narrowed = { allocation_detail: reason, ...causeParameters({ product_type, rule }) };
  return (
    <>
      <Link href={changed(place, narrowed)}>{reasonOf(reason)}</Link>
      {isIssueReason(reason) && <div class="hint">{text.reasons[reason].todo}</div>}
    </>
  );
}
