/** Resources, identities and their numbers. */
import { type Static, Type } from "@sinclair/typebox";
import { LONGEST_ID } from "../../domain/text-limits.js";
import { costOrders } from "../../query/inventory/costs.js";
import { inventorySorts, sortOrders } from "../../query/inventory/order.js";
import {
  choiceSchema,
  countSchema,
  currency,
  decimalSchema,
  instantSchema,
  nullableChoice,
  nullableText,
  rowFields,
  textSchema,
} from "./fields.js";
import { id } from "./parameters.js";

const at = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      format: "date-time",
      description: `${description} With its offset (\`Z\` or \`±hh:mm\`, a plus sign written %2B). Years 1900 to 2299.`,
      examples: [example],
    }),
  );

const ofType = (what: string, example: string) =>
  Type.Optional(
    Type.String({
      description: `Only ${what} of this type: exact and case-sensitive.`,
      maxLength: LONGEST_ID,
      examples: [example],
    }),
  );

const temporal = {
  active_at: at(
    "Only those active at that instant: created by then, or at an unknown time, and not yet deleted. Shown as they were " +
      "known then. Cannot be combined with a period.",
    "2026-01-31T12:00:00Z",
  ),
  period_start: at(
    "With `period_end`: those active at any time of `[period_start, period_end)`, as they were last known in it.",
    "2026-01-01T00:00:00Z",
  ),
  period_end: at("End of the period, exclusive.", "2026-02-01T00:00:00Z"),
};

export const countedAt = {
  active_at: at("The counts as of that instant, instead of now.", "2026-01-31T12:00:00Z"),
};

const search = {
  search: Type.Optional(
    Type.String({
      description:
        "Only those whose id or display name contains this text, case-insensitively. `%` and `_` mean themselves.",
      maxLength: LONGEST_ID,
      examples: ["orders"],
    }),
  ),
};

const order = {
  order: choiceSchema(sortOrders, { description: "Direction of the order.", default: "asc" }),
};

const SORT = "Column to order by, then by id. Unknown times and missing names come first.";

export const resourceFilters = {
  resource_type: ofType("resources", "kafka_cluster"),
  status: Type.Optional(
    choiceSchema(["active", "deleted"], { description: "Only resources of this status." }),
  ),
  ...temporal,
  ...search,
  sort: choiceSchema(inventorySorts.resources, { description: SORT, default: "resource_id" }),
  ...order,
};

export const identityFilters = {
  identity_type: ofType("identities", "service_account"),
  ...temporal,
  ...search,
  sort: choiceSchema(inventorySorts.identities, { description: SORT, default: "identity_id" }),
  ...order,
};

export const costParameters = {
  kind: choiceSchema(["resources", "identities"], {
    description: "What to list.",
    default: "resources",
  }),
  type: ofType("those", "kafka_cluster"),
  status: Type.Optional(choiceSchema(["active", "deleted"], { description: "Only those of this status." })),
  ...search,
  costless: Type.Boolean({
    description: "Also list those without cost in the period. They come last in an order by cost.",
    default: false,
  }),
  order: choiceSchema(costOrders, {
    description:
      "Column and direction of the order; ties by id. Costs in several currencies are compared currency by currency, in the order of their codes. " +
      "`name` is the id where there is no name, and ignores case. Unknown values come last.",
    default: "cost.desc",
  }),
};

const life = {
  created_at: nullableText({
    description:
      "When it was created, according to the upstream. If only its costs are known, the day of the first one. Null if neither is known. UTC.",
    format: "date-time",
    examples: ["2025-11-03T09:30:00Z"],
  }),
  deleted_at: nullableText({
    description: "When a gathering no longer found it; null while it exists. UTC.",
    format: "date-time",
    examples: [null],
  }),
  last_seen_at: instantSchema(
    "Newest gathering that found it; for a past time, the last one that found it in this state. If only its costs are known, the day of the last one.",
  ),
  metadata: Type.Record(Type.String(), Type.Unknown(), {
    description: "Other fields that the upstream reports.",
    examples: [{ cloud: "aws", region: "eu-central-1" }],
  }),
};

const nameOf = (what: string, example: string) =>
  nullableText({
    description: `Display name of the ${what}; null if it has none.`,
    examples: [example],
  });

