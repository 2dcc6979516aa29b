/** How much of the bill has which tag. */
import { Type } from "@sinclair/typebox";
import { MOST_COVERED_PRODUCTS, MOST_TAG_KEYS } from "../../query/rules/coverage-sql.js";
import { countSchema, currency, decimalSchema, nullableText, rowFields, textSchema } from "./fields.js";

const coverage = {
  tagged_line_count: countSchema("Lines of the bill that have the tag, also with an empty value.", 30),
  line_count: countSchema("All lines.", 40),
  tagged_amount: decimalSchema("Sum of the lines that have the tag; refunds are negative.", "75"),
  amount: decimalSchema("Sum of all lines.", "100"),
  share: nullableText({
    description:
      "Part of the cost that has the tag, from 0 to 1: of the sum of amounts without their sign, so that a refund counts as much as a " +
      "charge of its size. Rounded down to 6 places, so that 1 means everything. A decimal as text. Null if all lines cost 0.",
    examples: ["0.75"],
  }),
};

const TagKey = Type.Object({
  tag_key: textSchema("Key of the tag, as the bill has it.", "team"),
  ...coverage,
  product_types: Type.Array(Type.Object({ product_type: rowFields.product_type, ...coverage }), {
    description: `The ${MOST_COVERED_PRODUCTS} product types with the largest amounts of each currency, also those without the tag; the largest first.`,
  }),
  other_product_types: Type.Optional(
    Type.Object(coverage, { description: "The other product types together; left out when there are none." }),
  ),
});

export const tagCoverageSchema = Type.Object(
  {
    currencies: Type.Array(
      Type.Object({
        currency,
        line_count: countSchema("Lines of the bill.", 40),
        amount: decimalSchema("Sum of these lines.", "100"),
        tag_key_count: countSchema(
          "Tag keys that lines of the currency have, also those that are not shown.",
          3,
        ),
        tag_keys: Type.Array(TagKey, {
          description: `The ${MOST_TAG_KEYS} tag keys with the largest amounts, the largest first.`,
        }),
      }),
      { description: "One entry for each currency of the bill, by its code." },
    ),
  },
  { title: "TagCoverage", description: "How much of the bill of a period has which tag of the line." },
);
