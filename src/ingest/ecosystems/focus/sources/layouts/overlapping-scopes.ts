/** Exports whose scopes contain one another deliver the same rows: counted together, they would be charged twice. */
import { compare } from "../file-names.js";
import { type Bill, grouped } from "./layout.js";

export interface ScopedBill extends Bill {
  /** The resource that is exported, `/subscriptions/…`; undefined when the manifest does not say. */
  readonly scope: string | undefined;
}

/**
 * Bills of a month whose scopes are equal or nested are held back. Scopes of different kinds, such as a billing account and a
 * subscription, may overlap without it being seen from their names: that is a remark.
 */
export function overlaps(bills: readonly ScopedBill[]): Bill[] {
  const months = grouped(bills, ({ billing_period: month }) => month ?? "");
  return [...months.values()].flatMap((month) => {
    const ordered = [...month].sort((a, b) => compare(a.name, b.name));
    return ordered.map(({ scope, ...bill }): Bill => {
      const others = ordered.filter(({ name }) => name !== bill.name);
      const same = others.filter((other) => nested(scope, other.scope)).map(({ name }) => name);
      const doubtful = others
        .filter((other) => kindOf(scope) !== kindOf(other.scope))
        .map(({ name }) => name);
      if (same.length > 0) {
        const both = [bill.name, ...same].sort(compare).join(" and ");
        const problem = `${both} export the same charges: make a source of its own for the one that counts, and remove the other`;
        return { ...bill, problem };
      }
      if (doubtful.length === 0 || bill.name !== ordered[0]?.name) return bill;
      const remark = `${bill.name} and ${doubtful.join(", ")} may have charges in common: their scopes differ in kind.`;
      return { ...bill, remarks: [...bill.remarks, remark] };
    });
  });
}

function nested(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  const [a, b] = [left, right].map((scope) => `${scope.toLowerCase().replace(/\/+$/, "")}/`);
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}

/** `/subscriptions/x` → `subscriptions`, `/providers/Microsoft.Billing/billingAccounts/x` → `…/billingaccounts`. */
function kindOf(scope: string | undefined): string {
  const parts = (scope ?? "")
    .toLowerCase()
    .split("/")
    .filter((part) => part !== "");
  return parts[0] === "providers" ? parts.slice(0, 3).join("/") : (parts[0] ?? "");
}
