/** Formats an explanation with all its numbers, within the width of a terminal. */
import type { Explanation, Recipient } from "../query/chargebacks/explain/response.js";
import type { TierOutcome, TriedTier } from "../query/chargebacks/explain/tiers.js";
import type { Terminal } from "./command.js";
import { type TextTable, writeTable } from "./table.js";
import { wrapWords } from "./wrap.js";

const WIDTH = 80;
const LABEL = 12;

export function writeExplanation(stdout: Terminal, explanation: Explanation): void {
  const { row, split, recipients, samples } = explanation;
  const write = (text: string) => void stdout.write(text);
  const section = (title: string, table: TextTable) => {
    write(`\n${title}\n`);
    writeTable(stdout, table);
  };
  write(paragraph(explanation.sentence));
  write("\n");
  for (const [label, text] of facts(explanation)) write(labelled(label, text));
  if (explanation.path.length > 0) section("Passed on", pathTable(explanation));
  if (explanation.rule !== null)
    section(`Components of the rule ${explanation.rule.product_type}`, componentTable(explanation));
  if (explanation.tiers !== null)
    section(`Tiers of component ${row.component}`, tierTable(explanation.tiers));
  const shown = explanation.recipients.items.some(
    ({ identity_id }) => identity_id === explanation.identity_id,
  )
    ? recipients.items
    : [...recipients.items, explanation.this];
  section(
    `Who shares it: ${recipients.total}, page ${recipients.page} of ${Math.max(recipients.pages, 1)}`,
    recipientTable(shown, split !== null),
  );
  if (samples.length > 0)
    section("Usage by hour", {
      head: ["HOUR", "METRIC", "USAGE"],
      keys: 2,
      rows: samples.map(({ timestamp, metric, quantity }) => [timestamp, metric, quantity]),
    });
}

const named = (id: string, name: string | null) => (name === null ? id : `${id} (${name})`);

function facts(explanation: Explanation): [string, string][] {
  const { row, rows, total_rows, line, taken, split, owner, run } = explanation;
  const others = rows.filter((each) => each !== rows[0]);
  const who = named(explanation.identity_id, explanation.identity_name);
  const resource = named(explanation.resource_id, explanation.resource_name);
  return [
    ["amount", `${row.amount} ${row.currency} to ${who}, for ${explanation.product_type} of ${resource}`],
    ["how", `${row.allocation_method}, ${row.allocation_detail}${row.provisional ? ", provisional" : ""}`],
    ...(others.length === 0
      ? []
      : ([["rows", `${total_rows} on this day; this is ${placeOf(row)}`]] as [string, string][])),
    ["line", line === null ? "missing" : lineText(line)],
    ...(taken === null ? [] : ([["passed on", takenText(explanation)]] as [string, string][])),
    [
      "split",
      split === null
        ? "cannot be recalculated: shown as published"
        : splitText(split, explanation.recipients.total),
    ],
    ["owner", ownerText(owner)],
    ["published", explanation.published_at ?? "at an unknown time"],
    ["run", run === null ? "no record" : `${run.run_id}, ${run.trigger}, ${run.status}`],
    ...explanation.lacks.map((lack): [string, string] => ["missing", lack]),
  ];
}

function placeOf({ timestamp, component, currency, path_id }: Explanation["row"]): string {
  const path = path_id === 0 ? "" : ` --path ${path_id}`;
  return `--timestamp ${timestamp} --component ${component} --currency ${currency}${path}`;
}

/** The identities that had the cost, in order, and how each was given it. `--giving` explains any of them. */
function pathTable({ path, giving }: Explanation): TextTable {
  return {
    head: ["GIVING", "", "TO", "METHOD", "AMOUNT", "THEN"],
    keys: 4,
    rows: path.map(({ step, identity_id, allocation_method, amount }, index) => [
      String(index),
      index === giving ? "this" : "",
      identity_id,
      allocation_method,
      amount,
      `step ${step} takes it`,
    ]),
  };
}

function takenText({ path, giving, taken, row }: Explanation): string {
  const hop = path[giving - 1];
  return `${taken} ${row.currency} from ${hop?.identity_id}, by step ${hop?.step}; --giving ${giving - 1} explains how ${hop?.identity_id} was given it`;
}

