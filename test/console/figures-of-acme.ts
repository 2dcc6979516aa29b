/** A tenant with the costs of three days, for tests of the console's figures. */
import type { Test } from "tap";
import { type ChargebackInput, insertBilling, insertChargebacks } from "../http/service.js";
import { startConsole } from "./pages.js";

/** Names that an upstream may return. The console must show them as text. */
export const hostile = [
  "<img src=x onerror=document.title='hacked'>",
  "x".repeat(200),
  "\u202egnitekram",
  "🧾 Kosten & «Maß»",
  "a,b\\c",
];
export const days = ["2026-03-01", "2026-03-02", "2026-03-03"];
export const period = "start_date=2026-03-01&end_date=2026-03-03";

const rows: ChargebackInput[] = days.flatMap((day, at) => [
  ...hostile.map((identity_id, index) => ({
    timestamp: `${day}T00:00:00Z`,
    amount: `${index + 1}.${at}00000000007`,
    identity_id,
    product_type: "STORAGE",
  })),
  {
    timestamp: `${day}T00:00:00Z`,
    amount: "2.5",
    identity_id: "UNALLOCATED",
    product_type: "STORAGE",
    cost_type: "shared" as const,
    allocation_method: "terminal",
    allocation_detail: "owner_unknown",
  },
  {
    timestamp: `${day}T00:00:00Z`,
    amount: "0.75",
    identity_id: "sa-9",
    product_type: "NETWORK",
    resource_id: "r-2",
  },
]);

export const api = "/api/v1/tenants/acme";

/** Starts the console with the tenant `acme`, which has these costs. */
export async function startFigures(t: Test) {
  const console = await startConsole(t);
  const { stores } = console;
  await insertChargebacks(stores, "acme", rows);
  const micro = (product: string) =>
    days.map((day) => ({
      timestamp: `${day}T00:00:00Z`,
      product_type: product,
      resource_id: product === "STORAGE" ? "r-1" : "r-2",
      total_cost: rows
        .filter((row) => row.timestamp.startsWith(day) && row.product_type === product)
        .reduce((sum, { amount }) => sum + BigInt(withTwelve(amount)), 0n),
    }));
  await insertBilling(
    stores,
    "acme",
    [...micro("STORAGE"), ...micro("NETWORK")].map((line) => ({
      ...line,
      total_cost: fromTwelve(line.total_cost),
    })),
  );
  return console;
}

function withTwelve(amount: string): string {
  const [whole = "", fraction = ""] = amount.split(".");
  return whole + fraction.padEnd(12, "0");
}

function fromTwelve(units: bigint): string {
  const digits = units.toString().padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`;
}
