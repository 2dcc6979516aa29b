/** Exports whose scopes contain one another deliver the same rows: counted together, they would be charged twice. */
import { compare } from "../file-names.js";
import { type Bill, grouped } from "./layout.js";

export interface ScopedBill extends Bill {
  /** The resource that is exported, `/subscriptions/…`; undefined when the manifest does not say. */
  readonly scope: string | undefined;
}

/**
 * Bills of a month whose scopes are equal or nested are held back. Scopes of different kinds, such as a billing account and a subscription, may overlap
 * without it being seen from their names: their lines are compared once they are loaded.
 */
export function overlaps(bills: readonly ScopedBill[]): Bill[] {
  const months = grouped(bills, ({ billing_period: month }) => month ?? "");
  return [...months.values()].flatMap((month) => {
    const ordered = [...month].sort((a, b) => compare(a.name, b.name));
    return ordered.map(({ scope, ...bill }): Bill => {
      const same = ordered.filter(({ name, scope: other }) => name !== bill.name && nested(scope, other));
      if (same.length === 0) return bill;
      const both = [bill.name, ...same.map(({ name }) => name)].sort(compare).join(" and ");
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