function lineText(line: NonNullable<Explanation["line"]>): string {
  const { timestamp, granularity, total_cost, currency, bill_lines, priced } = line;
  const lines = bill_lines === 1 ? "1 line of the bill" : `${bill_lines} lines of the bill`;
  const product = priced === null ? "" : ` = ${pricedText(priced)}`;
  return `${total_cost} ${currency}${product}; ${timestamp}, ${granularity}, ${lines}`;
}

function pricedText({
  products,
  reductions,
}: NonNullable<NonNullable<Explanation["line"]>["priced"]>): string {
  const gross = products.map(
    ({ quantity, unit, unit_price }) => `${quantity}${unit === null ? "" : ` ${unit}`} × ${unit_price}`,
  );
  const less = reductions.map(({ kind, amount }) =>
    amount.startsWith("-") ? ` + ${amount.slice(1)} (${kind})` : ` − ${amount} (${kind})`,
  );
  return `${gross.join(" + ")}${less.join("")}`;
}

function splitText(split: NonNullable<Explanation["split"]>, recipients: number): string {
  const { tick, line_ticks, residue, component_ticks, total_weight, rounding_offset } = split;
  const weighed = `${line_ticks} ticks of ${tick} plus ${residue}; ${component_ticks} of the ticks are for this component; the total weight is ${total_weight}`;
  if (recipients === 1) return weighed;
  return (
    `${weighed}. Ticks up to an identity: (${component_ticks} × UP TO + ${rounding_offset}) ÷ ${total_weight}, rounded down. Its ` +
    `own ticks are the difference to the identity before it. The offset ${rounding_offset} is derived from the line, so that rounding favours nobody`
  );
}

function ownerText({ owner_ids, identity, resource }: Explanation["owner"]): string {
  const owners = owner_ids.length === 0 ? "no owner recorded" : `owned by ${owner_ids.join(", ")}`;
  const team = identity?.team ? `team ${identity.team}` : "no team";
  const inventory = resource?.owner_id ? `; the inventory names ${resource.owner_id}` : "";
  return `${owners}${inventory}; ${team} on the day`;
}

function componentTable({ rule, row }: Explanation): TextTable {
  return {
    head: ["COMPONENT", "", "RATIO", "TICKS", "AMOUNT"],
    keys: 2,
    rows: (rule?.components ?? []).map(({ component, ratio, ticks, amount, has_residue }) => [
      String(component),
      [component === row.component ? "this" : "", has_residue ? "+r" : ""].filter(Boolean).join(", "),
      ratio,
      ticks,
      amount,
    ]),
  };
}

const outcomes: Readonly<Record<TierOutcome, string>> = {
  used: "used",
  no_usage: "no usage above 0",
  no_costs: "no costs to weigh by",
  names_nobody: "the line names nobody",
  metrics_missing: "metrics are missing",
  no_identities: "empty sets",
  no_owner: "no owner known",
  several_owners: "several owners",
  unclear: "unknown",
  not_reached: "not reached",
  given_up: "not tried: allocation failed",
};

function tierTable(tiers: readonly TriedTier[]): TextTable {
  return {
    head: ["TIER", "KIND", "OUTCOME", "SOURCES"],
    keys: 4,
    rows: tiers.map(({ tier, kind, outcome, sources }) => [
      String(tier),
      kind,
      outcomes[outcome],
      sources.map(({ name, gap }) => (gap === null ? name : `${name} (${gap})`)).join(", "),
    ]),
  };
}

const BAR = 8;

function recipientTable(recipients: readonly Recipient[], isSplit: boolean): TextTable {
  if (!isSplit)
    return {
      head: ["IDENTITY", "AMOUNT"],
      keys: 1,
      rows: recipients.map(({ identity_id, amount }) => [identity_id, amount]),
    };
  return {
    head: ["IDENTITY", "SHARE", "WEIGHT", "UP TO", "TICKS", "AMOUNT"],
    keys: 2,
    rows: recipients.map((each) => [
      each.identity_id,
      "█".repeat(Math.ceil(Number(each.share ?? 0) * BAR)),
      each.weight ?? "",
      each.weight_up_to ?? "",
      `${each.ticks}${each.has_residue ? "+r" : ""}`,
      each.amount,
    ]),
  };
}

function paragraph(text: string): string {
  return wrapWords(text, WIDTH)
    .map((line) => `${line}\n`)
    .join("");
}

function labelled(label: string, text: string): string {
  const lines = wrapWords(text, WIDTH - LABEL);
  return lines.map((line, at) => `${(at === 0 ? label : "").padEnd(LABEL)}${line}\n`).join("");
}
