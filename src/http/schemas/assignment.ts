/** Requests and responses with assignments. */
import { Type } from "@sinclair/typebox";
import { LONGEST_ID } from "../../domain/text-limits.js";
import { TAG_TEXT } from "../../tags/tag-text.js";
import { countSchema, daySchema, instantSchema, nullableText, textSchema } from "./fields.js";
import { pageSchema } from "./page.js";
import { id, inputOf, tenantPathSchema } from "./parameters.js";
import { authorSchema } from "./tag.js";

const assignmentId = Type.Integer({
  description: "Id of the assignment. Never used again.",
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  examples: [7],
});

export const assignmentPathSchema = Type.Object({
  ...tenantPathSchema.properties,
  assignment_id: assignmentId,
});

export const plainText = (description: string, example: string, maxLength: number) =>
  Type.String({
    description: `${description} Control characters are refused.`,
    minLength: 1,
    maxLength,
    pattern: TAG_TEXT,
    "x-expected": `text of 1 to ${maxLength} characters without control characters`,
    examples: [example],
  });

export const assignmentSchema = Type.Object(
  {
    assignment_id: assignmentId,
    resource_id: textSchema("Resource of the billing lines, as in the bill.", "lkc-1a2b3c"),
    identity_id: textSchema("Identity that the lines name.", "payments"),
    valid_from: daySchema("First UTC day."),
    valid_to: nullableText({
      description: "Last UTC day; null: no end.",
      format: "date",
      examples: ["2026-01-31"],
    }),
    reason: textSchema("Why the resource belongs to the identity.", "Payments took it over."),
    created_by: textSchema(
      "Author: the caller's name, or with `api.auth: none` the author in the request.",
      "ada@example.org",
    ),
    created_at: instantSchema("When it was created."),
  },
  { title: "Assignment", description: "A resource belongs to an identity on some days." },
);

export const assignmentPageSchema = (order: string) =>
  Type.Object(
    {
      ...pageSchema(assignmentSchema, order).properties,
      are_read: Type.Boolean({
        description:
          "Whether the tenant reads assignments: `allocation.identity` has `assigned: resource_id`. If not, none can be created.",
        examples: [true],
      }),
    },
    { description: "A page of assignments." },
  );

/** Maximum number of resources in a request. */
export const MOST_RESOURCES = 10_000;

const validTo = (description: string) =>
  Type.String({ format: "date", description, examples: ["2026-01-31"] });

export const assignmentInputSchema = inputOf(
  {
    resource_ids: Type.Array(plainText("A resource, as billing lines have it.", "lkc-1a2b3c", LONGEST_ID), {
      description: `1 to ${MOST_RESOURCES} different resources; repetitions count once. They need not be in the inventory.`,
      minItems: 1,
      "x-expected": `a list of 1 to ${MOST_RESOURCES} different resources`,
      examples: [["lkc-1a2b3c", "lkc-9z8y7x"]],
    }),
    identity_id: plainText(
      "The identity: a team, a service account, or any other name that charges shall have.",
      "payments",
      LONGEST_ID,
    ),
    valid_from: Type.String({
      format: "date",
      description: "First UTC day, inclusive. Years 1970 to 2105.",
      examples: ["2026-01-01"],
    }),
    valid_to: Type.Optional(validTo("Last UTC day, inclusive. Left out: no end.")),
    reason: plainText("Why the resources belong to the identity.", "Payments took them over.", 500),
    created_by: authorSchema,
  },
  { title: "AssignmentInput", description: "The identity that resources belong to, from a day on." },
);

export const assignmentEndSchema = inputOf(
  { valid_to: validTo("Last UTC day, inclusive.") },
  { title: "AssignmentEnd", description: "The new last day of an assignment." },
);

export const assignmentResultSchema = Type.Object(
  {
    created_count: countSchema("Assignments created.", 2),
    unchanged_count: countSchema("Assignments that existed with the same identity and days.", 0),
    items: Type.Array(assignmentSchema, { description: "The assignments of all resources of the request." }),
  },
  { title: "AssignmentResult", description: "The assignments of the resources of a request." },
);

const values = (name: string, example: string) =>
  Type.Optional(
    Type.Array(id(example), {
      description: `Only assignments of this ${name}, or of one of several.`,
      minItems: 1,
      maxItems: 100,
      examples: [[example]],
      "x-expected": `text of 1 to ${LONGEST_ID} characters, and given at most 100 times`,
    }),
  );

const validOn = (description: string) =>
  Type.Optional(Type.String({ format: "date", description, examples: ["2026-01-15"] }));

export const assignmentFilters = {
  resource_id: values("resource", "lkc-1a2b3c"),
  identity_id: values("identity", "payments"),
  valid_on: validOn("Only assignments that are valid on this UTC day."),
};

export const assignmentMapFilters = {
  valid_on: validOn("The UTC day of the map. Left out: today."),
};
