import { type BackupControl, openBackupControl } from "../backup/control.js";
import { addDays, type DayRange } from "../common/days.js";
import { FIRST_DAY, LAST_DAY } from "../domain/stored-days.js";
import { type CurrencyControl, readControlTotals } from "../query/state/control-totals.js";
import { openStores } from "../stores/open-stores.js";
import { type Command, dayOption, type Options, parseOptions, UsageError } from "./command.js";
import { configOptions, configurationOf, tenantsOption } from "./configuration.js";
import { commandLogger } from "./logger.js";
import { progressInLog, progressOnLine } from "./progress.js";
import { runSummary } from "./run-summary.js";
import { statusLine } from "./status-line.js";
import { selectTenants } from "./tenants.js";
import { createWorker } from "./worker.js";

const options = {
  ...configOptions,
  ...tenantsOption,
  from: { type: "string", value: "DAY", help: "gather from this day, YYYY-MM-DD; needs --to" },
  to: { type: "string", value: "DAY", help: "gather up to this day, which is included" },
  force: {
    type: "boolean",
    default: false,
    help: "calculate days again even if their input has not changed",
  },
} as const satisfies Options;

/** Runs one cycle in the foreground. */
export const run: Command = {
  usage: "run --config FILE [--tenant NAME]... [--from DAY --to DAY] [--force] [--env-file FILE]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    const window = windowOf(given.from, given.to);
    const config = await configurationOf(given, io);
    const tenants = selectTenants(config, given.tenant);
    const line = statusLine(io.stderr);
    const logger = commandLogger(config.logging, io.stderr, line);
    const stores = await openStores({ config, logger, signal: io.signal });
    let backups: BackupControl | undefined;
    try {
      backups = await openBackupControl({ stores, dataDir: config.data_dir, logger });
      const worker = await createWorker({
        config,
        stores,
        logger,
        observers: [io.stderr.isTTY ? progressOnLine(line, () => tenants.length) : progressInLog(logger)],
        tenants,
        signal: io.signal,
      });
      const request = {
        trigger: "cli" as const,
        signal: io.signal,
        force: given.force,
        ...(window && { window }),
      };
      const results = await worker.cycles.run(tenants, request);
      line.clear();
      const control = new Map<string, readonly CurrencyControl[]>();
      for (const tenant of results.keys())
        control.set(tenant, await readControlTotals(stores.postgres, tenant));
      io.stdout.write(runSummary(results, io.stdout.columns, control));
      const good = [...results.values()].every((result) => result?.status === "completed");
      return good ? 0 : 1;
    } finally {
      line.clear();
      await backups?.close();
      await stores.close();
    }
  },
};

/** Both `--from` and `--to` are inclusive, like dates of the API. */
function windowOf(from: string | undefined, to: string | undefined): DayRange | undefined {
  const start = dayOption("from", from);
  const last = dayOption("to", to);
  if (start === undefined && last === undefined) return undefined;
  if (start === undefined || last === undefined) throw new UsageError("--from and --to go together");
  if (start > last) throw new UsageError(`--from ${start} is after --to ${last}`);
  for (const [name, day] of Object.entries({ from: start, to: last }))
    if (day < FIRST_DAY || day > LAST_DAY)
      throw new UsageError(`--${name} must be a day from ${FIRST_DAY} to ${LAST_DAY}, not ${day}`);
  return { start, end: addDays(last, 1) };
}
