/** Control totals of a tenant: what its upstreams delivered, and the class of each row. */
import type { Pool } from "pg";
import { differenceText, sumText } from "../../common/exact-decimal.js";
import { type RowClass, rowClasses } from "../../domain/control-totals.js";
import { type PgStatement, readPostgres } from "../../postgres/statement.js";

/** Amounts are plain decimals. */
interface ControlSums {
  readonly rows: number;
  /** The amount that the tenant charges. */
  readonly cost: string;
  readonly billed: string;
  readonly effective: string;
}

export interface ClassSums extends ControlSums {
  readonly class: RowClass;
  /** Why rows are in the class; empty if the class needs no reason. */
  readonly reason: string;
}

export interface CurrencyControl {
  readonly currency: string;
  readonly delivered: ControlSums;
  /** Classes that have rows, in the order of `rowClasses`, then by reason. */
  readonly classes: ClassSums[];
  /** Delivered minus accounted for: zeros unless something is wrong. */
  readonly difference: ControlSums;
  /** Published amounts that no delivered row explains any more. */
  readonly published_only: string;
}

interface TotalRow extends ControlSums {
  readonly currency: string;
  readonly class: RowClass | "delivered" | "published_only";
  readonly reason: string;
}

/** Sums by currency, class and reason, optionally of one delivery. */
function controlTotals(tenantName: string, delivery: number | undefined): PgStatement {
  return {
    query: `SELECT currency, class, reason, sum(rows)::bigint AS rows, sum(cost)::text AS cost, sum(billed)::text AS billed, sum(effective)::text AS effective
      FROM control_totals WHERE tenant_name = $1 AND ($2::bigint IS NULL OR delivery_id = $2)
      GROUP BY currency, class, reason`,
    params: [tenantName, delivery ?? null],
  };
}

/** Returns control totals per currency, in the order of their codes. Empty if nothing has been delivered yet. */
export async function readControlTotals(
  pool: Pool,
  tenantName: string,
  { delivery, signal }: { readonly delivery?: number; readonly signal?: AbortSignal } = {},
): Promise<CurrencyControl[]> {
  const rows = await readPostgres<TotalRow>(pool, controlTotals(tenantName, delivery), signal);
  return [...new Set(rows.map(({ currency }) => currency))].sort().map((currency) =>
    currencyControl(
      currency,
      rows.filter((row) => row.currency === currency),
    ),
  );
}

const zeroSums: ControlSums = { rows: 0, cost: "0", billed: "0", effective: "0" };
const amounts = ["cost", "billed", "effective"] as const;

function currencyControl(currency: string, rows: readonly TotalRow[]): CurrencyControl {
  const delivered = added(rows.filter((row) => row.class === "delivered"));
  const classes = rowClasses.flatMap((of) =>
    rows
      .filter((row) => row.class === of)
      .sort((a, b) => (a.reason < b.reason ? -1 : 1))
      .map(({ reason, ...sums }): ClassSums => ({ class: of, reason, ...added([sums]) })),
  );
  const accounted = added(classes);
  const less = (name: (typeof amounts)[number]) => differenceText(delivered[name], accounted[name]);
  return {
    currency,
    delivered,
    classes,
    difference: {
      rows: delivered.rows - accounted.rows,
      cost: less("cost"),
      billed: less("billed"),
      effective: less("effective"),
    },
    published_only: added(rows.filter((row) => row.class === "published_only")).cost,
  };
}

function added(sums: readonly ControlSums[]): ControlSums {
  return sums.reduce(
    (total, next) => ({
      rows: total.rows + Number(next.rows),
      cost: sumText([total.cost, next.cost]),
      billed: sumText([total.billed, next.billed]),
      effective: sumText([total.effective, next.effective]),
    }),
    zeroSums,
  );
}

/** True if all delivered rows and amounts are accounted for. */
export function isAccountedFor({ difference }: CurrencyControl): boolean {
  return difference.rows === 0 && amounts.every((name) => difference[name] === "0");
}
