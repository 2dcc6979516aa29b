import { pipeline } from "node:stream/promises";
import { columnsWithCurrency, type ExportColumn, exportColumnNames } from "../export/columns.js";
import { openExport } from "../export/stream.js";
import { type DateWindowInput, dateWindow, InvalidParameterError } from "../query/time/date-window.js";
import { openStores } from "../stores/open-stores.js";
import { type Command, dayOption, type Options, parseOptions, UsageError } from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { commandLogger } from "./logger.js";
import { selectTenants } from "./tenants.js";
import { writeWhole } from "./writing.js";

/** An export is aborted after this time without a byte, in milliseconds. */
const idleMs = 300_000;

const options = {
  ...configOptions,
  tenant: { type: "string", value: "NAME", help: "the tenant; required" },
  from: { type: "string", value: "DAY", help: "first day, YYYY-MM-DD; by default the tenant's lookback" },
  to: { type: "string", value: "DAY", help: "last day, which is included; today by default" },
  timezone: {
    type: "string",
    value: "ZONE",
    help: "where the days begin, such as Europe/Berlin; UTC by default",
  },
  columns: {
    type: "string",
    value: "A,B,…",
    help: "columns, in this order; by default those of the API, and currency if there are several",
  },
  raw: {
    type: "boolean",
    default: false,
    help: "do not escape text that a spreadsheet would run as a formula",
  },
  bom: { type: "boolean", default: false, help: "begin with a byte order mark, for Excel" },
  output: { type: "string", value: "FILE", help: "write to this file (default: standard output)" },
} as const satisfies Options;

/** Writes the CSV of the API's export to a file or to standard output. */
export const exportCsv: Command = {
  usage:
    "export --config FILE --tenant NAME [--from DAY] [--to DAY] [--timezone ZONE] [--columns A,B,…] [--raw] [--bom] [--output FILE] [--env-file FILE]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    if (given.tenant === undefined) throw new UsageError("--tenant NAME is required");
    const columns = columnsOf(given.columns);
    const config = await configurationOf(given, io);
    const [tenant] = selectTenants(config, [given.tenant]);
    if (tenant === undefined) throw new UsageError("--tenant NAME is required");
    const dates = {
      start_date: dayOption("from", given.from),
      end_date: dayOption("to", given.to),
      timezone: given.timezone,
    };
    const window = windowOf(dates, tenant.lookback_days);
    const stores = await openStores({
      config,
      logger: commandLogger(config.logging, io.stderr),
      signal: io.signal,
    });
    try {
      const { client } = await stores.tenant(tenant.tenant_name);
      const input = {
        window,
        filters: {},
        raw: given.raw,
        columns: columns ?? (await columnsWithCurrency(client, window, io.signal)),
      };
      const csv = await openExport(client, input, { signal: io.signal, idleMs, bom: given.bom });
      const { output } = given;
      if (output === undefined) await pipeline(csv, io.stdout, { end: false });
      else await writeWhole("output", output, csv);
      return 0;
    } finally {
      await stores.close();
    }
  },
};

function columnsOf(text: string | undefined): readonly ExportColumn[] | undefined {
  if (text === undefined) return undefined;
  return text.split(",").map((name) => {
    const column = exportColumnNames.find((each) => each === name.trim());
    if (column !== undefined) return column;
    throw new UsageError(
      `--columns: unknown column "${name.trim()}"; there are ${exportColumnNames.join(", ")}`,
    );
  });
}

function windowOf(dates: DateWindowInput, lookbackDays: number) {
  try {
    return dateWindow(dates, lookbackDays, new Date());
  } catch (error) {
    if (error instanceof InvalidParameterError) throw new UsageError(error.message);
    throw error;
  }
}
