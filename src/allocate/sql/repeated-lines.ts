import { lineColumns, lineKeySql } from "../../domain/ledger.js";
import { ruledLines, type SplitLedger } from "../ledger.js";
import type { RuleParts } from "./rule-parts.js";

/** Hash of the key of a line. */
export function hashOfLine(ledger: SplitLedger): string {
  return `cityHash64(day, ${lineKeySql(ledger)})`;
}

/**
 * Selects the lines of the bill. Lines of equal key become one. Only those are grouped, because grouping by eight
 * columns of text took two thirds of the time of a bill whose lines have one recipient each (0.8 M lines: 6.3 s of
 * 9.5 s). They are found by a hash of their key; other lines that have the same hash are grouped as well, by themselves.
 *
 * Rows that a step takes are all grouped: they are few, and may come from a join, which must not run several times.
 *
 * @param hasRepeated false if no lines share a hash, which saves a quarter of the planning of the statement
 */
export function linesOfBill(
  ledger: SplitLedger,
  parts: Pick<RuleParts, "bill" | "billColumns" | "lineKey">,
  otherCosts: readonly string[],
  hasRepeated: boolean,
): string {
  const lines = `FROM ${parts.bill} WHERE day IN {days:Array(Date)}${ruledLines(ledger)}`;
  const key = `day, ${lineKeySql(ledger)}${parts.lineKey}`;
  const sames = lineColumns(ledger, "same").map(({ billColumn: name }) => ({ name, merge: "any" }));
  const sums = ["total_cost", ...otherCosts].map((name) => ({ name, merge: "sum" }));
  const merged = [...sames, ...parts.billColumns, ...sums];
  const single = `SELECT ${key}, ${merged.map(({ name }) => name).join(", ")} ${lines}`;
  const grouped = `SELECT ${key}, ${merged.map(({ name, merge }) => `${merge}(${name}) AS ${name}`).join(", ")} ${lines}`;
  const isTaken = parts.lineKey !== "";
  if (isTaken) return `${grouped} GROUP BY ${key}`;
  if (!hasRepeated) return single;
  const hash = hashOfLine(ledger);
  const repeated = `SELECT ${hash} ${lines} GROUP BY ${hash} HAVING count() > 1`;
  return `
      ${single} AND ${hash} NOT IN (${repeated})
      UNION ALL
      ${grouped} AND ${hash} IN (${repeated}) GROUP BY ${key}`;
}
