/**
 * X-ClickHouse-Summary. The engine returns the rows and bytes that inserts wrote, and the rows and bytes of the result.
 * It does not return what a finished query has read, so `read_rows` is that of inserts with data, and "0" otherwise.
 */
import type { EngineResult } from "./engine.js";
import type { ReceivedStatement } from "./statement.js";

export function summaryOf(
  kind: ReceivedStatement["kind"],
  result: EngineResult | undefined,
  started: bigint,
): string {
  const writes = kind === "insert-data" || kind === "insert-input" || kind === "write";
  const rows = String(result?.rows ?? 0);
  const bytes = String(result?.bytes ?? 0);
  const [written, read, put] = [writes, kind === "insert-data", !writes];
  return JSON.stringify({
    read_rows: read ? rows : "0",
    read_bytes: read ? bytes : "0",
    written_rows: written ? rows : "0",
    written_bytes: written ? bytes : "0",
    total_rows_to_read: "0",
    result_rows: put || written ? rows : "0",
    result_bytes: put || written ? bytes : "0",
    elapsed_ns: String(process.hrtime.bigint() - started),
  });
}
