/** Prints the amounts of rules as a table: a row per rule and currency, and a row per tier that allocated something. */
import type { RuleSums, RulesReport } from "../query/rules/report.js";
import type { Terminal } from "./command.js";
import { type AmountRow, writeAmounts } from "./table.js";
import { percentOf } from "./tag-remarks.js";

export function writeRules(stdout: Terminal, report: RulesReport): void {
  const { rules, product_rules: products, other_product_rules: others, tag_hints: hints } = report;
  const rows = [
    ...rules.flatMap(({ name, configured, keep, sums }) =>
      rowsOf(`${name}${configured ? "" : " (no longer configured)"}${keep ? " (keep)" : ""}`, sums),
    ),
    ...products.flatMap(({ product_type: product, sums }) => rowsOf(`product ${shown(product)}`, sums)),
    ...others.map(({ product_type_count: count, currency, line_count: lines, amount }) => ({
      currency,
      cells: [`${count} other products`, `${lines}`, amount],
    })),
  ];
  if (rows.length > 0) writeAmounts(stdout, { head: HEAD, keys: 1 }, rows, ["AMOUNT"]);
  else stdout.write("No published lines.\n");
  const idle = rules.filter(({ took_nothing }) => took_nothing).map(({ name }) => name);
  if (idle.length > 0) stdout.write(`Rules without lines: ${idle.join(", ")}\n`);
  for (const { share, currency, tag, similar_tag: similar } of hints)
    stdout.write(
      `Of the cost in ${currency}, ${percentOf(Number(share))} has a tag "${shown(similar)}", and no "${tag}": did you mean it? ignore_case: true reads it\n`,
    );
}

const HEAD = ["RULE", "LINES", "AMOUNT"];

function rowsOf(name: string, sums: readonly RuleSums[]): AmountRow[] {
  return sums.flatMap(({ currency, line_count: lines, amount, tiers }) => [
    { currency, cells: [name, `${lines}`, amount] },
    ...tiers.map((tier) => ({
      currency,
      cells: [`  ${tier.allocation_method}: ${tier.allocation_detail}`, "", tier.amount],
    })),
  ]);
}

/** Replaces control characters, which names of a bill may contain and a terminal would execute. */
function shown(text: string): string {
  return text.replace(/\p{Cc}/gu, "�");
}
