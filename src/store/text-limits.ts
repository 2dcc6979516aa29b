/** Limits on the texts that the stores keep and that requests contain. */

/** Most characters of an id, and of the other names that upstreams give: environments, products, metrics, teams. */
export const LONGEST_ID = 1000;

/** Most characters of the other texts that a bill has in a line: descriptions, tags, JSON, columns of its own. */
export const LONGEST_TEXT = 100_000;

/** Codes of ISO 4217 are three capital letters; which of them are in use changes. */
export const CURRENCY = "^[A-Z]{3}$";

/** Most characters of the texts of tags, as people count them (code points); the least is 1. Postgres checks them again. */
export const tagTextLimits = { tag_key: 100, display_name: 500, created_by: 100 } as const;
