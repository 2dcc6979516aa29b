/** The identities with the highest cost over all published days, in each currency. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows, type Statement } from "../../clickhouse/statement.js";
import { UNASSIGNED } from "../inventory/names.js";

export interface IdentityCost {
  readonly currency: string;
  readonly identity_id: string;
  /** Name of the identity; its id if it has no name. */
  readonly name: string;
  /** Empty if it belongs to no team. */
  readonly team: string;
  /** Rounded to cents for display. */
  readonly cost: string;
  /** Percentage of all costs in the currency; empty if they add up to 0. */
  readonly share: string;
  /** Number of identities with costs in the currency. */
  readonly identities: string;
}

/** Selects `limit` identities of each currency, the most expensive first, each with its share of the whole. */
function topIdentitiesQuery(limit: number): Statement {
  return {
    query: `
SELECT toString(currency) AS currency, identity_id, if(name = '', identity_id, name) AS name,
  if(team IN ('${UNASSIGNED}', 'UNALLOCATED'), '', team) AS team, toDecimalString(round(amount, 2), 2) AS cost, toString(count() OVER w) AS identities,
  if(sum(amount) OVER w = 0, '', toDecimalString(100 * toFloat64(amount) / toFloat64(sum(amount) OVER w), 1)) AS share
FROM (
  SELECT currency, identity_id, any(identity_name) AS name, any(daily.team) AS team, sum(total_amount) AS amount
  FROM daily_cost_by_identity AS daily GROUP BY currency, identity_id
)
WINDOW w AS (PARTITION BY currency)
ORDER BY currency, amount DESC, identity_id LIMIT {limit:UInt32} BY currency`,
    params: { limit },
  };
}

export async function readTopIdentities(
  client: ClickHouseClient,
  limit: number,
  signal: AbortSignal,
): Promise<IdentityCost[]> {
  return await readRows<IdentityCost>(client, topIdentitiesQuery(limit), signal);
}
