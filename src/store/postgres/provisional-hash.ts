/**
 * The hash of the input of a day that lacks something ends in this. So what a day is calculated from and whether it is provisional are one
 * thing, also in the generated column `provisional`.
 */
export const PROVISIONAL = "-provisional";

/** Whether the hash in a column is of a provisional day, as SQL. */
export const isProvisional = (hash: string) => `${hash} LIKE '%${PROVISIONAL}'`;
