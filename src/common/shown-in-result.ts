/**
 * Marks log lines that the command's output repeats, so that the CLI can hide them. A symbol, so that it never appears
 * in a log.
 */
export const shownInResult: unique symbol = Symbol("shown in the result of the run");
