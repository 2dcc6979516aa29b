/** Formats the results of runs: one line per tenant, then each error once, and the notes. */
import type { ClassSums, CurrencyControl } from "../query/state/control-totals.js";
import type { RunError, RunResult } from "../runner/sql/runs.js";
import { wrapWords } from "./wrap.js";

/** `results` are by tenant, undefined if no run took place. Lines of errors have at most `columns` characters. */
export function runSummary(
  results: ReadonlyMap<string, RunResult | undefined>,
  columns = Number.POSITIVE_INFINITY,
  control: ReadonlyMap<string, readonly CurrencyControl[]> = new Map(),
): string {
  const width = Math.max(0, ...[...results.keys()].map((tenant) => tenant.length));
  return [...results]
    .map(([tenant, result]) => {
      const errors = errorLines(result?.errors ?? []).map((line) => inParagraph(line, columns));
      const notes = (result?.notes ?? []).map((note) => inParagraph(note, columns));
      const classes = (control.get(tenant) ?? [])
        .flatMap(classLines)
        .map((line) => inParagraph(line, columns));
      return `${tenant.padEnd(width)}  ${outcome(result)}\n${[...errors, ...notes, ...classes].join("")}`;
    })
    .join("");
}

/** Returns one line for each class of delivered rows that were not charged. */
function classLines({ currency, classes }: CurrencyControl): string[] {
  return classes
    .filter((each) => each.class !== "charged")
    .map(
      (each) =>
        `${each.rows} ${each.rows === 1 ? "row" : "rows"}, ${each.cost} ${currency}: ${className(each)}`,
    );
}

/** For example `outside_window (before_lookback)`. */
export function className({ class: of, reason }: Pick<ClassSums, "class" | "reason">): string {
  return reason === "" ? of : `${of} (${reason})`;
}

function outcome(result: RunResult | undefined): string {
  if (result === undefined) return "did not run: see the log";
  if (result.status === "failed") return `FAILED: ${done(result)}`;
  if (result.status === "completed_with_errors") return `completed with errors: ${done(result)}`;
  return result.dates_gathered > 0 && result.dates_calculated === 0
    ? `${days(result.dates_gathered)} gathered, nothing has changed`
    : done(result);
}

function done({ dates_gathered, dates_calculated, chargeback_rows_written: rows }: RunResult): string {
  if (dates_calculated === 0) return dates_gathered === 0 ? "no days gathered" : "no days published";
  return publishedText(dates_calculated, rows);
}

/** For example `2 days published, 7 rows`. */
export function publishedText(published: number, rows: number): string {
  return `${days(published)} published, ${rows} ${rows === 1 ? "row" : "rows"}`;
}

function days(count: number): string {
  return count === 1 ? "1 day" : `${count} days`;
}

/** Returns one line per message, with the first of its days and the number of further days. */
function errorLines(errors: readonly RunError[]): string[] {
  const datesOf = new Map<string, string[]>();
  for (const { message, date } of errors)
    datesOf.set(message, [...(datesOf.get(message) ?? []), ...(date === null ? [] : [date])]);
  return [...datesOf].map(([message, dates]) => {
    const [first, ...more] = dates.sort();
    if (first === undefined) return message;
    return `${first}${more.length === 0 ? "" : ` and ${more.length} more`}: ${message}`;
  });
}

function inParagraph(text: string, columns: number): string {
  return `  ${wrapWords(text, columns - 4).join("\n    ")}\n`;
}
