/** What the texts of tags may be, and how they are searched: one rule for the API, for Postgres and for the search. */

/** Control characters are refused: they are invisible, and one of them keeps key and name apart in `searchText`. */
export const TAG_TEXT = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/**
 * Folded by JavaScript on both sides, because databases differ in which letters they fold. Upper case, which unlike lower case does
 * not depend on the letter's neighbours, and makes `ß` and `SS` one.
 */
export function foldCase(text: string): string {
  return text.normalize("NFC").toUpperCase();
}

/** What a search looks at. The line feed between key and name is in no needle, being a control character. */
export function searchText(label: Label): string {
  return foldCase(`${label.tag_key}\n${label.display_name}`);
}

export interface Label {
  readonly tag_key: string;
  readonly display_name: string;
}
