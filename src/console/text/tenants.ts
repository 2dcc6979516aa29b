/** Texts of the list of tenants and their health. */
import { counted } from "../../common/plural.js";

export const tenantsTexts = {
  title: "Tenants",
  none: "No tenant is configured",
  ecosystem: "Ecosystem",
  calculated: "Days calculated",
  pending: "Pending",
  provisional: "Provisional",
  last: "Up to",
  health: "Health",
  noCosts: "Its costs could not be loaded.",
  total: (missing: number, isProvisional: boolean) =>
    [
      "Total",
      missing > 0 && `without ${counted(missing, "tenant", "tenants")}`,
      isProvisional && "with provisional days",
    ]
      .filter((part) => part !== false)
      .join(", "),
} as const;

export const healthTexts = {
  good: "Healthy",
  running: (stage: string | null) => (stage === null ? "A run is in progress" : `A run is ${stage}`),
  suspended: (cause: string) => `Suspended until the service restarts: ${cause}`,
  otherStore: "Not served: its store is not the one it was using",
  waiting: "Waiting for its store",
  noStore: "Its store does not respond",
  lost: (days: number) =>
    `Its store has lost ${counted(days, "day", "days")}. The next run recalculates ${days === 1 ? "it" : "them"}.`,
  failed: "The last run failed",
  hadErrors: "The last run had errors",
  noData: "No costs yet",
} as const;
