/** Compares the loaded lines with the sums of the texts of their files, which are computed apart from parsing. */
import type { ClickHouseClient } from "@clickhouse/client";
import { readRows } from "../../../../clickhouse/statement.js";
import { lineFindings } from "./findings.js";
import { costs } from "./summary.js";

/** The loaded lines differ from the texts of the files. */
export class LoadMismatchError extends Error {
  override readonly name = "LoadMismatchError";
}

/**
 * Throws unless lines and sums, by currency and month, equal those of the texts. Each rounded cost may differ by half
 * of the last place.
 */
export async function requireEqualSums(
  client: ClickHouseClient,
  delivery: string,
  csvFiles: number,
  signal: AbortSignal,
): Promise<void> {
  const rounded = lineFindings.findIndex(({ id }) => id === "rounded_cost");
  const off = costs.map(
    ([name, column]) =>
      `abs(sum(text_${name}) - sum(loaded_${name})) > toDecimal256('0.0000000000005', 38) * sum(rounded) AS off_${column}`,
  );
  const rows = await readRows<Record<string, unknown>>(
    client,
    {
      query: `SELECT currency, of_month, sum(text_lines) != sum(loaded_lines) AS off_lines, ${off.join(", ")} FROM (
          SELECT currency, month AS of_month, sum(lines) AS text_lines, 0 AS loaded_lines, 0 AS rounded,
            ${costs.map(([name]) => `sum(${name}) AS text_${name}, toDecimal256(0, 38) AS loaded_${name}`).join(", ")}
          FROM focus_text_sums WHERE delivery = {delivery:UInt64} GROUP BY currency, of_month
          UNION ALL
          SELECT BillingCurrency, toStartOfMonth(charge_day), 0, count(), countIf(bitTest(findings, ${rounded})),
            ${costs.map(([, column]) => `toDecimal256(0, 38), sum(ifNull(toDecimal256(${column}, 38), 0))`).join(", ")}
          FROM focus_lines WHERE delivery = {delivery:UInt64} GROUP BY BillingCurrency, toStartOfMonth(charge_day)
        ) GROUP BY currency, of_month HAVING off_lines ${costs.map(([, column]) => `OR off_${column}`).join(" ")}`,
      params: { delivery },
    },
    signal,
  );
  if (rows.length > 0)
    throw new LoadMismatchError(
      `the loaded amounts in ${String(rows[0]?.currency)} of ${String(rows[0]?.of_month)} differ from the sums of the files`,
    );
  const [ends] = await readRows<{ ends: number }>(
    client,
    {
      query: "SELECT sum(ends) AS ends FROM focus_text_sums WHERE delivery = {delivery:UInt64}",
      params: { delivery },
    },
    signal,
  );
  if (Number(ends?.ends ?? 0) !== csvFiles)
    throw new LoadMismatchError(
      "a file was not read to its end: a quoted value is not closed, or the file is cut off",
    );
}
