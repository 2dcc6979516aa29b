/** Limits on the texts that the stores keep and that requests contain. */

/**
 * Longest id, and longest of the other names that upstreams give (environments, products, metrics, teams). Characters.
 */
export const LONGEST_ID = 1000;

/** Longest of the other texts in a line of a bill (descriptions, tags, JSON, its own columns). Characters. */
export const LONGEST_TEXT = 100_000;

/** ISO 4217 codes are three capital letters. Which of them are in use changes. */
export const CURRENCY = "^[A-Z]{3}$";

/** Longest texts of tags, in code points; at least 1. Postgres checks them, too. */
export const tagTextLimits = { tag_key: 100, display_name: 500, created_by: 100 } as const;
