import { lineColumns, lineKeySql } from "../../domain/ledger.js";
import { ruledLines, type SplitLedger } from "../ledger.js";
import type { RuleParts } from "./rule-parts.js";

/** Hash of the key of a line. `more`: further columns of the key, with a comma before each. */
export function hashOfLine(ledger: SplitLedger, more = ""): string {
  return `cityHash64(${keyOfLine(ledger, more)})`;
}

function keyOfLine(ledger: SplitLedger, more: string): string {
  return `day, ${lineKeySql(ledger)}${more}`;
}

/**
 * Selects the lines of the bill. Lines of equal key become one. Only those are grouped, because grouping by eight
 * columns of text took two thirds of the time of a bill whose lines have one recipient each (0.8 M lines: 6.3 s of
 * 9.5 s). They are found by a hash of their key; other lines that have the same hash are grouped as well, by themselves.
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
  const key = keyOfLine(ledger, parts.lineKey);
  const sames = lineColumns(ledger, "same").map(({ billColumn: name }) => ({ name, merge: "any" }));
  const sums = ["total_cost", ...otherCosts].map((name) => ({ name, merge: "sum" }));
  const merged = [...sames, ...parts.billColumns, ...sums];
  const single = `SELECT ${key}, ${merged.map(({ name }) => name).join(", ")} ${lines}`;
  if (!hasRepeated) return single;
  const hash = hashOfLine(ledger, parts.lineKey);
  const repeated = `SELECT ${hash} ${lines} GROUP BY ${hash} HAVING count() > 1`;
  return `
      ${single} AND ${hash} NOT IN (${repeated})
      UNION ALL
      SELECT ${key}, ${merged.map(({ name, merge }) => `${merge}(${name}) AS ${name}`).join(", ")} ${lines} AND ${hash} IN (${repeated})
      GROUP BY ${key}`;
}
