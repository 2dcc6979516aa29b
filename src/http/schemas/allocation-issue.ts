/** Allocation issues. */
import { Type } from "@sinclair/typebox";
import { issueDetails } from "../../domain/allocation-rule.js";
import { LONGEST_ID } from "../../domain/text-limits.js";
import {
  choiceSchema,
  countSchema,
  currency,
  decimalSchema,
  identityNames,
  resourceNames,
  rowFields,
  textSchema,
} from "./fields.js";
import { valueFilter } from "./parameters.js";

const meanings: Readonly<Record<(typeof issueDetails)[number], string>> = {
  no_metrics_located: "the metrics have no data of the resource on that day",
  metrics_fetch_failed: "the metrics could not be fetched",
  no_usage_for_active_identities: "identities were active, but none with usage",
  no_active_identities_located: "no identity was active on the resource",
  no_identities_located: "no identity is known at all",
  no_identity_on_line: "the line names no identity, and its rule finds no other",
  owner_unknown: "the resource's owner is not known",
  no_allocator_for_product_type: "there is no rule for the product",
  allocation_failed: "the allocation of the line failed repeatedly",
};

export const causeDetail = choiceSchema(issueDetails, {
  description: `What is wrong. ${issueDetails.map((detail) => `\`${detail}\`: ${meanings[detail]}.`).join(" ")}`,
  examples: ["no_identities_located"],
});

/** A character of a name in a list: `joinNames` writes it. */
const CHARACTER = String.raw`(?:[^\\,]|\\[\\,]|\\(?![\\,]))`;

export const causeFilters = valueFilter(
  "cause",
  "cause, written `allocation_detail,product_type,rule` (`\\,` is a comma and `\\\\` a backslash within a name; no rule is an empty text)",
  Type.String({
    pattern: `^(${issueDetails.join("|")}),${CHARACTER}+,${CHARACTER}*$`,
    maxLength: 4 * LONGEST_ID,
    "x-expected":
      "allocation_detail,product_type,rule with the detail of an allocation issue, with `\\` before each comma and backslash in a name",
    examples: ["no_identity_on_line,AmazonS3,storage"],
  }),
);

export const allocationIssueSchema = Type.Object(
  {
    ecosystem: rowFields.ecosystem,
    env_id: textSchema("Environment of the resource; empty when there is none.", "env-42"),
    resource_id: rowFields.resource_id,
    product_type: rowFields.product_type,
    identity_id: textSchema(
      "Identity that pays until the issue is resolved, often UNALLOCATED.",
      "UNALLOCATED",
    ),
    allocation_detail: causeDetail,
    ...identityNames,
    ...resourceNames,
    currency,
    row_count: countSchema("Chargeback rows of the issue.", 31),
    usage_cost: decimalSchema("Sum of their amounts of cost type `usage`.", "0"),
    shared_cost: decimalSchema("Sum of their amounts of cost type `shared`.", "42"),
    total_cost: decimalSchema("Sum of all their amounts.", "42"),
  },
  { title: "AllocationIssue" },
);
