import { INVENTORY_NAMES } from "../../../domain/inventory-names.js";

/** Returns one row `{content_hash}`. */
export const HASH_NAMES = `
SELECT md5(coalesce(string_agg(md5(n::text), '' ORDER BY kind COLLATE "C", entity_id COLLATE "C"), '')) AS content_hash
FROM (${INVENTORY_NAMES}) AS n`;

/**
 * COPY takes no parameters, so the tenant's name is a Postgres literal. The columns are those of `inventory_names`
 * after `generation`.
 */
export const copyNamesOf = (tenantName: string) =>
  `COPY (${INVENTORY_NAMES.replaceAll("$1", () => tenantName)}) TO STDOUT`;
