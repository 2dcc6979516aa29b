/** Parses faults of the command line, such as `status,status=503,match=/connect/`. */
import { type ApiFault, waitHeaders } from "./api-faults.js";

export type ApiFaultText = { readonly fault: ApiFault } | { readonly problem: string };

type Make = (scope: Scope, given: ReadonlyMap<string, string>) => ApiFault | string;
type Scope = Pick<ApiFault, "match" | "times" | "after">;

/** The keys of each kind, and how it creates a fault from their values; returns a text if a value is invalid. */
const kinds: Readonly<Record<ApiFault["kind"], { readonly takes: readonly string[]; readonly make: Make }>> =
  {
    rate_limited: {
      takes: ["header", "seconds"],
      make: (scope, given) => {
        const name = given.get("header") ?? "retry-after";
        const header = waitHeaders.find((each) => each === name);
        const seconds = wholeOf(given.get("seconds") ?? "1");
        if (header === undefined) return `header must be one of ${waitHeaders.join(", ")}`;
        return seconds === undefined
          ? "seconds must be a whole number"
          : { ...scope, kind: "rate_limited", header, seconds };
      },
    },
    status: {
      takes: ["status"],
      make: (scope, given) => {
        const status = wholeOf(given.get("status") ?? "503") ?? 0;
        if (status < 300 || status > 599) return "status must be from 300 to 599";
        return { ...scope, kind: "status", status };
      },
    },
    latency: {
      takes: ["ms"],
      make: (scope, given) => {
        const ms = wholeOf(given.get("ms") ?? "1000");
        return ms === undefined ? "ms must be a whole number" : { ...scope, kind: "latency", ms };
      },
    },
    stall: { takes: [], make: (scope) => ({ ...scope, kind: "stall" }) },
    reset: {
      takes: ["midway"],
      make: (scope, given) => ({ ...scope, kind: "reset", midway: given.get("midway") === "true" }),
    },
    truncated: { takes: [], make: (scope) => ({ ...scope, kind: "truncated" }) },
    endless: { takes: [], make: (scope) => ({ ...scope, kind: "endless" }) },
    foreign_next: {
      takes: ["host"],
      make: (scope, given) => ({
        ...scope,
        kind: "foreign_next",
        host: given.get("host") ?? "http://127.0.0.2:9",
      }),
    },
    repeated_token: { takes: [], make: (scope) => ({ ...scope, kind: "repeated_token" }) },
    new_tokens: { takes: [], make: (scope) => ({ ...scope, kind: "new_tokens" }) },
    empty: { takes: [], make: (scope) => ({ ...scope, kind: "empty" }) },
    null_data: { takes: [], make: (scope) => ({ ...scope, kind: "null_data" }) },
  };

export const apiFaultKinds = Object.keys(kinds) as readonly ApiFault["kind"][];

export function readApiFault(text: string): ApiFaultText {
  const [name = "", ...values] = text.split(",");
  const kind = apiFaultKinds.find((each) => each === name);
  if (kind === undefined) return { problem: `must begin with one of ${apiFaultKinds.join(", ")}` };
  const { takes, make } = kinds[kind];
  const given = new Map<string, string>();
  for (const value of values) {
    const [, key = "", written = ""] = /^([^=]*)=(.*)$/s.exec(value) ?? [];
    if (![...takes, "match", "times", "after"].includes(key))
      return {
        problem: `"${value}" must be one of ${[...takes, "match", "times", "after"].join(", ")} with a value`,
      };
    given.set(key, written);
  }
  const scope: { match?: string; times?: number; after?: number } = {};
  const match = given.get("match");
  if (match !== undefined) scope.match = match;
  for (const key of ["times", "after"] as const) {
    const count = given.get(key);
    if (count === undefined) continue;
    const number = wholeOf(count);
    if (number === undefined) return { problem: `${key} must be a whole number` };
    scope[key] = number;
  }
  const made = make(scope, given);
  return typeof made === "string" ? { problem: made } : { fault: made };
}

function wholeOf(text: string): number | undefined {
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
