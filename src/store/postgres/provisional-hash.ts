/**
 * The end of the input hash of a day that lacks something. The input of a day and whether the day is provisional are therefore one
 * value, in the generated column `provisional` too.
 */
export const PROVISIONAL = "-provisional";

/** Whether the hash in a column is of a provisional day, as SQL. */
export const isProvisional = (hash: string) => `${hash} LIKE '%${PROVISIONAL}'`;

/** The hash in a column without that end: of the input itself, as SQL. */
export const settledHash = (hash: string) => `split_part(${hash}, '-', 1)`;
