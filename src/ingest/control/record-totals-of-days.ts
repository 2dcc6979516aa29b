/** Records the control totals that a window reports of its days. */
import type { Pool } from "pg";
import type { ControlTotal } from "../../domain/control-totals.js";
import { type PgStatement, runStatement } from "../../postgres/statement.js";
import { withTransaction } from "../../postgres/transaction.js";
import { replaceTotalsOfDays } from "./record-totals.js";

export interface DaysOfWindow {
  readonly tenantName: string;
  /** Days whose bill was taken as reported. Their totals are replaced. */
  readonly taken: readonly string[];
  /** Days whose bill stays as it is published. Their totals stay, too. */
  readonly kept: readonly string[];
}

/**
 * On any other day, the existing totals stay if something was charged before. If not, rows that would be charged are
 * recorded as waiting. Totals that have not changed are not written again.
 */
export async function recordTotalsOfDays(
  postgres: Pool,
  { tenantName, taken, kept }: DaysOfWindow,
  control: readonly ControlTotal[] | undefined,
): Promise<void> {
  if (control === undefined) return;
  const reported = new Set(control.flatMap(({ day }) => (day === null || kept.includes(day) ? [] : [day])));
  const candidates = [...new Set([...taken, ...reported])];
  if (candidates.length === 0) return;
  await withTransaction(postgres, async (on) => {
    const { rows } = await runStatement<StoredTotal>(on, readTotals(tenantName, candidates));
    const charged = new Set(rows.filter((row) => isCharged(row)).map(({ day }) => day));
    const days = candidates.filter((day) => taken.includes(day) || !charged.has(day));
    const totals = control
      .filter(({ day }) => day !== null && days.includes(day))
      .map((total) => (total.day !== null && taken.includes(total.day) ? total : waiting(total)));
    const stored = rows.filter(({ day }) => day !== null && days.includes(day));
    if (textOf(stored) === textOf(totals)) return;
    for (const statement of replaceTotalsOfDays(tenantName, days, totals)) await runStatement(on, statement);
  });
}

type StoredTotal = Pick<ControlTotal, "day" | "currency" | "class" | "reason" | "rows" | "cost">;

function readTotals(tenantName: string, days: readonly string[]): PgStatement {
  return {
    query: `SELECT day::text AS day, currency, class, reason, rows::integer AS rows, cost::text AS cost
      FROM control_totals WHERE tenant_name = $1 AND day = ANY ($2::date[])`,
    params: [tenantName, days],
  };
}

function isCharged({ class: of }: StoredTotal): boolean {
  return of === "charged" || of === "zero";
}

function waiting(total: ControlTotal): ControlTotal {
  return isCharged(total) ? { ...total, class: "left_out", reason: "day_waits" } : total;
}

function textOf(totals: readonly StoredTotal[]): string {
  const texts = totals.map(({ day, currency, class: of, reason, rows, cost }) =>
    JSON.stringify([day, currency, of, reason, rows, cost]),
  );
  return texts.sort().join();
}
