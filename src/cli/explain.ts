import { isPublished } from "../query/chargebacks/explain/day.js";
import type { Explanation } from "../query/chargebacks/explain/explained.js";
import { readExplanation } from "../query/chargebacks/explain/explanation.js";
import { instantExpected, isInstant } from "../query/time/instant.js";
import { openStores } from "../store/open-stores.js";
import { lookUpDimensions } from "../tags/dimensions.js";
import { type Command, CommandFailed, dayOption, type Options, parseOptions, UsageError } from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { writeExplanation } from "./explanation-text.js";
import { commandLogger } from "./logger.js";
import { selectTenants } from "./tenants.js";

const options = {
  ...configOptions,
  tenant: { type: "string", value: "NAME", help: "the tenant; required" },
  dimension: { type: "string", value: "ID", help: "dimension_id of the amount; required" },
  date: { type: "string", value: "DAY", help: "UTC day of the amount, YYYY-MM-DD; required" },
  timestamp: {
    ...{ type: "string", value: "INSTANT" },
    help: "the line of the bill, where the day has several",
  },
  component: { type: "string", value: "N", help: "the component of the line, where it has several" },
  currency: { type: "string", value: "CODE", help: "the currency, where there are several" },
  page: { type: "string", value: "N", default: "1", help: "page of those who share the cost" },
  "page-size": { type: "string", value: "N", default: "20", help: "rows of a page, 1 to 1000" },
  json: { type: "boolean", default: false, help: "print what the API's endpoint returns" },
} as const satisfies Options;

const MOST_ROWS = 1000;
const LAST_COMPONENT = 255;

/** The same as the API's explanation of an amount. */
export const explain: Command = {
  usage:
    "explain --config FILE --tenant NAME --dimension ID --date DAY [--timestamp INSTANT] [--component N] [--currency CODE] [--page N] [--page-size N] [--json] [--env-file FILE]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    const tenantName = required("tenant NAME", given.tenant);
    const id = integer("dimension", required("dimension ID", given.dimension), 0, Number.MAX_SAFE_INTEGER);
    const date = dayOption("date", required("date DAY", given.date)) ?? "";
    const choice = {
      timestamp: instantOption(given.timestamp),
      component:
        given.component === undefined ? undefined : integer("component", given.component, 0, LAST_COMPONENT),
      currency: given.currency,
      page: integer("page", given.page, 1, Number.MAX_SAFE_INTEGER),
      page_size: integer("page-size", given["page-size"], 1, MOST_ROWS),
    };
    const config = await configurationOf(given, io);
    selectTenants(config, [tenantName]);
    const logger = commandLogger(config.logging, io.stderr);
    const stores = await openStores({ config, logger, signal: io.signal });
    let found: Explanation | undefined;
    try {
      const { client } = await stores.tenant(tenantName);
      const [dimension] = await lookUpDimensions(client, [id], io.signal);
      if (dimension === undefined)
        throw new CommandFailed(`Tenant ${tenantName} has no chargeback dimension ${id}.`, 1);
      const { postgres } = stores;
      const columns = config.tenants.get(tenantName)?.line_columns ?? {};
      found = await readExplanation(
        { client, postgres, tenantName },
        { ...choice, dimension, date, columns },
        io.signal,
      );
      if (found === undefined) {
        const why = (await isPublished(client, date, io.signal))
          ? `Chargeback dimension ${id} has no such row on ${date}.`
          : `No chargebacks of ${date} are published.`;
        throw new CommandFailed(why, 1);
      }
    } finally {
      await stores.close();
    }
    if (given.json) io.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
    else writeExplanation(io.stdout, found);
    return 0;
  },
};

function required(what: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`--${what} is required`);
  return value;
}

function integer(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(`--${name} must be an integer from ${least} to ${most}, not "${text}"`);
}

function instantOption(text: string | undefined): string | undefined {
  if (text === undefined || isInstant(text)) return text;
  throw new UsageError(`--timestamp must be ${instantExpected}, not "${text}"`);
}
