/** Refuses columns and filters that do not fit a FOCUS export: its sums would no longer be those of the bill. */
import type { ExportVersion } from "../../domain/export-versions.js";
import { defaultExportColumns } from "../../export/columns.js";
import { partFilters } from "../../export/focus/statement.js";
import type { ExportInput } from "../../export/statement.js";
import { type InputProblem, invalidRequest } from "../errors.js";

type Selection = Pick<ExportInput, "columns" | "filters">;

/**
 * Throws an ApiError with all problems.
 *
 * @param where the part of the request that has the columns and filters
 */
export function requireWholeCharges({ columns, filters }: Selection, where: "query" | "body"): void {
  const problems: InputProblem[] = [];
  const refuse = (name: string, detail: string) =>
    problems.push({ in: where, name, detail, code: "invalid" });
  const field = (name: string) => (where === "body" ? `filters.${name}` : name);
  for (const filter of partFilters)
    for (const name of [filter, `not:${filter}`] as const)
      if (filters[name] !== undefined) refuse(field(name), wholeCharges(name));
  for (const { key, isOfLine = false, isExcluding = false } of filters.tags ?? []) {
    const name = `${isExcluding ? "not:" : ""}tag:${key}`;
    if (!isOfLine) refuse(field(name), wholeCharges(name));
  }
  const isDefault = columns.length === 0 || columns.join() === defaultExportColumns.join();
  if (!isDefault)
    refuse(
      "columns",
      "`columns` cannot be given with a FOCUS format: its columns are those of the standard.",
    );
  if (problems.length > 0) throw invalidRequest(problems);
}

function wholeCharges(name: string): string {
  return `\`${name}\` cannot be used with a FOCUS format: the parts that it leaves in would no longer add up to whole charges.`;
}

/** Throws if `focus_version` is given. Call it for formats other than FOCUS. */
export function requireFocusFormat(version: ExportVersion | undefined): void {
  if (version === undefined) return;
  const detail = "`focus_version` must come with `format=focus` or `format=focus_parquet`.";
  throw invalidRequest([{ in: "query", name: "focus_version", detail, code: "invalid" }]);
}
