/** Texts, in any case, that stand for null in files, where null itself belongs. An empty text is one in Parquet; CSV cannot tell it from null. */
export const nullTexts = ["null", "\\n", "n/a"];
