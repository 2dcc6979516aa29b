/**
 * Reads a page of a tenant's tags, by number or by cursor: first the total, then the ids of the page, then their
 * records.
 */
import type { Pool } from "pg";
import { readPostgres } from "../postgres/statement.js";
import { cursorFingerprint, cursorOf, encodeCursor } from "../query/page/cursor.js";
import { type SearchTotal, searchPage, searchTotal } from "../tags/search.js";
import { type TagInContext, tagsInContext } from "../tags/tag-record.js";

export interface TagPageRequest {
  readonly page: number;
  readonly page_size: number;
  readonly cursor?: string | undefined;
  readonly search?: string | undefined;
}

const KIND = "tags";

export async function readTagPage(
  postgres: Pool,
  tenantName: string,
  { page, page_size, cursor, search = "" }: TagPageRequest,
  signal: AbortSignal,
): Promise<{ items: TagInContext[]; total: number; next_cursor: string | null }> {
  const fingerprint = cursorFingerprint({ tenantName, search });
  const [after] = cursorOf({ cursor, page }, KIND, fingerprint, ["integer"]) ?? [];
  const tagSearch = { tenantName, search };
  const [sum] = await readPostgres<SearchTotal>(postgres, searchTotal(tagSearch), signal);
  const offset = (page - 1) * page_size;
  if (sum === undefined || offset >= sum.total)
    return { items: [], total: sum?.total ?? 0, next_cursor: null };
  // Read one id more than the page has, to see whether there is a next page.
  const position = { after: Number(after ?? -1), offset, limit: page_size + 1 };
  const ids = await readPostgres<{ tag_id: number }>(postgres, searchPage(tagSearch, sum, position), signal);
  const shown = ids.slice(0, page_size).map(({ tag_id }) => tag_id);
  const items = await readPostgres<TagInContext>(postgres, tagsInContext(tenantName, shown), signal);
  const last = ids.length > page_size ? shown.at(-1) : undefined;
  return {
    items,
    total: sum.total,
    next_cursor: last === undefined ? null : encodeCursor(KIND, fingerprint, [last]),
  };
}
