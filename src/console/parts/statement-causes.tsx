/** Where the shared costs of a statement come from, and why costs are unallocated. */
import { type Exact, exact, sumOf } from "../../common/exact-decimal.js";
import { moneyText } from "../../common/figures.js";
import {
  type BreakdownRequest,
  type BreakdownRow,
  loadBreakdown,
  MAX_GROUPS,
  type Totals,
  useBreakdown,
} from "../api/breakdown.js";
import { percentage } from "../money/amount-text.js";
import type { Filter } from "../state/filters.js";
import type { Period } from "../state/period.js";
import { useLoaded } from "../state/use-data.js";
import { en, reasonOf } from "../text/en.js";
import { AmountCell } from "./amount.js";
import { Shown } from "./messages.js";

const text = en.statement;

interface CausesProps {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
  readonly totals: Totals;
}

const sharedAlone: Filter = { column: "cost_type", isExcluding: false, values: ["shared"] };
const RULE = ["rule", "product_type", "allocation_method"];

/** One sentence for each rule that divides costs among several identities. */
export function SharedRules({ tenant, period, filters, totals }: CausesProps) {
  const isNone = totals.parts.shared === "0";
  const request = (own: readonly Filter[]): BreakdownRequest => ({
    tenant,
    period,
    filters: [...own.filter(({ column }) => column !== "cost_type"), sharedAlone],
    groupBy: RULE,
    limit: MAX_GROUPS,
  });
  const ofAll = filters.filter(({ column }) => !["identity_id", "team"].includes(column));
  const data = useLoaded(loadAll, isNone ? undefined : [request(filters), request(ofAll)]);
  if (isNone) return null;
  return (
    <>
      <h2 class="next">{text.shared}</h2>
      <Shown data={data}>
        {([own, all]) => (
          <Sentences groups={own?.groups ?? []} wholes={all?.groups ?? []} currency={totals.currency} />
        )}
      </Shown>
    </>
  );
}

const loadAll = (requests: readonly BreakdownRequest[], signal: AbortSignal) =>
  Promise.all(requests.map((each) => loadBreakdown(each, signal)));

interface SentencesProps {
  readonly groups: readonly BreakdownRow[];
  /** The sums of the same groups over all identities. */
  readonly wholes: readonly BreakdownRow[];
  readonly currency: string;
}

function Sentences({ groups, wholes, currency }: SentencesProps) {
  const keyOf = ({ dimensions }: BreakdownRow) => JSON.stringify(RULE.map((name) => dimensions[name]));
  const inCurrency = (of: readonly BreakdownRow[]) => of.filter((group) => group.currency === currency);
  const sharedOf = (group: BreakdownRow) => exact(group.parts.shared);
  const shown = inCurrency(groups).filter(({ parts }) => parts.shared !== "0");
  const wholeOf = (group: BreakdownRow) =>
    sumOf(
      inCurrency(wholes)
        .filter((each) => keyOf(each) === keyOf(group))
        .map(sharedOf),
    );
  return (
    <dl class="sums methods">
      {shown.map((group) => (
        <div key={keyOf(group)}>
          <dt>
            <bdi>{sentenceOf(group, wholeOf(group))}</bdi>
          </dt>
          <dd>
            <AmountCell value={sharedOf(group)} currency={currency} isNamed />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function sentenceOf({ dimensions, parts, currency }: BreakdownRow, whole: Exact): string {
  const { rule = "", product_type: product = "", allocation_method: method = "" } = dimensions;
  return text.sharedBy({
    rule,
    product,
    how: text.method[method] ?? method,
    whole: `${moneyText(whole, currency)} ${currency}`,
    part: percentage(exact(parts.shared), whole) ?? "",
  });
}

/** The reasons of what no identity was found for. */
export function UnallocatedReasons({ tenant, period, filters, totals }: CausesProps) {
  const isNone = totals.parts.unallocated === "0";
  const request: BreakdownRequest = {
    tenant,
    period,
    filters,
    groupBy: ["allocation_detail"],
    order: "unallocated.desc",
    limit: MAX_GROUPS,
  };
  const data = useBreakdown(isNone ? undefined : request);
  if (isNone) return null;
  return (
    <>
      <h2 class="next">{text.unallocated}</h2>
      <Shown data={data}>
        {({ groups }) => (
          <dl class="sums">
            {groups
              .filter(({ currency, parts }) => currency === totals.currency && parts.unallocated !== "0")
              .map(({ currency, dimensions: { allocation_detail: detail }, parts }) => (
                <div key={detail}>
                  <dt>{reasonOf(detail)}</dt>
                  <dd>
                    <AmountCell value={exact(parts.unallocated)} currency={currency} isNamed />
                  </dd>
                </div>
              ))}
          </dl>
        )}
      </Shown>
    </>
  );
}
