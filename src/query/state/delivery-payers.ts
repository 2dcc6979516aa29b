/** Who pays more or less since a delivery was published. */
import type { Pool } from "pg";
import { readPostgres } from "../../postgres/statement.js";
import type { PageRequest } from "../page/position.js";

export interface DeliveryPayer {
  readonly identity_id: string;
  readonly identity_name: string | null;
  readonly team: string | null;
  readonly currency: string;
  /** What it pays after, less what it paid before: a plain decimal. */
  readonly amount: string;
}

/** $1 tenant, $2 delivery, $3 rows, $4 offset. Selects `{total, payer}`; one row without a payer for an empty page. */
const PAYERS = `
WITH differences AS (
  SELECT identity_id, currency, sum(amount) AS amount
  FROM delivery_changes CROSS JOIN jsonb_to_recordset(payers) AS payer (identity_id text, currency text, amount numeric)
  WHERE tenant_name = $1 AND is_published AND deliveries @> ARRAY[$2::bigint]
  GROUP BY identity_id, currency HAVING sum(amount) <> 0
)
SELECT total, CASE WHEN page.identity_id IS NOT NULL THEN json_build_object('identity_id', page.identity_id, 'identity_name', display_name,
    'team', metadata->>'team', 'currency', currency, 'amount', trim_scale(amount)::text) END AS payer
FROM (SELECT count(*) AS total FROM differences) AS counted
LEFT JOIN (SELECT * FROM differences ORDER BY currency, abs(amount) DESC, identity_id LIMIT $3 OFFSET $4) AS page ON true
LEFT JOIN identities ON identities.tenant_name = $1 AND identities.identity_id = page.identity_id
ORDER BY currency, abs(amount) DESC, page.identity_id`;

export async function readDeliveryPayers(
  pool: Pool,
  tenantName: string,
  deliveryId: number,
  { page, page_size }: PageRequest,
  signal?: AbortSignal,
): Promise<{ items: DeliveryPayer[]; total: number }> {
  const params = [tenantName, deliveryId, page_size, (page - 1) * page_size];
  const rows = await readPostgres<{ total: number; payer: DeliveryPayer | null }>(
    pool,
    { query: PAYERS, params },
    signal,
  );
  return { items: rows.flatMap(({ payer }) => payer ?? []), total: rows[0]?.total ?? 0 };
}
