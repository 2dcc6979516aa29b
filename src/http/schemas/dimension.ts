/** One chargeback dimension. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { ChargebackRow } from "./chargeback.js";
import { text } from "./fields.js";
import { TagRecord } from "./tag.js";

/** As in a row, or null: a dimension may have no rows left. */
function orNull<Schema extends TSchema>(schema: Schema) {
  const { description, examples, ...plain } = schema;
  return Type.Unsafe<Static<Schema> | null>({
    anyOf: [plain, { type: "null" }],
    description: `${String(description)} Of the dimension's newest row; null when it has none now.`,
    ...(examples !== undefined && { examples }),
  });
}

const row = ChargebackRow.properties;

export const Dimension = Type.Object(
  {
    dimension_id: row.dimension_id,
    ecosystem: row.ecosystem,
    tenant_id: row.tenant_id,
    env_id: text("Environment of the resource; empty when there is none.", "env-42"),
    resource_id: row.resource_id,
    product_category: row.product_category,
    product_type: row.product_type,
    identity_id: row.identity_id,
    cost_type: row.cost_type,
    timestamp: orNull(row.timestamp),
    amount: orNull(row.amount),
    allocation_method: orNull(row.allocation_method),
    allocation_detail: orNull(row.allocation_detail),
    tags: Type.Array(TagRecord, { description: "The dimension's tags, by tag_id." }),
    metadata: orNull(row.metadata),
  },
  { title: "Dimension", description: "A dimension, its newest row and its tags." },
);
