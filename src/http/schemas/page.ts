/** The envelope of paginated lists. */
import { type TSchema, Type } from "@sinclair/typebox";
import type { PageRequest } from "../../query/page/position.js";
import { nullableText } from "./fields.js";

/** For lists that also page by cursor. Use it together with `paging`. */
export const cursorParameter = {
  cursor: Type.Optional(
    Type.String({
      description:
        "`next_cursor` of the previous page: returns the rows after it. The time does not grow with the depth, and no row is repeated or " +
        "left out if other rows are added or removed meanwhile. Opaque; only valid for the same filters and order. Not together with `page`.",
      maxLength: 8192,
      "x-expected": "the `next_cursor` of a response to the same query",
      examples: ["WzEsInJlc291cmNlcyIsIlptWnlRajAiLCJsa2MtMWEyYjNjIl0"],
    }),
  ),
};

export function pageSchema<Item extends TSchema>(item: Item, order: string) {
  return Type.Object(
    {
      items: Type.Array(item, { description: `Rows of the page. ${order}` }),
      total: Type.Integer({ description: "Rows of all pages.", minimum: 0, examples: [2] }),
      page: Type.Integer({ description: "The requested page.", minimum: 1, examples: [1] }),
      page_size: Type.Integer({ description: "Rows per page.", minimum: 1, maximum: 1000, examples: [100] }),
      pages: Type.Integer({
        description: "Number of pages; 0 when there are no rows.",
        minimum: 0,
        examples: [1],
      }),
      next_cursor: nullableText({
        description:
          "Send it as `cursor`, with the same filters and order, to get the rows after this page. Null if there are none, or if the " +
          "list has no cursors.",
        examples: [null],
      }),
    },
    { description: "A page of rows." },
  );
}

export function envelope<Item>(
  { items, total, next_cursor = null }: { items: Item[]; total: number; next_cursor?: string | null },
  { page, page_size }: PageRequest,
) {
  return { items, total, page, page_size, pages: Math.ceil(total / page_size), next_cursor };
}
