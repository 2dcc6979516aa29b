/** The format of a CSV file of usage. */
import { FIRST_DAY, LAST_DAY } from "../../domain/stored-days.js";
import { LONGEST_ID } from "../../domain/text-limits.js";
import type { SourceColumn } from "../../focus/index.js";

/** One problem of a file, with what is allowed. */
export interface UploadProblem {
  /** Row 1 is the first one after the header, which is row 0. Null for the file as a whole. */
  readonly row: number | null;
  readonly column: string | null;
  /** One sentence. */
  readonly detail: string;
}

/** The file was refused, and nothing of it is stored. */
export class RefusedUploadError extends Error {
  override readonly name = "RefusedUploadError";
  constructor(readonly problems: readonly UploadProblem[]) {
    super(problems.map(problemText).join(" "));
  }
}

export function refusedFile(detail: string): RefusedUploadError {
  return new RefusedUploadError([{ row: null, column: null, detail }]);
}

export function problemText({ row, column, detail }: UploadProblem): string {
  const where = [row === null ? [] : `row ${row}`, column === null ? [] : `column ${column}`].flat();
  return where.length === 0 ? detail : `${where.join(", ")}: ${detail}`;
}

const VALUES = ["metric", "resource_id", "identity_id", "quantity"] as const;
export const uploadColumns = ["date", "hour", ...VALUES] as const;
export type UploadColumn = (typeof uploadColumns)[number];

/** Position of each column in a file, from 0. Either `date` or `hour` is present. */
export type UploadHeader = ReadonlyMap<UploadColumn, number>;

const WANTED = `\`date\` or \`hour\`, and ${VALUES.map((name) => `\`${name}\``).join(", ")}`;

/** Throws `RefusedUploadError`. */
export function readHeader(written: readonly SourceColumn[]): UploadHeader {
  const header = new Map<UploadColumn, number>();
  const problems: UploadProblem[] = [];
  const addProblem = (column: string | null, detail: string) =>
    void problems.push({ row: 0, column, detail });
  for (const [at, { name }] of written.entries()) {
    const known = uploadColumns.find((each) => each === name);
    if (known === undefined)
      addProblem(shown(name), `The header must have the columns ${WANTED}, and no others.`);
    else if (header.has(known)) addProblem(known, "The header must name each column once.");
    else header.set(known, at);
  }
  for (const name of VALUES)
    if (!header.has(name)) addProblem(name, `The column is missing. The header must have ${WANTED}.`);
  if (header.has("date") === header.has("hour"))
    addProblem("date", "The header must have one of `date` and `hour`.");
  if (problems.length > 0) throw new RefusedUploadError(problems.slice(0, MOST_UPLOAD_PROBLEMS));
  return header;
}

export const MOST_UPLOAD_PROBLEMS = 20;

/** Quantities are below this, the largest usage that can be stored. */
export const LARGEST_QUANTITY = `1${"0".repeat(24)}`;

/** Returns what a value has to be, as a sentence. */
export function allowedIn(column: UploadColumn, metrics: readonly string[]): string {
  switch (column) {
    case "date":
      return `Must be a day such as 2026-05-31, from ${FIRST_DAY} to ${LAST_DAY}.`;
    case "hour":
      return `Must be a full hour in UTC such as 2026-05-31T14:00:00Z, from ${FIRST_DAY} to ${LAST_DAY}.`;
    case "metric":
      return `Must be one of the metrics in usage.uploads.metrics: ${metrics.join(", ")}.`;
    case "quantity":
      return "Must be a decimal of 0 or more, below 10^24, such as 12.5 or 1e-3.";
    default:
      return `Must be a text of 1 to ${LONGEST_ID} characters, without control characters and without blanks around it.`;
  }
}

/** Makes a name from the file safe for a message: no control characters, and not too long. */
function shown(name: string): string {
  return name.replace(/[\p{Cc}\p{Surrogate}]/gu, "?").slice(0, 100);
}
