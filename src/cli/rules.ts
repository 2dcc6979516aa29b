import { type RuleSums, type RulesReport, readRulesReport } from "../query/rules/report.js";
import { dateWindow, InvalidParameterError } from "../query/time/date-window.js";
import { openStores } from "../stores/open-stores.js";
import { type Command, dayOption, type Options, parseOptions, type Terminal, UsageError } from "./command.js";
import { configOptions, configurationOf, tenantsOption } from "./configuration.js";
import { commandLogger } from "./logger.js";
import { presets } from "./preset.js";
import { type AmountRow, writeAmounts } from "./table.js";
import { percentOf } from "./tag-remarks.js";
import { selectTenants } from "./tenants.js";
import { wrapWords } from "./wrap.js";

/** Prints the amounts of rules as a table: a row per rule and currency, and a row per tier that allocated something. */
function writeRules(stdout: Terminal, report: RulesReport): void {
  const { rules, steps, product_rules: products, other_product_rules: others, tag_hints: hints } = report;
  const rows = [
    ...rules.flatMap(({ name, configured, keep, stage = 1, sums }) => {
      const notes = [
        configured ? "" : " (no longer configured)",
        keep ? " (keep)" : "",
        stage === 1 ? "" : ` (stage ${stage})`,
      ];
      return rowsOf(name + notes.join(""), sums);
    }),
    ...products.flatMap(({ product_type: product, sums }) => rowsOf(`product ${shown(product)}`, sums)),
    ...steps.flatMap(({ name, configured, sums }) =>
      sums.map(({ currency, amount }) => ({
        currency,
        cells: [`pass on ${name}${configured ? "" : " (no longer configured)"}`, "", amount],
      })),
    ),
    ...others.map(({ product_type_count: count, currency, line_count: lines, amount }) => ({
      currency,
      cells: [`${count} other products`, `${lines}`, amount],
    })),
  ];
  if (rows.length > 0) writeAmounts(stdout, { head: HEAD, keys: 1 }, rows, ["AMOUNT"]);
  else stdout.write("No published lines.\n");
  const idle = rules.filter(({ took_nothing }) => took_nothing).map(({ name }) => name);
  if (idle.length > 0) stdout.write(`Rules without lines: ${idle.join(", ")}\n`);
  const unused = steps.filter(({ passed_nothing }) => passed_nothing).map(({ name }) => name);
  if (unused.length > 0) stdout.write(`Steps that passed nothing on: ${unused.join(", ")}\n`);
  for (const { name, narrow_weights } of rules)
    for (const { amount, currency, covered } of narrow_weights)
      writeWrapped(
        stdout,
        `Rule ${name} split ${amount} ${currency} by weights that cover ${percentOf(Number(covered))} of the allocated cost: a few identities pay what all were perhaps meant to share.`,
      );
  for (const { share, currency, tag, similar_tag: similar } of hints)
    writeWrapped(
      stdout,
      `Of the cost in ${currency}, ${percentOf(Number(share))} has the tag "${shown(similar)}" instead of "${tag}". Set ignore_case: true to read both.`,
    );
}

function writeWrapped(stdout: Terminal, text: string): void {
  stdout.write(`${wrapWords(text, 80).join("\n")}\n`);
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

const options = {
  ...configOptions,
  ...tenantsOption,
  start: {
    type: "string",
    value: "DAY",
    help: "first UTC day, YYYY-MM-DD; by default the lookback of the tenant before the end",
  },
  end: { type: "string", value: "DAY", help: "last UTC day; by default today" },
  json: {
    type: "boolean",
    default: false,
    help: "print what the API's endpoint returns, by tenant",
  },
  preset: {
    type: "string",
    value: "NAME",
    help: `only print what a preset of the configuration stands for: ${[...presets.keys()].join(", ")}`,
  },
} as const satisfies Options;

/** Prints the result of the API's `GET …/rules`, or a preset. */
export const rulesCommand: Command = {
  usage:
    "rules (--config FILE [--tenant NAME]... [--start DAY] [--end DAY] [--json] [--env-file FILE] | --preset NAME)",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    if (given.preset !== undefined) {
      io.stdout.write(presetText(given.preset));
      return 0;
    }
    const days = {
      start_date: dayOption("start", given.start),
      end_date: dayOption("end", given.end),
    };
    const config = await configurationOf(given, io);
    const tenants = selectTenants(config, given.tenant).map((tenant) => ({
      tenant,
      window: windowOf(days, tenant.lookback_days),
    }));
    const logger = commandLogger(config.logging, io.stderr);
    const stores = await openStores({ config, logger, signal: io.signal });
    const reports: [string, RulesReport][] = [];
    try {
      for (const { tenant, window } of tenants) {
        const { client } = await stores.tenant(tenant.tenant_name);
        const { rules: configured, identity, pass_on: steps } = tenant.allocation;
        const input = { window, rules: configured, identity, steps };
        reports.push([tenant.tenant_name, await readRulesReport(client, input, io.signal)]);
      }
    } finally {
      await stores.close();
    }
    if (given.json) {
      io.stdout.write(`${JSON.stringify(Object.fromEntries(reports), null, 2)}\n`);
      return 0;
    }
    for (const [index, { tenant, window }] of tenants.entries()) {
      const report = reports[index]?.[1];
      if (report === undefined) continue;
      const { startDate, endDate } = window;
      io.stdout.write(`${index === 0 ? "" : "\n"}${tenant.tenant_name}, ${startDate} to ${endDate}\n`);
      writeRules(io.stdout, report);
    }
    return 0;
  },
};

function presetText(name: string): string {
  const text = presets.get(name);
  if (text === undefined)
    throw new UsageError(`--preset must be one of ${[...presets.keys()].join(", ")}, not "${name}"`);
  return text;
}

function windowOf(
  days: { readonly start_date: string | undefined; readonly end_date: string | undefined },
  lookbackDays: number,
) {
  try {
    return dateWindow(days, lookbackDays, new Date());
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    const words = error.message.replaceAll("`start_date`", "--start").replaceAll("`end_date`", "--end");
    throw new UsageError(words.replace(/\.$/, ""));
  }
}
