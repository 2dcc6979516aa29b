/** A person says that a bill counts although it lacks most of what it replaces. */
import type { Pool } from "pg";
import { runStatement } from "./statement.js";
import { type Interruption, withTransaction } from "./transaction.js";

/** Of the delivery before; undefined when the tenant has none with this id. */
export type Accepted = { readonly state: string } | undefined;

/**
 * Makes a delivery that waits current, in place of the one that counts of its scope; the days that differ are calculated by the next run. One
 * that is not waiting stays as it is. A run that goes on meanwhile reads what counts anew for each window, so no day is of both.
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
      await runStatement(on, {
        query: `UPDATE deliveries AS old SET state = 'replaced', replaced_at = now() FROM deliveries AS new
          WHERE new.delivery_id = $1 AND old.tenant_name = new.tenant_name AND old.source = new.source AND old.scope = new.scope
            AND old.state = 'current'`,
        params: [deliveryId],
      });
      await runStatement(on, {
        query:
          "UPDATE deliveries SET state = 'current', problem = NULL, accepted_at = now() WHERE delivery_id = $1",
        params: [deliveryId],
      });
      await stop?.record?.(on);
      return found;
    },
    stop,
  );
}
