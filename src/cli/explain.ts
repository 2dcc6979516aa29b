import type { ClickHouseClient } from "@clickhouse/client";
import { allocationOn } from "../config/dated.js";
import { MOST_STEPS } from "../domain/passed-cost.js";
import { isPublished } from "../query/chargebacks/explain/day.js";
import {
  type DayNames,
  type DimensionPage,
  readDimensionsOfDay,
} from "../query/chargebacks/explain/dimensions-of-day.js";
import { readExplanation } from "../query/chargebacks/explain/explanation.js";
import type { ExplainedDimension, Explanation } from "../query/chargebacks/explain/response.js";
import type { PageRequest } from "../query/page/position.js";
import { instantExpected, isInstant } from "../query/time/instant.js";
import { openStores } from "../stores/open-stores.js";
import { type Dimension, lookUpDimensions } from "../tags/dimensions.js";
import {
  type Command,
  CommandError,
  dayOption,
  type Options,
  parseOptions,
  type Terminal,
  UsageError,
} from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { writeExplanation } from "./explanation-text.js";
import { commandLogger } from "./logger.js";
import { writeAmounts } from "./table.js";
import { selectTenants } from "./tenants.js";
import { wrapWords } from "./wrap.js";

const WIDTH = 80;

/** Prints the dimensions of a day as a table, with a hint how to explain one. */
function writeDimensions(stdout: Terminal, { items, total, page, page_size }: DimensionPage): void {
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

const options = {
  ...configOptions,
  tenant: { type: "string", value: "NAME", help: "the tenant; required" },
  date: { type: "string", value: "DAY", help: "UTC day of the amount, YYYY-MM-DD; required" },
  identity: { type: "string", value: "NAME", help: "who pays, by id or name" },
  resource: { type: "string", value: "NAME", help: "the resource, by id or name" },
  product: { type: "string", value: "TYPE", help: "the product type" },
  dimension: {
    type: "string",
    value: "ID",
    help: "dimension_id of the amount, instead of the three names",
  },
  timestamp: {
    type: "string",
    value: "INSTANT",
    help: "the line of the bill, if the day has several",
  },
  component: { type: "string", value: "N", help: "the component of the line, if it has several" },
  currency: { type: "string", value: "CODE", help: "the currency, if there are several" },
  path: { type: "string", value: "ID", help: "the row, if steps passed several on to it" },
  giving: {
    type: "string",
    value: "N",
    help: "how a rule (0) or a step (1, 2 …) gave the cost, if steps passed it on",
  },
  page: {
    type: "string",
    value: "N",
    default: "1",
    help: "page of the list, or of the identities that share the cost",
  },
  "page-size": { type: "string", value: "N", default: "20", help: "rows of a page, 1 to 1000" },
  json: { type: "boolean", default: false, help: "print what the API's endpoint returns" },
} as const satisfies Options;

const MOST_ROWS = 1000;
const LAST_COMPONENT = 255;

/**
 * Prints the API's explanation of an amount. The amount is selected by its dimension, or by names that match only one
 * dimension of the day. Without either, or if the names match several, it lists the dimensions.
 */
export const explain: Command = {
  usage:
    "explain --config FILE --tenant NAME --date DAY [--identity NAME] [--resource NAME] [--product TYPE] [--dimension ID] [--timestamp INSTANT] [--component N] [--currency CODE] [--path ID] [--giving N] [--page N] [--page-size N] [--json] [--env-file FILE]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    const tenantName = required("tenant NAME", given.tenant);
    const id =
      given.dimension === undefined
        ? undefined
        : integer("dimension", given.dimension, 0, Number.MAX_SAFE_INTEGER);
    const { identity, resource, product, currency } = given;
    const names = { identity, resource, product, currency };
    if (id !== undefined && (identity ?? resource ?? product) !== undefined)
      throw new UsageError("--dimension cannot be given with --identity, --resource or --product");
    const date = dayOption("date", required("date DAY", given.date)) ?? "";
    const choice = {
      timestamp: instantOption(given.timestamp),
      component:
        given.component === undefined ? undefined : integer("component", given.component, 0, LAST_COMPONENT),
      currency: given.currency,
      path_id: given.path === undefined ? undefined : integer("path", given.path, 0, Number.MAX_SAFE_INTEGER),
      giving: given.giving === undefined ? undefined : integer("giving", given.giving, 0, MOST_STEPS),
      page: integer("page", given.page, 1, Number.MAX_SAFE_INTEGER),
      page_size: integer("page-size", given["page-size"], 1, MOST_ROWS),
    };
    const config = await configurationOf(given, io);
    selectTenants(config, [tenantName]);
    const logger = commandLogger(config.logging, io.stderr);
    const stores = await openStores({ config, logger, signal: io.signal });
    let found: Explanation | DimensionPage;
    try {
      const { client } = await stores.tenant(tenantName);
      if (!(await isPublished(client, date, io.signal)))
        throw new CommandError(`No chargebacks of ${date} are published.`, 1);
      const dimension = id === undefined ? undefined : await dimensionOf(client, id, tenantName, io.signal);
      const listed = dimension ?? (await dimensionsNamed(client, { date, names, ...choice }, io.signal));
      if ("items" in listed) found = listed;
      else {
        const { postgres } = stores;
        const { line_columns: columns = {}, allocation } = config.tenants.get(tenantName) ?? {};
        const steps = allocation === undefined ? [] : allocationOn(allocation, date).pass_on;
        const input = { ...choice, dimension: listed, date, columns, steps };
        const explained = await readExplanation({ client, postgres, tenantName }, input, io.signal);
        if (explained === undefined) {
          const { dimension_id } = listed;
          throw new CommandError(`Chargeback dimension ${dimension_id} has no such row on ${date}.`, 1);
        }
        found = explained;
      }
    } finally {
      await stores.close();
    }
    if (given.json) io.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
    else if ("items" in found) writeDimensions(io.stdout, found);
    else writeExplanation(io.stdout, found);
    return 0;
  },
};

async function dimensionOf(
  client: ClickHouseClient,
  id: number,
  tenantName: string,
  signal: AbortSignal,
): Promise<Dimension> {
  const [dimension] = await lookUpDimensions(client, [id], signal);
  if (dimension !== undefined) return dimension;
  throw new CommandError(`Tenant ${tenantName} has no chargeback dimension ${id}.`, 1);
}

/**
 * Returns the only dimension that matches the names, or the list of all that match. Without names it always returns the
 * list.
 */
async function dimensionsNamed(
  client: ClickHouseClient,
  { date, names, page, page_size }: PageRequest & { readonly date: string; readonly names: DayNames },
  signal: AbortSignal,
): Promise<ExplainedDimension | DimensionPage> {
  const first = await readDimensionsOfDay(client, { date, names, page: 1, page_size }, signal);
  const [largest] = first.items;
  if (largest === undefined) throw new CommandError(`No chargeback on ${date} has these names.`, 1);
  const isNamed = names.identity !== undefined || names.resource !== undefined || names.product !== undefined;
  if (isNamed && first.dimensions === 1) return largest;
  return page === 1 ? first : await readDimensionsOfDay(client, { date, names, page, page_size }, signal);
}

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
