/** The vendor's bill behind a real HTTP server: rows that a test can change, in pages. */
import type { RequestListener } from "node:http";
import type { Test } from "tap";
import { addDays } from "../../../src/common/days.js";
import { upstream } from "../../upstream/upstream-server.js";

export type Row = Readonly<Record<string, unknown>> | string | number | null;

export interface TestBill {
  readonly url: string;
  /** Received queries, one text for each page. */
  readonly requested: readonly URLSearchParams[];
  /** Replaces the rows, in this order. */
  setRows(rows: readonly Row[]): void;
  /** Sends another response instead of the bill if it returns true. */
  setInstead(instead: (query: URLSearchParams, ...exchange: Parameters<RequestListener>) => boolean): void;
}

export interface BillOptions {
  readonly rows?: readonly Row[];
  /** Rows of a page, whatever is requested. Default 1000. */
  readonly pageSize?: number;
  /** Host in `next`. Default: that of the vendor, as behind a gateway. */
  readonly nextHost?: string;
}

/** Every query gets the rows that start within it. A row without a start goes to the query of its `hidden_day`. */
export async function startBill(t: Test, options: BillOptions = {}): Promise<TestBill> {
  const { pageSize = 1000, nextHost = "https://api.confluent.cloud" } = options;
  let rows = options.rows ?? [];
  let instead: Parameters<TestBill["setInstead"]>[0] = () => false;
  const requested: URLSearchParams[] = [];
  const { url } = await upstream(t, (request, response) => {
    const { pathname, searchParams: query } = new URL(request.url ?? "", "http://x");
    requested.push(query);
    if (instead(query, request, response)) return;
    if (pathname !== "/billing/v1/costs") return void response.writeHead(404).end("{}");
    const [start = "", end = ""] = [query.get("start_date") ?? "", query.get("end_date") ?? ""];
    const covered = rows.filter((row) => {
      const day = dayOf(row);
      return day === undefined || (day >= start && day < end);
    });
    const from = Number(query.get("page_token")?.replace("at-", "") ?? 0);
    const to = from + pageSize;
    const next = to < covered.length ? `${nextHost}/billing/v1/costs?page_token=at-${to}` : undefined;
    response.end(
      JSON.stringify({
        api_version: "billing/v1",
        kind: "CostList",
        metadata: { ...(next === undefined ? {} : { next }) },
        data: covered.slice(from, to).map(visible),
      }),
    );
  });
  return {
    url,
    requested,
    setRows(next) {
      rows = next;
    },
    setInstead(next) {
      instead = next;
    },
  };
}

function dayOf(row: Row): string | undefined {
  if (typeof row !== "object" || row === null) return undefined;
  const day = row.hidden_day ?? row.start_date;
  return typeof day === "string" ? day : undefined;
}

function visible(row: Row): unknown {
  if (typeof row !== "object" || row === null) return row;
  const { hidden_day: _, ...shown } = row;
  return shown;
}

export const resource = (id: string, display_name = id) => ({
  id,
  display_name,
  environment: { id: "env-77" },
});

/** Returns a normal row. Fields that are given as undefined are left out. */
export function testCostRow(
  day: string,
  changes: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return {
    id: "c-0001",
    start_date: day,
    end_date: addDays(day, 1),
    granularity: "DAILY",
    product: "KAFKA",
    line_type: "KAFKA_STORAGE",
    unit: "GB-hour",
    price: 0.05,
    quantity: 40,
    original_amount: 2,
    discount_amount: 0,
    amount: 2,
    resource: resource("lkc-aa11", "orders"),
    ...changes,
  };
}
