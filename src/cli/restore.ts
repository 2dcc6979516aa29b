import { restoreBackup } from "../backup/restore-backup.js";
import { folderOf, requireEmbedded } from "./backup.js";
import { type Command, type Options, parseFiles } from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { commandLogger } from "./logger.js";

const options = { ...configOptions } as const satisfies Options;

export const restore: Command = {
  usage: "restore FOLDER --config FILE [--env-file FILE]",
  options,
  async run(args, io) {
    const { values, files } = parseFiles(args, options);
    const folder = folderOf(files);
    const config = await configurationOf(values, io);
    requireEmbedded(config);
    const logger = commandLogger(config.logging, io.stderr);
    const { taken_at, clickhouse } = await restoreBackup({ config, folder, logger, signal: io.signal });
    const databases = clickhouse.map(({ database }) => database).join(", ") || "none";
    io.stdout.write(`Restored the backup of ${taken_at} to ${config.data_dir}; databases: ${databases}.\n`);
    return 0;
  },
};
