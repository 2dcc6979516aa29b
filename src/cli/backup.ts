import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { requestBackup } from "../backup/control.js";
import { BackupRefusedError, type BackupSummary, takeBackup } from "../backup/take-backup.js";
import type { Config } from "../config/config.js";
import { clusterFiles } from "../embedded-postgres/index.js";
import { DataDirInUseError } from "../stores/data-dir.js";
import { openStores } from "../stores/open-stores.js";
import {
  type Command,
  CommandError,
  type CommandIo,
  type Options,
  parseFiles,
  UsageError,
} from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { commandLogger } from "./logger.js";

const options = { ...configOptions } as const satisfies Options;

const MIB = 1024 * 1024;

/** Requests the backup from the running service, or opens the stores itself if none runs. */
export const backup: Command = {
  usage: "backup FOLDER --config FILE [--env-file FILE]",
  options,
  async run(args, io) {
    const { values, files } = parseFiles(args, options);
    const target = folderOf(files);
    const config = await configurationOf(values, io);
    requireEmbedded(config);
    const dataDir = config.data_dir;
    if (!existsSync(clusterFiles(dataDir).cluster))
      throw new CommandError(`There is nothing to back up: ${dataDir} has no stores.`, 1);
    const began = performance.now();
    const summary =
      (await requestBackup(dataDir, target, io.signal)) ?? (await backUpStopped(config, target, io));
    io.stdout.write(backupText(target, summary, performance.now() - began));
    return 0;
  },
};

async function backUpStopped(config: Config, target: string, io: CommandIo): Promise<BackupSummary> {
  const logger = commandLogger(config.logging, io.stderr);
  const { signal } = io;
  const stores = await openStores({ config, logger, signal, skipMigrations: true }).catch(
    (error: unknown) => {
      if (!(error instanceof DataDirInUseError)) throw error;
      throw new CommandError(
        `The data directory ${error.dataDir} is in use by process ${error.pid}, which takes no backups: wait until it ends. Only \`serve\`, \`run\` and \`demo\` can take backups while they run.`,
        1,
      );
    },
  );
  try {
    return await takeBackup({ stores, dataDir: config.data_dir, target, signal });
  } finally {
    await stores.close();
  }
}

/** Returns the folder argument as an absolute path. */
export function folderOf(given: readonly string[]): string {
  const [folder] = given;
  if (folder === undefined || folder === "" || given.length > 1)
    throw new UsageError("one FOLDER is required");
  return resolve(folder);
}

/** Throws `BackupRefusedError` with the names of all stores that are not embedded. */
export function requireEmbedded({ postgres, tenants }: Config): void {
  const onServers = [...tenants.values()].filter(({ storage }) => storage.kind !== "embedded");
  const names = [
    ...(postgres.kind === "embedded" ? [] : ["Postgres"]),
    ...onServers.map(({ tenant_name }) => `tenant ${tenant_name}`),
  ];
  if (names.length > 0)
    throw new BackupRefusedError(
      `This command is for embedded stores, and these are on servers: ${names.join(", ")}. docs/how-to/back-up-and-restore.md says how to back up servers.`,
    );
}

function backupText(
  target: string,
  { databases, files, bytes, pausedMs }: BackupSummary,
  ms: number,
): string {
  const stores = `Postgres and ${databases} ${databases === 1 ? "database" : "databases"}`;
  const seconds = (time: number) => `${(time / 1000).toFixed(1)} s`;
  return `Backed up ${stores} to ${target}: ${files} files, ${(bytes / MIB).toFixed(1)} MiB, in ${seconds(ms)}. Runs waited for ${seconds(pausedMs)} at most.\n`;
}
