/** Detects the separator of a CSV file and the lines before its header. */

const SEPARATORS = [",", ";", "\t", "|"] as const;
export type Separator = (typeof SEPARATORS)[number];

/** Excel writes and reads the separator as a first line such as `sep=;`. */
const SEP_LINE = /^"?sep=([,;\t|])"?[,;\t| ]*$/i;

export interface Preamble {
  /**
   * Number of characters before the header: a byte order mark, empty lines, comments that begin with `#`, and a `sep=`
   * line.
   */
  readonly length: number;
  /** From a `sep=` line. */
  readonly separator: Separator | undefined;
}

/** The byte order mark, also in the form that it has if each byte is read as a character. */
const BYTE_ORDER_MARK = /^(?:\uFEFF|\u00EF\u00BB\u00BF)/;

/** @param text the beginning of a file. @returns undefined if the text ends before the header begins */
export function preambleOf(text: string): Preamble | undefined {
  let length = BYTE_ORDER_MARK.exec(text)?.[0].length ?? 0;
  let separator: Separator | undefined;
  for (;;) {
    const end = text.indexOf("\n", length);
    const line = text.slice(length, end < 0 ? undefined : end).replace(/\r$/, "");
    const declared = SEP_LINE.exec(line)?.[1];
    if (line.trim() !== "" && !line.startsWith("#") && declared === undefined) return { length, separator };
    if (end < 0) return undefined;
    separator = SEPARATORS.find((each) => each === declared) ?? separator;
    length = end + 1;
  }
}

/** The separator that splits the header into the most columns; a comma if none does. */
export function separatorOf(header: string): Separator {
  const outside = header.replaceAll(/"[^"]*"/g, "");
  const parts = (separator: Separator) => outside.split(separator).length;
  return SEPARATORS.reduce((best, each) => (parts(each) > parts(best) ? each : best));
}
