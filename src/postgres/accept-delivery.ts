/** Accepts a bill that has lost much of the one that it replaces, after a person decided so. */
import type { Pool, PoolClient } from "pg";
import { type DeliveryToRetire, type OldDelivery, retireDelivery, retirementsOf } from "./retirement.js";
import { runStatement } from "./statement.js";
import { type Interruption, withTransaction } from "./transaction.js";

/** State before the call. Undefined if the tenant has no delivery with this id. */
export type Accepted = { readonly state: string } | undefined;

/**
 * Makes a waiting delivery current. It takes the place of the current one of its scope and of those of other scopes
 * that it `replaces`, together with all other waiting deliveries that replace the same ones. The next run calculates
 * the days that differ. A delivery that does not wait stays unchanged. A run in progress reads the current deliveries
 * for each window, so no day mixes both.
 */
export async function acceptDelivery(
  postgres: Pool,
  tenantName: string,
  deliveryId: number,
  stop?: Interruption,
): Promise<Accepted> {
  return await withTransaction(
    postgres,
    async (on) => {
      const {
        rows: [found],
      } = await runStatement<{ state: string }>(on, {
        query: "SELECT state FROM deliveries WHERE tenant_name = $1 AND delivery_id = $2 FOR UPDATE",
        params: [tenantName, deliveryId],
      });
      if (found?.state !== "waiting_for_acceptance") return found;
      const { rowCount: decided } = await runStatement(on, {
        query: `UPDATE deliveries SET accepted_at = now(), waits_for = 'overlap' WHERE delivery_id = $1 AND waits_for IN ('overlap', 'shrunk')
          AND shared_charges <> '[]'`,
        params: [deliveryId],
      });
      if (decided === 1) {
        await stop?.record?.(on);
        return found;
      }
      const { rows: together } = await runStatement<{ delivery_id: string }>(on, {
        query: `SELECT other.delivery_id::text FROM deliveries AS other JOIN deliveries AS new
            ON other.tenant_name = new.tenant_name AND other.source = new.source
          WHERE new.delivery_id = $1 AND other.state = 'waiting_for_acceptance'
            AND (other.delivery_id = new.delivery_id OR other.replaces && new.replaces)
          ORDER BY other.delivery_id FOR UPDATE OF other`,
        params: [deliveryId],
      });
      const accepted = together.map(({ delivery_id }) => delivery_id);
      await replaceOld(on, accepted);
      await runStatement(on, {
        query:
          "UPDATE deliveries SET state = 'current', problem = NULL, waits_for = NULL, accepted_at = now() WHERE delivery_id = ANY ($1::bigint[])",
        params: [accepted],
      });
      await stop?.record?.(on);
      return found;
    },
    stop,
  );
}

type Accepting = DeliveryToRetire & { readonly delivery_id: string };

/**
 * Retires what the accepted deliveries take the place of: within their scope by their lines, in other scopes by
 * `replaces`.
 */
async function replaceOld(on: PoolClient, accepted: readonly string[]): Promise<void> {
  const { rows } = await runStatement<Accepting>(on, {
    query: `SELECT delivery_id::text, billing_period, coalesce(periods, '[]') AS periods FROM deliveries
      WHERE delivery_id = ANY ($1::bigint[]) ORDER BY delivery_id`,
    params: [accepted],
  });
  for (const newer of rows) {
    const { rows: old } = await runStatement<OldDelivery & { delivery_id: string }>(on, {
      query: `SELECT old.delivery_id::text, old.periods, old.retired FROM deliveries AS old JOIN deliveries AS new
          ON old.tenant_name = new.tenant_name AND old.source = new.source AND old.scope = new.scope
        WHERE new.delivery_id = $1 AND old.state = 'current' AND NOT old.delivery_id = ANY ($2::bigint[]) FOR UPDATE OF old`,
      params: [newer.delivery_id, accepted],
    });
    for (const retired of retirementsOf(old, newer)) await runStatement(on, retireDelivery(retired));
  }
  await runStatement(on, {
    query: `UPDATE deliveries AS old SET state = 'replaced', replaced_at = now(), problem = NULL FROM deliveries AS new
      WHERE new.delivery_id = ANY ($1::bigint[]) AND old.tenant_name = new.tenant_name AND old.source = new.source
        AND ((old.scope = new.scope AND old.state = 'expired') OR (old.delivery_id = ANY (new.replaces) AND old.state IN ('current', 'expired')))`,
    params: [accepted],
  });
}
