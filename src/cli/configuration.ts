import { keepSecrets } from "../common/known-secrets.js";
import type { Config } from "../config/config.js";
import { readConfig } from "../config/read-file.js";
import { formatProblems } from "../config/reader/problem.js";
import { ecosystems } from "../ingest/ecosystems/registry.js";
import { CommandError, type CommandIo, type Options, UsageError } from "./command.js";

/** Options of every command that has a configuration. */
export const configOptions = {
  config: { type: "string", value: "FILE", help: "the configuration, in YAML" },
  "env-file": {
    type: "string",
    value: "FILE",
    help: "variables for the configuration; .env beside it, if there is one",
  },
} as const satisfies Options;

export const tenantsOption = {
  tenant: {
    type: "string",
    value: "NAME",
    multiple: true,
    help: "only this tenant; may be repeated; all by default",
  },
} as const satisfies Options;

/**
 * Reads the configuration, and masks its secrets in all later output. If it is not valid, ends the command with all
 * problems and exit code 2.
 */
export async function configurationOf(
  options: { readonly config?: string | undefined; readonly "env-file"?: string | undefined },
  io: CommandIo,
): Promise<Config> {
  if (options.config === undefined) throw new UsageError("--config FILE is required");
  const envFile = options["env-file"];
  const read = await readConfig(options.config, {
    env: io.env,
    ecosystems,
    ...(envFile !== undefined && { envFile }),
  });
  if (!read.ok) throw new CommandError(formatProblems(read.problems), 2);
  keepSecrets(read.secrets);
  return read.config;
}
