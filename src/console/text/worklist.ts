/** Texts of the worklist. */
import { counted } from "../../common/plural.js";

export const worklistTexts = {
  lead: "Costs whose cause is unknown, or that were divided without better data. Largest first.",
  nothing: "Nothing in this period needs attention",
  nothingHint:
    "Every cost went to those who caused it, was shared by design, or has a cause that is accepted.",
  byCause: "By cause",
  cause: "Cause",
  together: "Together",
  smaller: (count: number) =>
    `Show ${counted(count, "smaller cause", "smaller causes")}, together less than 1 %`,
  resources: "Resources",
  noneOfCause: "No costs in this period have this cause. Accepted causes are not in this list.",
  paidBy: "Paid by",
  anyReason: "any",
  causes: (count: number) => counted(count, "cause", "causes"),
  resourceCount: (count: number) => counted(count, "resource and reason", "resources and reasons"),
  accept: "Accept",
  acceptOf: (cause: string) => `Accept ${cause}`,
  acceptTitle: "Accept this cause",
  acceptHint:
    "Until that day, the cause and its costs are not in the list. Then they come back by themselves. Nothing changes about who pays.",
  until: "Until (UTC)",
  acceptSubmit: "Accept the cause",
  acceptDone: (day: string) => `Saved. The cause leaves the list until ${day}.`,
  accepted: (count: number) => `Accepted (${count.toLocaleString("en")})`,
  acceptedCaption: "Accepted causes",
  by: "By",
  passed: (day: string) => `${day}, has passed`,
  takeBack: "Take back",
  takeBackOf: (cause: string) => `Take back ${cause}`,
  reasons: {
    no_metrics_located: {
      why: "No metrics for the resource",
      todo: "The metrics have no samples for this resource on these days. Check that its exporter reports it, and check the metric's name and labels.",
    },
    metrics_fetch_failed: {
      why: "The metrics could not be fetched",
      todo: "The upstream failed. The next runs gather these days again. See Runs for the error.",
    },
    no_usage_for_active_identities: {
      why: "Identities were active, but none with usage",
      todo: "Identities were active, but had no measured usage. The cost was divided evenly among them.",
    },
    no_active_identities_located: {
      why: "Nobody was active on the resource",
      todo: "No identity used the resource on these days. If nobody needs it, delete it; if it belongs to somebody, assign it.",
    },
    no_identities_located: {
      why: "No identity is known",
      todo: "The tenant's identities could not be gathered, or there are none. Check the inventory and the credentials' rights.",
    },
    no_identity_on_line: {
      why: "The line names no identity",
      todo: "Assign the resource. Or set its bill tag, add its account to the map of the configuration, or write a rule for such lines.",
    },
    owner_unknown: {
      why: "The owner is unknown",
      todo: "Assign the resource. Or set its owner, or that of the API key that was used, in the upstream.",
    },
    no_allocator_for_product_type: {
      why: "There is no rule for the product",
      todo: "No rule covers this product. Its costs are shared until one does.",
    },
    allocation_failed: {
      why: "The line could not be allocated",
      todo: "Allocation failed repeatedly. See Runs for the error.",
    },
  },
} as const;
