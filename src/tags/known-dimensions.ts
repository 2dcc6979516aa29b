/** Which of many ids are dimensions of the tenant. What the copy in Postgres lacks is asked of ClickHouse, and copied. */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Pool } from "pg";
import { isPostgresFault } from "../store/store-trouble.js";
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

/** From so many on, all that is new is copied in one go instead of asked for one by one. */
const MANY = 1_000;

export interface CompletedCopy {
  readonly known: readonly number[];
  readonly unknown: readonly UnknownDimension[];
  /** Why the store could not be asked. */
  readonly cause: unknown;
}

/** `ids`: ascending. So is `known`. Throws where it is Postgres that cannot take the copy: then it can take no tags either. */
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
  const still = new Set(await uncopiedIds(postgres, tenantName, missing));
  return {
    known: ids.filter((id) => !still.has(id)),
    unknown: [...still].map((dimension_id) => ({ dimension_id, code })),
    cause,
  };
}

async function copyMissing(source: DimensionSource, missing: readonly number[]): Promise<void> {
  const { postgres, tenantName, signal } = source;
  const client = await source.store();
  let left = missing;
  if (left.length >= MANY) {
    await copyNewDimensions({ client, postgres, tenantName, signal });
    left = await uncopiedIds(postgres, tenantName, left);
  }
  await copyDimensions(postgres, tenantName, await lookUpDimensions(client, left, signal));
}
