/** Lists the largest costs without a payer, each with what is missing to know the payer. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../clickhouse/statement.js";
import type { IdentityMaps } from "../../config/allocation/check-allocation.js";
import { type AllocationGap, gapOf } from "./allocation-gaps.js";
import { type UnallocatedRow, unallocatedLines, type WorklistInput } from "./worklist-sql.js";

export interface WorklistItem extends Omit<UnallocatedRow, "found" | "groups"> {
  /** In the order of the sources. Empty if the lines name an identity, or if there are no sources. */
  readonly lacks: AllocationGap[];
}

export async function readWorklist(
  client: ClickHouseClient,
  input: WorklistInput & { readonly maps: IdentityMaps },
  signal?: AbortSignal,
): Promise<{ items: WorklistItem[]; total: number }> {
  const rows = await readRows<UnallocatedRow>(client, unallocatedLines(input), signal);
  const [first] = rows;
  if (first === undefined && input.page > 1) {
    // A page past the end has no rows to read the total from.
    const { total } = await readWorklist(client, { ...input, page: 1, page_size: 1 }, signal);
    return { items: [], total };
  }
  const items = rows.map(({ found, groups: _, ...row }) => ({
    ...row,
    lacks: input.sources.flatMap((source, index) => {
      const value = found[index];
      return value === undefined ? [] : [gapOf(source, value, input.maps)];
    }),
  }));
  return { items, total: first?.groups ?? 0 };
}
