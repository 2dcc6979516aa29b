/** What writers of CSV do differently: the separator, and what stands in front of the header. */

const SEPARATORS = [",", ";", "\t", "|"] as const;
export type Separator = (typeof SEPARATORS)[number];

/** Excel reads the separator from a first line such as `sep=;`, and writes one. */
const SEP_LINE = /^"?sep=([,;\t|])"?[,;\t| ]*$/i;

export interface Preamble {
  /** Characters in front of the header: a byte order mark, empty lines, comments that begin with `#`, and a line `sep=`. */
  readonly length: number;
  /** As a line `sep=` says. */
  readonly separator: Separator | undefined;
}

/** The mark as it is, and as its bytes are where each of them is read as a character. */
const BYTE_ORDER_MARK = /^(?:\uFEFF|\u00EF\u00BB\u00BF)/;

/** @param text the beginning of a file; undefined is returned where it ends before the header begins */
export function preambleOf(text: string): Preamble | undefined {
  let length = BYTE_ORDER_MARK.exec(text)?.[0].length ?? 0;
  let separator: Separator | undefined;
  for (;;) {
    const end = text.indexOf("\n", length);
    const line = text.slice(length, end < 0 ? undefined : end).replace(/\r$/, "");
    const said = SEP_LINE.exec(line)?.[1];
    if (line.trim() !== "" && !line.startsWith("#") && said === undefined) return { length, separator };
    if (end < 0) return undefined;
    separator = SEPARATORS.find((each) => each === said) ?? separator;
    length = end + 1;
  }
}

/** The separator that divides a header into the most columns; a comma where none does. */
export function separatorOf(header: string): Separator {
  const outside = header.replaceAll(/"[^"]*"/g, "");
  const parts = (separator: Separator) => outside.split(separator).length;
  return SEPARATORS.reduce((best, each) => (parts(each) > parts(best) ? each : best));
}
