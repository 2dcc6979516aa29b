/** Texts that count things, in English. */
const rules = new Intl.PluralRules("en");

/** `1 line`, `1,200 lines`. */
export function counted(count: number, one: string, other: string): string {
  return `${count.toLocaleString("en")} ${rules.select(count) === "one" ? one : other}`;
}
