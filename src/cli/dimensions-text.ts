/** Prints the dimensions of a day as a table, with a hint how to explain one. */
import type { DimensionPage } from "../query/chargebacks/explain/dimensions-of-day.js";
import type { Terminal } from "./command.js";
import { writeAmounts } from "./table.js";
import { wrapWords } from "./wrap.js";

const WIDTH = 80;

export function writeDimensions(stdout: Terminal, { items, total, page, page_size }: DimensionPage): void {
  const rows = items.map((each) => ({
    currency: each.currency,
    cells: [
      String(each.dimension_id),
      each.identity_id,
      each.resource_id,
      each.product_type,
      each.cost_type,
      each.amount,
    ],
  }));
  const head = ["DIMENSION", "IDENTITY", "RESOURCE", "PRODUCT", "COST TYPE", "AMOUNT"];
  if (rows.length > 0) writeAmounts(stdout, { head, keys: 5 }, rows, ["AMOUNT"]);
  stdout.write(`\n${wrapWords(hint({ items, total, page, page_size }), WIDTH).join("\n")}\n`);
}

function hint({ items, total, page, page_size }: Omit<DimensionPage, "dimensions">): string {
  if (items.length === 0) return `There is no page ${page}.`;
  const first = (page - 1) * page_size + 1;
  const last = first + items.length - 1;
  const more = last < total ? ` --page ${page + 1} shows more.` : "";
  return `Rows ${first} to ${last} of ${total}, the largest amounts first.${more} --dimension ID explains one.`;
}