export const resourceSchema = Type.Object(
  {
    ecosystem: rowFields.ecosystem,
    tenant_id: rowFields.tenant_id,
    resource_id: textSchema("Id of the resource.", "lkc-1a2b3c"),
    resource_type: textSchema("Kind of resource, as its ecosystem names it.", "kafka_cluster"),
    display_name: nameOf("resource", "orders-prod"),
    parent_id: nullableText({ description: "Parent resource; null when it has none.", examples: ["env-42"] }),
    owner_id: nullableText({
      description: "Identity that owns it; null when none is known.",
      examples: ["sa-12345"],
    }),
    status: choiceSchema(["active", "deleted"], {
      description: "`deleted` once a gathering no longer finds it.",
      examples: ["active"],
    }),
    ...life,
  },
  { title: "Resource" },
);

export const identitySchema = Type.Object(
  {
    ecosystem: rowFields.ecosystem,
    tenant_id: rowFields.tenant_id,
    identity_id: textSchema("Id of the identity.", "sa-12345"),
    identity_type: textSchema(
      "Kind of identity, as its ecosystem names it; `charged` if only costs name it, such as a team in a tag; `system` for UNALLOCATED.",
      "service_account",
    ),
    display_name: nameOf("identity", "orders-service"),
    ...life,
  },
  { title: "Identity" },
);

const { created_at, deleted_at } = life;

export const inventoryCostSchema = Type.Object(
  {
    id: textSchema("Id of the resource or identity.", "lkc-1a2b3c"),
    type: nullableText({
      description: "Its kind, as its ecosystem names it; null if only chargebacks name it.",
      examples: ["kafka_cluster"],
    }),
    display_name: nameOf("resource or identity", "orders-prod"),
    status: nullableChoice(["active", "deleted"], {
      description: "`deleted` once a gathering no longer finds it; null if only chargebacks name it.",
      examples: ["active"],
    }),
    parent_id: nullableText({
      description: "Parent resource; null when it has none, and for identities.",
      examples: ["env-42"],
    }),
    owner_id: nullableText({
      description: "Identity that owns the resource; null when none is known, and for identities.",
      examples: ["sa-12345"],
    }),
    team: nullableText({
      description: "Team of the identity; null when it has none, and for resources.",
      examples: [null],
    }),
    created_at,
    deleted_at,
    last_seen_at: nullableText({
      description: "Newest gathering that found it; null if only chargebacks name it. UTC.",
      format: "date-time",
      examples: ["2026-01-31T04:00:00Z"],
    }),
    costs: Type.Array(
      Type.Object({ currency, amount: decimalSchema("Sum of its chargebacks in the period.", "1250.75") }),
      { description: "Its costs, by currency. Empty if it has none; sums of 0 are left out." },
    ),
  },
  { title: "InventoryCost", description: "A resource or an identity, with its cost in a period." },
);

const validity = {
  valid_from: nullableText({
    description:
      "Start of the version, inclusive. Null in the first version, which also covers the time before it was first found (`created_at` says when " +
      "it was created). UTC.",
    format: "date-time",
    examples: ["2026-01-07T04:00:00Z"],
  }),
  valid_to: nullableText({
    description: "End of the version, exclusive; null in the newest version. UTC.",
    format: "date-time",
    examples: [null],
  }),
};

export const resourceVersionSchema = Type.Object(
  { ...resourceSchema.properties, ...validity },
  { title: "ResourceVersion", description: "A resource as it was known for some time." },
);

export const identityVersionSchema = Type.Object(
  { ...identitySchema.properties, ...validity },
  { title: "IdentityVersion", description: "An identity as it was known for some time." },
);

export const resourceId = { resource_id: id("lkc-1a2b3c", "Id of the resource.") };
export const identityId = { identity_id: id("sa-12345", "Id of the identity.") };

const TypeCount = Type.Object(
  {
    total: countSchema("All that are known.", 12),
    active: countSchema("Those of them that are active.", 10),
    deleted: countSchema("Those of them that a gathering no longer found.", 2),
  },
  { title: "TypeCount" },
);

const countsByType = (description: string, type: string) =>
  Type.Record(Type.String(), TypeCount, {
    description: `${description}, by type. Types without any entity have no entry.`,
    examples: [
      { [type]: { total: 12, active: 10, deleted: 2 } } satisfies Record<string, Static<typeof TypeCount>>,
    ],
  });

export const inventorySummarySchema = Type.Object(
  {
    resource_counts: countsByType("Number of resources", "kafka_cluster"),
    identity_counts: countsByType("Number of identities", "service_account"),
  },
  { title: "InventorySummary", description: "Numbers of known resources and identities." },
);
