/**
 * Marks the object of a log line whose text the result of the run has as well: a command that prints the result leaves the line out. A
 * symbol, so that no log ever shows it.
 */
export const shownInResult: unique symbol = Symbol("told in the result of the run");
