import type { Config } from "../config/config.js";
import { formatProblems } from "../config/problem.js";
import { readConfig } from "../config/read-file.js";
import { ecosystems } from "../ingest/ecosystems/registry.js";
import { keepSecrets } from "../secrets/known-secrets.js";
import { CommandFailed, type CommandIo, type Options, UsageError } from "./command.js";

/** Options that every command with a configuration takes. */
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
    help: "this tenant alone; may be given again for more; all by default",
  },
} as const satisfies Options;

/** Reads the configuration a command was given, whose secrets nothing says from then on; a refusal lists every problem and ends the command with 2. */
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
  if (!read.ok) throw new CommandFailed(formatProblems(read.problems), 2);
  keepSecrets(read.secrets);
  return read.config;
}
