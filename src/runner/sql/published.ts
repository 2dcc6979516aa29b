import type { Pool } from "pg";
import type { ControlClass } from "../../domain/control-totals.js";
import { runStatement } from "../../postgres/statement.js";

/** A summary of a tenant's published days. */
export interface PublishedDayRows {
  /** The newest day with published chargebacks. */
  readonly newestDay: string | null;
  /** Number of days that the store has lost. */
  readonly lostDays: number;
  /** Number of published days with missing data that may still arrive. */
  readonly provisionalDays: number;
  /** Control totals by currency, class and reason. */
  readonly control: readonly ControlSum[];
}

export interface ControlSum {
  readonly currency: string;
  readonly class: ControlClass;
  readonly reason: string;
  readonly rows: number;
  /** Plain decimal. */
  readonly cost: string;
}

export async function readPublished(postgres: Pool, tenantName: string): Promise<PublishedDayRows> {
  const { rows } = await runStatement<{ newest: string | null; lost: number; provisional: number }>(
    postgres,
    {
      query: `SELECT (max(tracking_date) FILTER (WHERE chargeback_calculated))::text AS newest,
       count(*) FILTER (WHERE lost_at IS NOT NULL) AS lost,
       count(*) FILTER (WHERE provisional) AS provisional
     FROM tracking_dates WHERE tenant_name = $1`,
      params: [tenantName],
    },
  );
  const control = await runStatement<ControlSum>(postgres, {
    query: `SELECT currency, class, reason, sum(rows)::bigint AS rows, sum(cost)::text AS cost
      FROM control_totals WHERE tenant_name = $1 GROUP BY currency, class, reason`,
    params: [tenantName],
  });
  return {
    control: control.rows,
    newestDay: rows[0]?.newest ?? null,
    lostDays: rows[0]?.lost ?? 0,
    provisionalDays: rows[0]?.provisional ?? 0,
  };
}
