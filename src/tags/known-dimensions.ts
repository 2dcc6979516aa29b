/**
 * Checks which ids are dimensions of the tenant. Dimensions that the copy in Postgres misses are read from ClickHouse
 * and copied.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { isPostgresFault } from "../stores/store-trouble.js";
import { copyNewDimensions } from "./copy-new-dimensions.js";
import { copyDimensions, lookUpDimensions, uncopiedIds } from "./dimensions.js";

export interface DimensionSource {
  readonly postgres: Pool;
  readonly tenantName: string;
  /** Opens the tenant's store; may fail. */
  readonly store: () => Promise<ClickHouseClient>;
  readonly signal: AbortSignal;
}

export interface UnknownDimension {
  readonly dimension_id: number;
  readonly code: "dimension_not_found" | "store_unavailable";
}

/** With at least this many missing ids, all new dimensions are copied at once instead of one by one. */
const MANY = 1_000;

export interface CompletedCopy {
  readonly known: readonly number[];
  readonly unknown: readonly UnknownDimension[];
  /** Why the store could not be read. */
  readonly cause: unknown;
}

/** `ids` and `known` ascend. Throws if Postgres itself cannot store the copy: it cannot store tags then, either. */
export async function completeCopy(source: DimensionSource, ids: readonly number[]): Promise<CompletedCopy> {
  const { postgres, tenantName, signal } = source;
  const missing = await uncopiedIds(postgres, tenantName, ids);
  if (missing.length === 0) return { known: ids, unknown: [], cause: undefined };
  let code: UnknownDimension["code"] = "dimension_not_found";
  let cause: unknown;
  try {
    await copyMissing(source, missing);
  } catch (error) {
    signal.throwIfAborted();
    if (isPostgresFault(error)) throw error;
    code = "store_unavailable";
    cause = error;
  }
  const stillMissing = new Set(await uncopiedIds(postgres, tenantName, missing));
  return {
    known: ids.filter((id) => !stillMissing.has(id)),
    unknown: [...stillMissing].map((dimension_id) => ({ dimension_id, code })),
    cause,
  };
}

async function copyMissing(source: DimensionSource, missing: readonly number[]): Promise<void> {
  const { postgres, tenantName, signal } = source;
  const client = await source.store();
  let remaining = missing;
  if (remaining.length >= MANY) {
    await copyNewDimensions({ client, postgres, tenantName, signal });
    remaining = await uncopiedIds(postgres, tenantName, remaining);
  }
  await copyDimensions(postgres, tenantName, await lookUpDimensions(client, remaining, signal));
}
