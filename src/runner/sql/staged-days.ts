import type { PgStatement } from "../../postgres/statement.js";

/** Returns days with complete staged input, or with an interrupted publish. In: tenant. Out: day. */
export function stagedDays(tenantName: string): PgStatement {
  return {
    query: `
SELECT to_char(tracking_date, 'YYYY-MM-DD') AS day FROM tracking_dates
WHERE tenant_name = $1 AND (staged_hash IS NOT NULL OR publishing_hash IS NOT NULL)
UNION
SELECT to_char(tracking_date, 'YYYY-MM-DD') FROM topic_attribution_dates
WHERE tenant_name = $1 AND (staged_hash IS NOT NULL OR publishing_hash IS NOT NULL)`,
    params: [tenantName],
  };
}
