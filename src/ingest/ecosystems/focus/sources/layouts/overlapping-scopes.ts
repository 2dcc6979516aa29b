/** Finds exports whose scopes contain one another. They deliver the same rows, which would be charged twice. */
import { compareNames } from "../file-names.js";
import { type Bill, grouped } from "./layout.js";

export interface ScopedBill extends Bill {
  /** The exported resource, `/subscriptions/…`. Undefined if the manifest does not say. */
  readonly scope: string | undefined;
}

/**
 * Holds back bills of a month whose scopes are equal or nested. Scopes of different kinds, such as a billing account
 * and a subscription, may overlap although their names do not show it: their lines are compared once they are loaded.
 */
export function overlaps(bills: readonly ScopedBill[]): Bill[] {
  const months = grouped(bills, ({ billing_period: month }) => month ?? "");
  return [...months.values()].flatMap((month) => {
    const ordered = [...month].sort((a, b) => compareNames(a.name, b.name));
    return ordered.map(({ scope, ...bill }): Bill => {
      const same = ordered.filter(({ name, scope: other }) => name !== bill.name && nested(scope, other));
      if (same.length === 0) return bill;
      const both = [bill.name, ...same.map(({ name }) => name)].sort(compareNames).join(" and ");
      const problem = `${both} export the same charges: leave all but one of them out, such as with \`exclude: ["${bill.name}/**"]\``;
      return { ...bill, problem };
    });
  });
}

/** A manifest names its export below the scope. */
const EXPORT = /\/providers\/microsoft\.costmanagement\/exports\/[^/]*\/*$/;

function nested(left: string | undefined, right: string | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  const [a, b] = [left, right].map(
    (scope) => `${scope.toLowerCase().replace(EXPORT, "").replace(/\/+$/, "")}/`,
  );
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}
