/** Controls, directions and invisible letters, with which a file could move a terminal's cursor or hide what it says. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;

/** A text of a file, fit to be printed: each unsafe letter is one replacement character, and the end of a long text is cut off. */
export function clean(text: string, length = 60): string {
  const letters = [...text.replaceAll(unsafe, "\uFFFD")];
  return letters.length <= length ? letters.join("") : `${letters.slice(0, length - 1).join("")}…`;
}
