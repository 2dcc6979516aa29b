/** One chargeback dimension. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { chargebackRowSchema } from "./chargeback.js";
import { nullableText, textSchema } from "./fields.js";
import { tagRecordSchema } from "./tag.js";

/** The schema of a row's field, or null, because a dimension may have no rows any more. */
function orNull<Schema extends TSchema>(schema: Schema) {
  const { description, examples, ...plain } = schema;
  return Type.Unsafe<Static<Schema> | null>({
    anyOf: [plain, { type: "null" }],
    description: `${String(description)} From the dimension's newest row; null if it has no rows now.`,
    ...(examples !== undefined && { examples }),
  });
}

const row = chargebackRowSchema.properties;

export const dimensionSchema = Type.Object(
  {
    dimension_id: row.dimension_id,
    ecosystem: row.ecosystem,
    tenant_id: row.tenant_id,
    env_id: textSchema("Environment of the resource; empty when there is none.", "env-42"),
    resource_id: row.resource_id,
    product_category: row.product_category,
    product_type: row.product_type,
    identity_id: row.identity_id,
    cost_type: row.cost_type,
    timestamp: orNull(row.timestamp),
    amount: orNull(row.amount),
    currency: orNull(row.currency),
    charge_category: orNull(row.charge_category),
    service_provider: orNull(row.service_provider),
    account_id: orNull(row.account_id),
    region_id: orNull(row.region_id),
    sku_id: orNull(row.sku_id),
    line_tags: orNull(row.line_tags),
    rule: orNull(row.rule),
    allocation_method: orNull(row.allocation_method),
    allocation_detail: orNull(row.allocation_detail),
    passed_from: orNull(row.passed_from),
    provisional: orNull(row.provisional),
    tags: Type.Array(tagRecordSchema, { description: "The dimension's labels, by tag_id." }),
    tag_pairs: row.tag_pairs,
    identity_name: row.identity_name,
    identity_type: row.identity_type,
    team: nullableText({
      description: `${String(row.team.description)} Null while the tenant's store is down.`,
      examples: ["payments"],
    }),
    resource_name: row.resource_name,
    resource_type: row.resource_type,
    metadata: orNull(row.metadata),
  },
  { title: "Dimension", description: "A dimension, its newest row and its labels." },
);
