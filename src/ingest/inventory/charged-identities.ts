/**
 * Whoever is charged is in the inventory. Identities that an upstream lists are there before; those that only chargebacks name (teams
 * of tags, names of a map, shares of a rule, uploaded usage) are added here, of the type `charged`.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { UNALLOCATED } from "../../config/allocation-rule.js";
import { streamRows } from "../../store/clickhouse/statement.js";
import { runStatement } from "../../store/postgres/statement.js";
import type { IdentityRecord } from "../ecosystem.js";
import { createInventorySink, type InventoryOwner } from "./inventory-sink.js";
import { seenOnDays } from "./seen.js";
import { UNLISTED_IDENTITIES } from "./sql/unlisted-identities.js";

export interface ChargedIdentities {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly owner: InventoryOwner;
  /** First day to look at. */
  readonly from: string;
  readonly signal: AbortSignal;
}

interface Charged {
  readonly identity_id: string;
  readonly first_day: string;
  readonly last_day: string;
}

export async function keepChargedIdentities(options: ChargedIdentities): Promise<void> {
  const { client, postgres, owner, from, signal } = options;
  const { sink } = createInventorySink(postgres, owner, await databaseTime(postgres));
  // By the hour, because the sums by identity that are kept have no days.
  const charged = {
    query: `
SELECT toString(identity_id) AS identity_id, toString(toDate(min(timestamp))) AS first_day, toString(toDate(max(timestamp))) AS last_day
FROM chargebacks WHERE timestamp >= toDateTime({from:Date}, 'UTC') AND identity_id != {nobody:String} GROUP BY identity_id`,
    params: { from, nobody: UNALLOCATED },
  };
  for await (const rows of streamRows<Charged>(client, charged, signal)) {
    const unlisted = await runStatement<{ id: string }>(postgres, {
      query: UNLISTED_IDENTITIES,
      params: [owner.tenantName, rows.map(({ identity_id }) => identity_id)],
    });
    const ids = new Set(unlisted.rows.map(({ id }) => id));
    await sink.identities(rows.filter(({ identity_id }) => ids.has(identity_id)).map(recordOf));
  }
  await sink.flush();
}

/** Of the clock that gatherings go by. */
async function databaseTime(postgres: Pool): Promise<string> {
  const read = { query: "SELECT clock_timestamp()::text AS now", params: [] };
  const { rows } = await runStatement<{ now: string }>(postgres, read);
  return rows[0]?.now ?? "";
}

function recordOf({ identity_id, first_day, last_day }: Charged): IdentityRecord {
  return {
    identity_id,
    identity_type: "charged",
    display_name: null,
    created_at: null,
    seen: seenOnDays(first_day, last_day),
    metadata: {},
  };
}
