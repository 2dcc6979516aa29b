/** Allowed texts of tags, and how they are searched: one rule for the API, for Postgres and for the search. */

/** Control characters are rejected: they are invisible, and one of them separates key and name in `searchText`. */
export const TAG_TEXT = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/**
 * JavaScript folds both sides, because databases differ in which letters they fold. Upper case is used because, unlike
 * lower case, it does not depend on neighbouring letters, and makes `ß` and `SS` equal.
 */
export function foldCase(text: string): string {
  return text.normalize("NFC").toUpperCase();
}

/**
 * Returns the text that is searched. No needle has the line feed between key and name, because it is a control
 * character.
 */
export function searchText(label: Label): string {
  return foldCase(`${label.tag_key}\n${label.display_name}`);
}

export interface Label {
  readonly tag_key: string;
  readonly display_name: string;
}
