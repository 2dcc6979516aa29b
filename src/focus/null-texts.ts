/**
 * Texts that files use instead of null, in lower case; they match in any case. In Parquet, an empty text counts as
 * well; CSV does not distinguish it from null.
 */
export const nullTexts = ["null", "\\n", "n/a"];
