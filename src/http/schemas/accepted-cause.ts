/** Requests and responses with accepted causes. */
import { Type } from "@sinclair/typebox";
import { LONGEST_ID } from "../../domain/text-limits.js";
import { TAG_TEXT } from "../../tags/tag-text.js";
import { causeDetail } from "./allocation-issue.js";
import { plainText } from "./assignment.js";
import { daySchema, instantSchema, textSchema } from "./fields.js";
import { inputOf, tenantPathSchema } from "./parameters.js";
import { authorSchema } from "./tag.js";

/** No decision is for ever. */
export const MOST_ACCEPTED_DAYS = 366;

const acceptedCauseId = Type.Integer({
  description: "Id of the accepted cause. Never used again.",
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  examples: [7],
});

export const acceptedCausePathSchema = Type.Object({
  ...tenantPathSchema.properties,
  accepted_cause_id: acceptedCauseId,
});

const RULE = "Configured rule; empty: the rule of the product type.";

export const acceptedCauseSchema = Type.Object(
  {
    accepted_cause_id: acceptedCauseId,
    allocation_detail: causeDetail,
    product_type: textSchema("Product of the rows.", "AmazonS3"),
    rule: textSchema(RULE, "storage"),
    accepted_until: daySchema("Last UTC day on which it is accepted."),
    is_current: Type.Boolean({ description: "Whether that day has not passed (UTC).", examples: [true] }),
    reason: textSchema("Why it is accepted.", "The storage team tags its buckets in March."),
    created_by: textSchema(
      "Author: the caller's name, or with `api.auth: none` the author in the request.",
      "ada@example.org",
    ),
    created_at: instantSchema("When it was accepted, or accepted again with another day or reason."),
  },
  { title: "AcceptedCause", description: "A cause of allocation issues that is accepted until a day." },
);

export const acceptedCauseInputSchema = inputOf(
  {
    allocation_detail: causeDetail,
    product_type: plainText("Product of the rows.", "AmazonS3", LONGEST_ID),
    rule: Type.String({
      description: `${RULE} Control characters are refused.`,
      minLength: 0,
      maxLength: LONGEST_ID,
      pattern: TAG_TEXT,
      "x-expected": `text of at most ${LONGEST_ID} characters without control characters`,
      examples: ["storage"],
    }),
    accepted_until: Type.String({
      format: "date",
      description: `Last UTC day, inclusive: today or later, and at most ${MOST_ACCEPTED_DAYS} days from now.`,
      examples: ["2026-01-31"],
    }),
    reason: plainText("Why it is accepted.", "The storage team tags its buckets in March.", 500),
    created_by: authorSchema,
  },
  { title: "AcceptedCauseInput", description: "A cause to accept until a day." },
);
