/** Control, bidirectional and invisible characters, which could move a terminal's cursor or hide text. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;

/** Makes a text of a file safe to print: replaces unsafe characters, and truncates long texts. */
export function clean(text: string, length = 60): string {
  const letters = [...text.replaceAll(unsafe, "\uFFFD")];
  return letters.length <= length ? letters.join("") : `${letters.slice(0, length - 1).join("")}…`;
}
