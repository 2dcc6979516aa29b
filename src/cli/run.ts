import type { DayWindow } from "../ingest/ecosystem.js";
import { openStores } from "../store/open-stores.js";
import { type Command, dayOption, parseOptions, UsageError } from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { createLogger } from "./logger.js";
import { runProgress } from "./progress.js";
import { selectTenants } from "./tenants.js";
import { createWorker } from "./worker.js";

/** One cycle, in the foreground. */
export const run: Command = {
  name: "run",
  summary: "gather, allocate and publish once, then end",
  usage: "run --config FILE [--tenant NAME]... [--from DAY --to DAY] [--force] [--env-file FILE]",
  async run(args, io) {
    const options = parseOptions(args, {
      ...configOptions,
      tenant: { type: "string", multiple: true },
      from: { type: "string" },
      to: { type: "string" },
      force: { type: "boolean", default: false },
    });
    const window = windowOf(options.from, options.to);
    const config = await configurationOf(options, io);
    const tenants = selectTenants(config, options.tenant);
    const logger = createLogger(config.logging);
    const stores = await openStores({ config, logger, signal: io.signal });
    const progress = runProgress(io.stderr, logger);
    try {
      const worker = await createWorker({
        config,
        stores,
        logger,
        observers: [progress.observer],
        tenants,
        signal: io.signal,
      });
      const request = {
        trigger: "cli" as const,
        signal: io.signal,
        force: options.force,
        ...(window && { window }),
      };
      const results = await worker.cycles.run(tenants, request);
      progress.stop();
      const good = [...results.values()].every((result) => result?.status === "completed");
      return good ? 0 : 1;
    } finally {
      progress.stop();
      await stores.close();
    }
  },
};

/** `--from` and `--to` are both inclusive, as dates of the API are. */
function windowOf(from: string | undefined, to: string | undefined): DayWindow | undefined {
  const start = dayOption("from", from);
  const last = dayOption("to", to);
  if (start === undefined && last === undefined) return undefined;
  if (start === undefined || last === undefined) throw new UsageError("--from and --to go together");
  if (start > last) throw new UsageError(`--from ${start} is after --to ${last}`);
  const end = new Date(`${last}T00:00:00Z`);
  end.setUTCDate(end.getUTCDate() + 1);
  return { start, end: end.toISOString().slice(0, 10) };
}
