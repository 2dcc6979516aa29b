/** Parameters that several endpoints take. */
import {
  KindGuard,
  type ObjectOptions,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from "@sinclair/typebox";
import { costTypes } from "../../config/allocation-rule.js";
import { UNASSIGNED } from "../../query/inventory/names.js";
import { TAG_COLUMN, TAG_PREFIX, type TagFilter, UNTAGGED } from "../../query/tags/filter.js";
import { LONGEST_ID } from "../../store/text-limits.js";
import { choice } from "./fields.js";

/** The fields of a request. One with a default need not be given, though a handler always has it. */
export function inputOf<Properties extends TProperties>(
  properties: Properties,
  options: ObjectOptions = {},
): TObject<Properties> {
  const mayBeLeftOut = (schema: TSchema) => KindGuard.IsOptional(schema) || schema.default !== undefined;
  const needed = Object.entries(properties).filter(([, schema]) => !mayBeLeftOut(schema));
  const schema = Type.Object(properties, { additionalProperties: false, ...options });
  return Object.assign(schema, { required: needed.map(([name]) => name) });
}

export const TenantPath = Type.Object({
  tenant_name: Type.String({
    description: "Name of the tenant in the configuration (not its tenant_id).",
    examples: ["acme"],
  }),
});

export const dateRange = {
  start_date: Type.Optional(
    Type.String({
      format: "date",
      description:
        "First day, inclusive. Left out: the tenant's `lookback_days` before `end_date`. Years 1900 to 2299.",
      examples: ["2026-01-01"],
    }),
  ),
  end_date: Type.Optional(
    Type.String({
      format: "date",
      description:
        "Last day, inclusive. Left out: today (UTC), or `start_date` when that is later. Years 1900 to 2299.",
      examples: ["2026-01-31"],
    }),
  ),
};

export const timezone = {
  timezone: Type.Optional(
    Type.String({
      description:
        "Name of the IANA time zone list whose midnights bound the days, written as there. A day begins at its first midnight; days " +
        "on which clocks change have 23 or 25 hours. Default UTC.",
      maxLength: 64,
      examples: ["America/Denver"],
    }),
  ),
};

export const paging = {
  page: Type.Integer({
    description: "Page, from 1. A page past the end is empty.",
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 1,
  }),
  page_size: Type.Integer({ description: "Rows a page.", minimum: 1, maximum: 1000, default: 100 }),
};

const exactly = (what: string, example: string) =>
  Type.Optional(
    Type.String({
      description: `Only rows of this ${what}: exact and case-sensitive.`,
      minLength: 1,
      maxLength: LONGEST_ID,
      examples: [example],
    }),
  );

export const billingFilters = {
  product_type: exactly("product type", "KAFKA_STORAGE"),
  resource_id: exactly("resource", "lkc-1a2b3c"),
  currency: exactly("currency", "USD"),
};

export const chargebackFilters = {
  identity_id: exactly("identity", "sa-12345"),
  ...billingFilters,
  cost_type: Type.Optional(choice(costTypes, { description: "Only rows of this cost type." })),
  team: Type.Optional(
    Type.String({
      description: `Only rows whose identity belongs to this team; \`${UNASSIGNED}\` for identities without one.`,
      maxLength: LONGEST_ID,
      examples: ["payments"],
    }),
  ),
};

const TAG_NAMES =
  "Display names of the tag with that key, separated by commas: only rows whose dimension has one of them. `\\,` is a comma and " +
  `\`\\\\\` a backslash within a name. \`${UNTAGGED}\` stands for dimensions without such a tag.`;

const oneTag = { type: "string", description: TAG_NAMES, examples: ["payments,search"] };

/** One property for all parameters `tag:KEY`, which a handler has as a list of filters that all have to hold. */
export const tagFilters = {
  tags: Type.Optional(
    Type.Unsafe<readonly TagFilter[]>({
      type: "object",
      description:
        `Any number of parameters \`tag:KEY\`, KEY being the key of a tag; none is named \`tags\`. ${TAG_NAMES} Several, of ` +
        "one key or of several, have to hold all.",
      patternProperties: { [TAG_COLUMN]: oneTag },
      additionalProperties: false,
      examples: [{ "tag:team": "payments,search" }],
      "x-prefix": TAG_PREFIX,
    }),
  ),
};

/** The same as fields of an object, which a handler reads by `readTagParameters`. */
export const tagFields = {
  patternProperties: {
    [TAG_COLUMN]: { ...oneTag, description: `Text, of fields \`tag:KEY\` alone. ${TAG_NAMES}` },
  },
};
