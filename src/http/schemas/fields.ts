/** Kinds of fields that several schemas share, with their descriptions for the documentation. */
import { type TInteger, type TSchema, type TString, type TUnsafe, Type } from "@sinclair/typebox";
import type { FactTable, ShownColumn } from "../../domain/fact-tables.js";

/** Fields of rows of a fact table: one for each column that the API shows, and further ones. */
export type RowFields<Table extends FactTable> = Readonly<Record<ShownColumn<Table>, TSchema>> &
  Readonly<Record<string, TSchema>>;

/** A value of a fixed list. */
export function choiceSchema<const Word extends string>(
  words: readonly Word[],
  options: { description: string; examples?: Word[]; default?: Word },
): TUnsafe<Word> {
  return Type.Unsafe<Word>({ type: "string", enum: [...words], ...options });
}

export function nullableChoice<const Word extends string>(
  words: readonly Word[],
  options: { description: string; examples?: (Word | null)[] },
): TUnsafe<Word | null> {
  return Type.Unsafe<Word | null>({ type: ["string", "null"], enum: [...words, null], ...options });
}

export function nullableText(options: {
  description: string;
  format?: string;
  examples?: (string | null)[];
}): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({ type: ["string", "null"], ...options });
}

export const textSchema = (description: string, example: string): TString =>
  Type.String({ description, examples: [example] });

export const countSchema = (description: string, example: number): TInteger =>
  Type.Integer({ description, minimum: 0, examples: [example] });

/** Money and quantities. They are text, so that no client rounds them by accident. */
export const decimalSchema = (description: string, example: string): TString =>
  Type.String({
    description: `${description} A decimal as text: no exponent, no thousands separator, no trailing zeros.`,
    pattern: "^-?[0-9]+(\\.[0-9]+)?$",
    examples: [example],
  });

/** Currency of the amounts in the same object. */
export const currency = Type.String({
  description: "ISO 4217 code of the amounts' currency.",
  examples: ["USD"],
});

export const instantSchema = (description: string): TString =>
  Type.String({
    description: `${description} UTC, with a fraction of the second only if it is not 0.`,
    format: "date-time",
    examples: ["2026-01-01T00:00:00Z"],
  });

export const daySchema = (description: string): TString =>
  Type.String({ description, format: "date", examples: ["2026-01-01"] });

/** Names and kinds of a row's identity and resource. */
export const identityNames = {
  identity_name: nullableText({
    description: "Name of the identity; null when none is known.",
    examples: ["Payments gateway"],
  }),
  identity_type: nullableText({
    description: "Kind of identity; null when it is not known.",
    examples: ["service_account"],
  }),
  team: textSchema(
    "Team of the identity; `UNASSIGNED` if it has none, `UNALLOCATED` for the identity `UNALLOCATED`.",
    "payments",
  ),
};
export const resourceNames = {
  resource_name: nullableText({
    description: "Name of the resource; null when none is known.",
    examples: ["orders"],
  }),
  resource_type: nullableText({
    description: "Kind of resource; null when it is not known.",
    examples: ["kafka_cluster"],
  }),
};

/** Further fields of a line of a cloud bill. */
export const cloudFields = {
  charge_category: textSchema(
    "Usage, Purchase, Tax, Credit or Adjustment. Empty if the bill does not say; the same applies to the next four fields.",
    "Usage",
  ),
  service_provider: textSchema("Provider of the service.", "AWS"),
  account_id: textSchema("Account that is billed.", "123456789012"),
  region_id: textSchema("Region of the resource.", "eu-west-1"),
  sku_id: textSchema("What is priced.", "GM6XEP3S"),
  line_tags: Type.Record(Type.String(), Type.String(), {
    description:
      "Tags of the billing line as the bill has them, by key, and the declared columns of the bill, under `column:NAME`.",
    examples: [{ team: "payments" }],
  }),
  rule: textSchema(
    "Configured rule that matched the line; empty if the rule of its product type did, and `assigned/PRODUCT` if that rule did and the resource is assigned to an identity.",
    "shared-eks",
  ),
};

/** Row fields that billing lines and chargebacks share. */
export const rowFields = {
  ecosystem: textSchema("Kind of upstream the cost came from.", "confluent_cloud"),
  tenant_id: textSchema("Billing boundary the cost belongs to.", "org-4711"),
  timestamp: instantSchema("Start of the billed period."),
  resource_id: textSchema("Resource that the cost is for.", "lkc-1a2b3c"),
  product_category: textSchema("Family of the product, as the bill names it.", "KAFKA"),
  product_type: textSchema("Product, as the bill names it.", "KAFKA_STORAGE"),
};
