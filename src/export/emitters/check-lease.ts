import { LeaseLostError } from "../../common/lease-lost.js";
import { runStatement } from "../../postgres/statement.js";
import type { Emission } from "./emission.js";
import { holdsLease } from "./sql/holds-lease.js";

/**
 * Throws `LeaseLostError` if the lease is lost. A delayed worker may have lost its tenant to another one, which may
 * have written a newer file.
 */
export async function checkLease({ postgres, tenantName, epoch }: Emission): Promise<void> {
  const lease = await runStatement(postgres, holdsLease({ tenantName, epoch }));
  if (lease.rowCount === 0) throw new LeaseLostError(epoch);
}
