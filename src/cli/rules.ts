import { type RulesReport, readRulesReport } from "../query/rules/report.js";
import { dateWindow, InvalidParameterError } from "../query/time/date-window.js";
import { openStores } from "../stores/open-stores.js";
import { type Command, dayOption, type Options, parseOptions, UsageError } from "./command.js";
import { configOptions, configurationOf, tenantsOption } from "./configuration.js";
import { commandLogger } from "./logger.js";
import { writeRules } from "./rules-text.js";
import { selectTenants } from "./tenants.js";

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
} as const satisfies Options;

/** Prints the result of the API's `GET …/rules`. */
export const rules: Command = {
  usage: "rules --config FILE [--tenant NAME]... [--start DAY] [--end DAY] [--json] [--env-file FILE]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
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
        const { rules: configured, identity } = tenant.allocation;
        const input = { window, rules: configured, identity };
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
