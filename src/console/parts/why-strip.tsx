/** The way from the bill to the amount, in one line: bill, discounts, rule, share, amount. */
import type { ComponentChildren } from "preact";
import { type Exact, exact, exactText, minus, sumOf, times, zero } from "../../common/exact-decimal.js";
import { groupDigits, partText, shareText } from "../../common/figures.js";
import type { Schemas } from "../api/client.js";
import { en } from "../text/en.js";
import { AmountCell } from "./amount.js";

const text = en.explain;

type Explanation = Schemas["Explanation"];
type Line = NonNullable<Explanation["line"]>;

interface StripStep {
  readonly key: string;
  readonly title: string;
  readonly figure: ComponentChildren;
  readonly hint?: ComponentChildren;
}

export function WhyStrip({ explanation }: { readonly explanation: Explanation }) {
  const { row, this: own } = explanation;
  const amount = <AmountCell value={exact(own.amount)} currency={row.currency} />;
  const steps: StripStep[] = [
    ...givenBefore(explanation),
    ...ruleStep(explanation),
    { key: "share", title: text.share, figure: shareFigure(explanation), hint: shareHint(explanation) },
    { key: "amount", title: text.amount, figure: amount },
  ];
  return (
    <ol class="strip" aria-label={text.strip}>
      {steps.map(({ key, title, figure, hint }) => (
        <li key={key}>
          <span class="hint">{title}</span>
          <strong>{figure}</strong>
          {hint !== undefined && <span class="hint">{hint}</span>}
        </li>
      ))}
    </ol>
  );
}

/** Shows the cost that is divided: the line of the bill, or what a step took. */
function givenBefore({ path, giving, taken, line, row }: Explanation): StripStep[] {
  const { currency } = row;
  const from = path[giving - 1];
  if (taken !== null && from !== undefined)
    return [
      {
        key: "taken",
        title: text.taken(from.step, from.identity_id),
        figure: <AmountCell value={exact(taken)} currency={currency} />,
      },
    ];
  return line === null ? [] : billSteps(line);
}

function billSteps({ priced, total_cost, currency, bill_lines }: Line): StripStep[] {
  const lines = bill_lines > 1 ? text.billLines(bill_lines) : undefined;
  const amount = (value: Exact) => <AmountCell value={value} currency={currency} />;
  if (priced === null)
    return [{ key: "bill", title: text.bill, figure: amount(exact(total_cost)), hint: lines }];
  const products = priced.products.map((each) => productText(each));
  return [
    {
      key: "bill",
      title: text.bill,
      figure: amount(sumOf(priced.products.map((each) => exact(each.amount)))),
      hint: products.length > MOST_PRODUCTS ? text.prices(products.length) : products.join(" + "),
    },
    ...priced.reductions
      .filter(({ kind }) => kind !== "rounding")
      .map(({ kind, amount: reduced }) => ({
        key: kind,
        title: text.reductions[kind],
        figure: amount(minus(zero, exact(reduced))),
      })),
  ];
}

const MOST_PRODUCTS = 2;

export function productText({
  quantity,
  unit,
  unit_price,
}: Pick<Schemas["BilledProduct"], "quantity" | "unit" | "unit_price">): string {
  return text.product(groupDigits(quantity), unit, groupDigits(unit_price));
}

const hundred: Exact = { units: 100n, scale: 0 };

/** The component of the rule that the explained row is a part of. Steps have one. */
export function componentOf({ rule, row, taken }: Explanation) {
  return rule?.components.find((each) => each.component === (taken === null ? row.component : 0));
}

function ruleStep(explanation: Explanation): StripStep[] {
  const { rule, row, taken, line } = explanation;
  const component = componentOf(explanation);
  if (rule === null || component === undefined) return [];
  const isWhole = rule.components.length === 1;
  const whole = taken ?? line?.total_cost;
  const percent = exactText(times(exact(component.ratio), hundred));
  return [
    {
      key: "rule",
      title: text.rule,
      figure: <AmountCell value={exact(component.amount)} currency={row.currency} />,
      hint: (
        <>
          {rule.rule !== "" ? <bdi>{rule.rule}</bdi> : text.productRule(rule.product_type)}
          {!isWhole && whole !== undefined && (
            <>
              {": "}
              {percent} % × <AmountCell value={exact(whole)} currency={row.currency} isNamed />
            </>
          )}
        </>
      ),
    },
  ];
}

function shareFigure({ this: own, recipients }: Explanation): string {
  if (recipients.total === 1) return text.whole;
  return own.share === null ? text.unknownShare : shareText(exact(own.share));
}

function shareHint({ this: own, split, row, recipients, weight_unit: unit }: Explanation): string {
  const method = en.rows.methods[row.allocation_method] ?? row.allocation_method;
  if (split === null || own.weight === null) return method;
  if (row.allocation_method === "usage_ratio")
    return `${method}: ${partText(exact(own.weight), exact(split.total_weight), unit === "bytes")}`;
  if (row.allocation_method === "even_split")
    return `${method}: ${text.oneOf(groupDigits(String(recipients.total)))}`;
  return method;
}
