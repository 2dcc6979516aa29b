import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { type DateWindowInput, dateWindow, InvalidParameter } from "../query/date-window.js";
import { defaultExportColumns, type ExportColumn, exportColumnNames } from "../query/export-columns.js";
import { openExport } from "../query/export-stream.js";
import { openStores } from "../store/open-stores.js";
import { type Command, dayOption, parseOptions, UsageError } from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { createLogger } from "./logger.js";
import { selectTenants } from "./tenants.js";

/** Milliseconds without a byte after which an export is given up. */
const idleMs = 300_000;

/** The same CSV as the API's export, into a file or to standard output. */
export const exportCsv: Command = {
  name: "export",
  summary: "write a tenant's chargebacks as CSV",
  usage:
    "export --config FILE --tenant NAME [--from DAY] [--to DAY] [--timezone ZONE] [--columns A,B,…] [--raw] [--output FILE]",
  async run(args, io) {
    const options = parseOptions(args, {
      ...configOptions,
      tenant: { type: "string" },
      from: { type: "string" },
      to: { type: "string" },
      timezone: { type: "string" },
      columns: { type: "string" },
      raw: { type: "boolean", default: false },
      output: { type: "string" },
    });
    if (options.tenant === undefined) throw new UsageError("--tenant NAME is required");
    const columns = columnsOf(options.columns);
    const config = await configurationOf(options, io);
    const [tenant] = selectTenants(config, [options.tenant]);
    if (tenant === undefined) throw new UsageError("--tenant NAME is required");
    const dates = {
      start_date: dayOption("from", options.from),
      end_date: dayOption("to", options.to),
      timezone: options.timezone,
    };
    const window = windowOf(dates, tenant.lookback_days);
    const stores = await openStores({ config, logger: createLogger(config.logging), signal: io.signal });
    try {
      const { client } = await stores.tenant(tenant.tenant_name);
      const input = { window, filters: {}, columns, raw: options.raw };
      const csv = await openExport(client, input, { signal: io.signal, idleMs });
      if (options.output === undefined) await pipeline(csv, io.stdout, { end: false });
      else await pipeline(csv, createWriteStream(options.output));
      return 0;
    } finally {
      await stores.close();
    }
  },
};

function columnsOf(text: string | undefined): readonly ExportColumn[] {
  if (text === undefined) return defaultExportColumns;
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
    if (error instanceof InvalidParameter) throw new UsageError(error.message);
    throw error;
  }
}
