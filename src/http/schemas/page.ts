/** The envelope of paginated lists. */
import { type TSchema, Type } from "@sinclair/typebox";
import type { PageRequest } from "../../query/page/days.js";
import { nullableText } from "./fields.js";

/** Of lists that also page by key: beside `paging`. */
export const cursorParameter = {
  cursor: Type.Optional(
    Type.String({
      description:
        "`next_cursor` of the page before: the rows behind it, at the same cost however deep, and none twice or left out when " +
        "rows come and go meanwhile. Opaque; belongs to the filters and the order it was made with. Not together with `page`.",
      maxLength: 8192,
      "x-expected": "the `next_cursor` of a response to the same query",
      examples: ["WzEsInJlc291cmNlcyIsIlptWnlRajAiLCJsa2MtMWEyYjNjIl0"],
    }),
  ),
};

export function pageOf<Item extends TSchema>(item: Item, order: string) {
  return Type.Object(
    {
      items: Type.Array(item, { description: `Rows of the page. ${order}` }),
      total: Type.Integer({ description: "Rows of all pages.", minimum: 0, examples: [2] }),
      page: Type.Integer({ description: "The page asked for.", minimum: 1, examples: [1] }),
      page_size: Type.Integer({ description: "Rows a page.", minimum: 1, maximum: 1000, examples: [100] }),
      pages: Type.Integer({
        description: "Number of pages; 0 when there are no rows.",
        minimum: 0,
        examples: [1],
      }),
      next_cursor: nullableText({
        description:
          "Pass it as `cursor`, with the same filters and order, to get the rows after this page. Null when there are none, or when the " +
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
