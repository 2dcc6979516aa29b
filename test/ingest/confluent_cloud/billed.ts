/** The bill as a tenant gathers it from a test server, without stores. */
import type { Test } from "tap";
import type { DayRange } from "../../../src/common/days.js";
import type { BillingLine } from "../../../src/ingest/ecosystem.js";
import { forever } from "../generic_metrics_only/tenant.js";
import { recordingSink } from "../recording-sink.js";
import { type BillOptions, startBill, testCostRow } from "./bill.js";
import { type ConfluentTestTenant, connectConfluentTenant } from "./tenant.js";

export const march: DayRange = { start: "2026-03-01", end: "2026-04-01" };

export async function billed(
  t: Test,
  rows: BillOptions["rows"] = [],
  options: BillOptions & ConfluentTestTenant = {},
) {
  const bill = await startBill(t, { ...options, rows });
  const gatherer = connectConfluentTenant(t, bill.url, options);
  const gather = async (window = march) => {
    const sink = recordingSink();
    const report = await gatherer.gatherWindow(window, sink, forever);
    return { report, lines: sink.recorded.billing };
  };
  return { bill, gather };
}

export async function billedLines(
  t: Test,
  rows: BillOptions["rows"],
  options?: BillOptions,
): Promise<BillingLine[]> {
  const { gather } = await billed(t, rows, options);
  return (await gather()).lines;
}

/** Returns the line of a normal row with these changes. */
export async function lineOf(t: Test, changes: Readonly<Record<string, unknown>>): Promise<BillingLine> {
  const [line, ...others] = await billedLines(t, [testCostRow("2026-03-04", changes)]);
  if (line === undefined || others.length > 0) throw new Error("a row that is not one line");
  return line;
}
