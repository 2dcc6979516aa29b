/** Tags: what clients send and get. */
import { Type } from "@sinclair/typebox";
import { TAG_TEXT, tagTextLimits } from "../../tags/tag-text.js";
import { count, instant, text } from "./fields.js";
import { chargebackFilters, dateRange, inputOf, TenantPath, tagFields, timezone } from "./parameters.js";

const id = (description: string, example: number) =>
  Type.Integer({ description, minimum: 0, maximum: Number.MAX_SAFE_INTEGER, examples: [example] });

export const dimensionId = id("What tags hang on.", 4670551728646912);
export const tagId = id("Id of the tag. Never used again, also when the tag is gone.", 17);

export const DimensionPath = Type.Object({
  ...TenantPath.properties,
  dimension_id: id("Id of a chargeback dimension, as rows carry it.", 4670551728646912),
});

export const TagPath = Type.Object({ ...TenantPath.properties, tag_id: id("Id of a tag.", 17) });

const tagText = (field: keyof typeof tagTextLimits, description: string, example: string) =>
  Type.String({
    description: `${description} Control characters are refused.`,
    minLength: 1,
    maxLength: tagTextLimits[field],
    pattern: TAG_TEXT,
    "x-expected": `text of 1 to ${tagTextLimits[field]} characters without control characters`,
    examples: [example],
  });

const inputs = {
  tag_key: tagText("tag_key", "Key, one of a kind on its dimension; upper and lower case differ.", "team"),
  display_name: tagText("display_name", "Name as people read it.", "Platform"),
  created_by: tagText("created_by", "Who made it, as the client says.", "ada@example.org"),
};

export const TagInput = inputOf(inputs, {
  title: "TagInput",
  description: "A tag. Its value, a UUID, is made by the service.",
});

export const TagRename = inputOf(
  { display_name: inputs.display_name },
  { title: "TagRename", description: "What to change: key, value and author stay." },
);

const record = {
  tag_id: tagId,
  dimension_id: dimensionId,
  tag_key: text("Key, one of a kind on its dimension.", "team"),
  tag_value: Type.String({
    format: "uuid",
    description: "Made by the service.",
    examples: ["7f3cf6f4-4c5a-4a2e-9a39-52f3cbb6a1f0"],
  }),
  display_name: text("Name as people read it.", "Platform"),
  created_by: text("Who made it, as the client said.", "ada@example.org"),
  created_at: instant("When it was made."),
};

export const TagRecord = Type.Object(record, { title: "TagRecord", description: "A tag." });

export const TagInContext = Type.Object(
  {
    ...record,
    identity_id: text("Who pays for the tag's dimension.", "sa-12345"),
    product_type: text("Product of the tag's dimension.", "KAFKA_STORAGE"),
    resource_id: text("Resource of the tag's dimension.", "lkc-1a2b3c"),
  },
  { title: "TagInContext" },
);

export const tagSearch = {
  search: Type.Optional(
    Type.String({
      description:
        "Only tags whose key or display name holds this, literally and in whatever case: `%`, `_` and `*` mean themselves.",
      maxLength: 500,
      pattern: TAG_TEXT,
      "x-expected": "text of at most 500 characters without control characters",
      examples: ["plat"],
    }),
  ),
};

const MOST_TAGS = 1_000;
const tagList = (description: string) =>
  Type.Optional(
    Type.Array(TagInput, {
      description,
      maxItems: MOST_TAGS,
      "x-expected": `a list of at most ${MOST_TAGS} tags`,
      examples: [[{ tag_key: "team", display_name: "Platform", created_by: "ada@example.org" }]],
    }),
  );

export const TagChanges = inputOf(
  {
    tags: tagList("Take the place of all tags; an empty list removes them all."),
    remove_tag_ids: Type.Optional(
      Type.Array(tagId, {
        description: "Tags of this dimension to remove.",
        maxItems: MOST_TAGS,
        "x-expected": `a list of at most ${MOST_TAGS} ids`,
        examples: [[17]],
      }),
    ),
    add_tags: tagList("Are added to those that are there."),
  },
  {
    title: "TagChanges",
    description:
      "Any of these; done in the order `tags`, `remove_tag_ids`, `add_tags`, and all or nothing: a key may be removed and given anew at once.",
  },
);

/** A body of bulk tagging lists so many different dimensions. */
export const MOST_DIMENSIONS = 10_000;

const bulkInputs = {
  ...inputs,
  override_existing: Type.Boolean({
    description:
      "A dimension that has a tag with the key: `false` leaves it as it is, `true` gives the tag this display name and author; its " +
      "id and value stay.",
    default: false,
  }),
};

export const BulkTags = inputOf(
  {
    dimension_ids: Type.Array(dimensionId, {
      description: `1 to ${MOST_DIMENSIONS} different ids; repetitions count once.`,
      minItems: 1,
      "x-expected": `a list of 1 to ${MOST_DIMENSIONS} different ids`,
      examples: [[4670551728646912, 7622627646861580]],
    }),
    ...bulkInputs,
  },
  { title: "BulkTags", description: "One tag for many dimensions." },
);

export const BulkTagsByFilter = inputOf(
  { ...bulkInputs, ...dateRange, ...timezone, ...chargebackFilters },
  {
    title: "BulkTagsByFilter",
    description:
      "One tag for all dimensions that have rows in the window, under the filters: by equality, and by tags as `tag:KEY`.",
    ...tagFields,
  },
);

const counts = {
  created_count: count("Tags made.", 120),
  updated_count: count("Tags that were there and were changed.", 0),
  skipped_count: count("Dimensions that had a tag with the key and were left as they are.", 3),
};

export const BulkResult = Type.Object(
  {
    ...counts,
    errors: Type.Array(
      Type.Object({
        dimension_id: dimensionId,
        code: Type.Unsafe<"dimension_not_found" | "store_unavailable">({
          type: "string",
          enum: ["dimension_not_found", "store_unavailable"],
          description:
            "`dimension_not_found`: the tenant has no such dimension. `store_unavailable`: whether it has cannot be told now.",
          examples: ["dimension_not_found"],
        }),
      }),
      { description: "Dimensions that got no tag; all others did.", examples: [[]] },
    ),
  },
  { title: "BulkResult", description: "What was done." },
);
