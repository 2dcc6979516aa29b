import { INVENTORY_NAMES } from "../../../store/postgres/inventory-names.js";

/** One row `{content_hash}`. */
export const HASH_NAMES = `
SELECT md5(coalesce(string_agg(md5(n::text), '' ORDER BY kind COLLATE "C", entity_id COLLATE "C"), '')) AS content_hash
FROM (${INVENTORY_NAMES}) AS n`;

/** For COPY, which takes no parameters: the tenant's name as a literal of Postgres. The columns are those of `inventory_names` behind `generation`. */
export const copyNamesOf = (tenantName: string) =>
  `COPY (${INVENTORY_NAMES.replaceAll("$1", () => tenantName)}) TO STDOUT`;
