/** The costs of a statement by product and resource, with a subtotal of each product. */
import { compare, exact } from "../../common/exact-decimal.js";
import {
  type BreakdownRequest,
  type BreakdownRow,
  bucketAmount,
  MAX_GROUPS,
  partsOf,
  type ShownBreakdown,
  type Sums,
  type Totals,
  useBreakdown,
} from "../api/breakdown.js";
import type { Filter } from "../state/filters.js";
import type { Period } from "../state/period.js";
import { columnName, en } from "../text/en.js";
import { Shown } from "./messages.js";
import { DataTable, type TableColumn } from "./table.js";

const text = en.statement;

interface LinesProps {
  readonly tenant: string;
  readonly period: Period;
  readonly filters: readonly Filter[];
  /** By product and resource. */
  readonly breakdown: ShownBreakdown;
  readonly totals: Totals;
}

export function StatementLines({ tenant, period, filters, breakdown, totals }: LinesProps) {
  const request: BreakdownRequest = {
    tenant,
    period,
    filters,
    groupBy: ["product_type"],
    limit: MAX_GROUPS,
  };
  const products = useBreakdown(request);
  return (
    <>
      <h2>{text.lines}</h2>
      <Shown data={products} height="20rem">
        {({ groups }) => <Lines breakdown={breakdown} products={groups} totals={totals} />}
      </Shown>
    </>
  );
}

interface Line {
  readonly key: string;
  readonly product: string;
  readonly resource: string;
  readonly sums: Pick<Sums, "total_amount" | "parts">;
  readonly isSubtotal: boolean;
}

interface TableProps extends Pick<LinesProps, "breakdown" | "totals"> {
  readonly products: readonly BreakdownRow[];
}

function Lines({ breakdown, products, totals }: TableProps) {
  const { currency } = totals;
  const amount = (key: string, title: string, of: (sums: Line["sums"]) => string): TableColumn<Line> => ({
    key,
    title,
    isNumber: true,
    leads: key === "total",
    money: ({ sums }) => [{ value: exact(of(sums)), currency, isNamed: true }],
    totalMoney: [{ value: exact(of(totals)), currency, isNamed: true }],
  });
  return (
    <DataTable
      caption={text.lines}
      columns={[
        { key: "product", title: columnName("product_type"), cell: ({ product }) => <bdi>{product}</bdi> },
        { key: "resource", title: columnName("resource_id"), cell: ({ resource }) => <bdi>{resource}</bdi> },
        ...partsOf(totals).map((part) => amount(part, en.explorer.parts[part], ({ parts }) => parts[part])),
        amount("total", en.inCurrency(en.overview.amount, currency), ({ total_amount }) => total_amount),
      ]}
      rows={linesOf(breakdown, products, currency)}
      keyOf={({ key }) => key}
      isSubtotal={({ isSubtotal }) => isSubtotal}
      totalTitle={breakdown.groups.some(({ provisional }) => provisional) ? en.provisionalTotal : en.total}
    />
  );
}

/** Lines by product, the largest first. If there are several products, each with several lines has a subtotal above. */
function linesOf(
  { groups, others }: ShownBreakdown,
  products: readonly BreakdownRow[],
  currency: string,
): Line[] {
  const own = groups.filter((group) => group.currency === currency);
  const subtotals = products.filter((group) => group.currency === currency);
  const productOf = ({ dimensions }: BreakdownRow) => dimensions.product_type ?? "";
  const largestFirst = (a: BreakdownRow, b: BreakdownRow) => compare(bucketAmount(b), bucketAmount(a));
  const lines = [...subtotals].sort(largestFirst).flatMap((sums): Line[] => {
    const product = productOf(sums);
    const resources = own.filter((group) => productOf(group) === product).sort(largestFirst);
    const subtotal = { key: JSON.stringify([product]), product, sums, isSubtotal: true };
    return [
      ...(subtotals.length > 1 && resources.length > 1
        ? [{ ...subtotal, resource: text.resources(resources.length) }]
        : []),
      ...resources.map((group) => {
        const { resource_id: resource = "" } = group.dimensions;
        return {
          key: JSON.stringify([product, resource]),
          product,
          resource: group.display_names.resource_id ?? resource,
          sums: group,
          isSubtotal: false,
        };
      }),
    ];
  });
  const rest = others
    .filter((each) => each.currency === currency)
    .map((sums): Line => {
      return { key: "others", product: text.others(sums.group_count), resource: "", sums, isSubtotal: false };
    });
  return [...lines, ...rest];
}
