/**
 * The suffix of the input hash of a day with missing data. A day's input and whether the day is provisional are
 * therefore one value, also in the generated column `provisional`.
 */
export const PROVISIONAL = "-provisional";

/** Returns SQL for whether the hash is of a provisional day. */
export const isProvisional = (hash: string) => `${hash} LIKE '%${PROVISIONAL}'`;

/** Returns SQL for the hash of the input itself, without the suffix. */
export const inputHashOf = (hash: string) => `split_part(${hash}, '-', 1)`;
