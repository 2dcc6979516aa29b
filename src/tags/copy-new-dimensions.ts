/** Copies to Postgres the dimensions that ClickHouse has recorded since the last copy. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { streamRows } from "../clickhouse/statement.js";
import { dimensionFields } from "../domain/dimension-id.js";
import { runStatement } from "../postgres/statement.js";
import { copyDimensions, type Dimension } from "./dimensions.js";

export interface DimensionCopy {
  readonly client: ClickHouseClient;
  readonly postgres: Pool;
  readonly tenantName: string;
  readonly signal?: AbortSignal | undefined;
}

const ROWS_AT_ONCE = 10_000;
const BEGINNING = "1970-01-01 00:00:00.000000";

/**
 * Copies in the order of recording, so that an interrupted copy continues where it was. Only for a caller that prevents
 * others from recording dimensions: the owner of the tenant's lease, after its run. Dimensions that are missed
 * nevertheless are copied on demand.
 */
export async function copyNewDimensions({
  client,
  postgres,
  tenantName,
  signal,
}: DimensionCopy): Promise<number> {
  const { rows } = await runStatement<{ up_to: string | null }>(postgres, {
    query: "SELECT dimensions_up_to AS up_to FROM tag_mirrors WHERE tenant_name = $1",
    params: [tenantName],
  });
  const statement = {
    query: `
SELECT toString(recorded_at) AS recorded, dimension_id, ${dimensionFields.join(", ")} FROM dimensions
WHERE recorded_at > {since:DateTime64(6, 'UTC')} ORDER BY recorded_at`,
    params: { since: rows[0]?.up_to ?? BEGINNING },
  };
  let copied = 0;
  let waiting: Recorded[] = [];
  const flush = async () => {
    const newest = waiting.at(-1)?.recorded;
    if (newest === undefined) return;
    await copyDimensions(postgres, tenantName, waiting);
    await recordProgress(postgres, tenantName, newest);
    copied += waiting.length;
    waiting = [];
  };
  for await (const piece of streamRows<Recorded>(client, statement, signal)) {
    for (const row of piece) {
      // Never cut between two rows of the same instant, because the next copy begins after that instant.
      const isNewInstant = waiting.at(-1)?.recorded !== row.recorded;
      if (waiting.length >= ROWS_AT_ONCE && isNewInstant) await flush();
      waiting.push(row);
    }
  }
  await flush();
  return copied;
}

type Recorded = Dimension & { recorded: string };

async function recordProgress(postgres: Pool, tenantName: string, upTo: string): Promise<void> {
  await runStatement(postgres, {
    query: `INSERT INTO tag_mirrors (tenant_name, dimensions_up_to) VALUES ($1, $2)
     ON CONFLICT (tenant_name) DO UPDATE SET dimensions_up_to = excluded.dimensions_up_to`,
    params: [tenantName, upTo],
  });
}
