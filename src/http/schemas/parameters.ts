/** Parameters that several endpoints take. */
import {
  KindGuard,
  type ObjectOptions,
  type Static,
  type TArray,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from "@sinclair/typebox";
import { allocationDetails, allocationMethods, costTypes } from "../../domain/allocation-rule.js";
import { LONGEST_ID } from "../../domain/text-limits.js";
import { UNASSIGNED } from "../../query/inventory/names.js";
import { TAG_FILTER, TAG_PREFIX, type TagFilter, UNTAGGED } from "../../query/tags/filter.js";
import { NOT } from "../../query/value-filters.js";
import { expected } from "../input/messages.js";
import { choiceSchema } from "./fields.js";

/**
 * The schema of a query or body. A field with a default is optional in requests, although the type says that it is
 * required: handlers always have it.
 */
export function inputOf<Properties extends TProperties>(
  properties: Properties,
  options: ObjectOptions = {},
): TObject<Properties> {
  const isOptional = (schema: TSchema) => KindGuard.IsOptional(schema) || schema.default !== undefined;
  const required = Object.entries(properties).filter(([, schema]) => !isOptional(schema));
  const schema = Type.Object(properties, { additionalProperties: false, ...options });
  return Object.assign(schema, { required: required.map(([name]) => name) });
}

export const tenantPathSchema = Type.Object({
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
        "Name of the IANA time zone whose midnights bound the days, spelled as in the IANA list. A day begins at its first midnight; days " +
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
  page_size: Type.Integer({ description: "Rows per page.", minimum: 1, maximum: 1000, default: 100 }),
};

/** Maximum number of values of one filter. */
const MOST_VALUES = 100;

const none = ({ minLength }: TSchema) => (minLength === 0 ? " Empty: rows without one." : "");

type ValueFilter<Name extends string, Value extends TSchema> = {
  [Filter in Name | `${typeof NOT}${Name}`]: TOptional<TArray<Value>>;
};

/** The filter of this name, and its negation with `not:`. Each may be given several times. */
export function valueFilter<Name extends string, Value extends TSchema>(
  name: Name,
  what: string,
  value: Value,
): ValueFilter<Name, Value> {
  const filter = (description: string) =>
    Type.Optional(
      Type.Array(value, {
        description,
        minItems: 1,
        maxItems: MOST_VALUES,
        examples: [[value.examples?.[0] ?? value.enum?.[0]]],
        "x-expected": `${expected(value)}, and given at most ${MOST_VALUES} times`,
      }),
    );
  return {
    [name]: filter(
      `Only rows of this ${what}, or of one of several. Exact and case-sensitive.${none(value)}`,
    ),
    [`${NOT}${name}`]: filter(`No rows of this ${what}, or of any of several.`),
  } as ValueFilter<Name, Value>;
}

export const id = (example: string, description?: string) =>
  Type.String({
    ...(description !== undefined && { description }),
    minLength: 1,
    maxLength: LONGEST_ID,
    examples: [example],
  });

/** An empty value matches rows without one. */
const idOrNone = (example: string) =>
  Type.String({ minLength: 0, maxLength: LONGEST_ID, examples: [example] });

/** Filters by columns of billing lines, which their chargebacks have as well. */
export const lineFilters = {
  ...valueFilter("product_type", "product type", id("KAFKA_STORAGE")),
  ...valueFilter("resource_id", "resource", id("lkc-1a2b3c")),
  ...valueFilter("currency", "currency", id("USD")),
  ...valueFilter("product_category", "product category", id("KAFKA")),
  ...valueFilter("environment_id", "environment (of a FOCUS bill: sub-account)", idOrNone("env-1a2b3c")),
  ...valueFilter("charge_category", "charge category", idOrNone("Usage")),
  ...valueFilter("service_provider", "service provider", idOrNone("AWS")),
  ...valueFilter("account_id", "billing account", idOrNone("123456789012")),
  ...valueFilter("region_id", "region", idOrNone("eu-west-1")),
  ...valueFilter("sku_id", "SKU", idOrNone("GM6XEP3S")),
  ...valueFilter("rule", "configured rule", idOrNone("shared-eks")),
};

export const chargebackFilters = {
  ...valueFilter("identity_id", "identity", id("sa-12345")),
  ...lineFilters,
  ...valueFilter("cost_type", "cost type", choiceSchema(costTypes, { description: "A cost type." })),
  ...valueFilter(
    "allocation_method",
    "allocation method",
    choiceSchema(allocationMethods, { description: "An allocation method." }),
  ),
  ...valueFilter(
    "allocation_detail",
    "reason for the method",
    choiceSchema(allocationDetails, { description: "A reason for an allocation method." }),
  ),
  ...valueFilter("passed_from", "identity that a step of `pass_on` took the cost from", idOrNone("idle")),
  ...valueFilter(
    "team",
    `team of identities (\`${UNASSIGNED}\`: identities without one)`,
    Type.String({ maxLength: LONGEST_ID, examples: ["payments"] }),
  ),
};

/** The same filters as fields of a body: one value as text, or several as a list. A handler always gets lists. */
export function filterFields<Filters extends Readonly<Record<string, TOptional<TArray>>>>(
  filters: Filters,
): { [Filter in keyof Filters]: TOptional<TUnsafe<Static<Filters[Filter]>>> } {
  const field = ({ items, description = "", examples }: TArray) =>
    Type.Optional(
      Type.Unsafe({
        anyOf: [items, Type.Array(items, { minItems: 1, maxItems: MOST_VALUES })],
        description,
        examples: examples[0],
        "x-expected": `${expected(items)}, or a list of 1 to ${MOST_VALUES} of them`,
      }),
    );
  return Object.fromEntries(Object.entries(filters).map(([name, list]) => [name, field(list)])) as {
    [Filter in keyof Filters]: TOptional<TUnsafe<Static<Filters[Filter]>>>;
  };
}

const TAG_NAMES =
  "Display names of the label with that key, separated by commas: only rows whose dimension has one of them. `\\,` is a comma and " +
  `\`\\\\\` a backslash within a name. \`${UNTAGGED}\` stands for dimensions without such a label.`;

const oneTag = { type: "string", description: TAG_NAMES, examples: ["payments,search"] };

/** One property for all parameters `tag:KEY`. A handler gets a list of filters, which must all match. */
export const tagFilters = {
  tags: Type.Optional(
    Type.Unsafe<readonly TagFilter[]>({
      type: "object",
      description:
        `Any number of parameters \`tag:KEY\`, where KEY is the key of a label; no parameter is named \`tags\`. ${TAG_NAMES} Several ` +
        "parameters, for one key or for several, must all match. `not:tag:KEY`: only rows whose dimension has none of them. `line_tag:KEY` and " +
        "`not:line_tag:KEY` do the same by the values of the billing line's bill tags, `column:NAME` and `not:column:NAME` by those of a declared " +
        "column of the bill.",
      patternProperties: { [TAG_FILTER]: oneTag },
      additionalProperties: false,
      examples: [{ "tag:team": "payments,search" }],
      "x-prefix": TAG_PREFIX,
    }),
  ),
};

/** The same filters as fields of a body. A handler reads them by `readTagParameters`. */
export const tagFields = {
  patternProperties: {
    [TAG_FILTER]: {
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, minItems: 1 }],
      examples: oneTag.examples,
      description: `Value of a field \`tag:KEY\`, \`line_tag:KEY\` or \`column:NAME\`, or of one of them with \`not:\` before its name: text, or a list of texts that must all match. No other names are allowed. ${TAG_NAMES} With \`not:\`: only rows with none of them.`,
    },
  },
};
