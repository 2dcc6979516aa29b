import { stringify } from "yaml";
import { describeConfig } from "../config/describe.js";
import { ecosystems } from "../ingest/ecosystems/registry.js";
import { type Command, parseOptions } from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";

/** Says whether a configuration would be accepted, and what it comes to with all defaults; secrets are masked. */
export const checkConfig: Command = {
  name: "check-config",
  summary: "check a configuration and print what it comes to",
  usage: "check-config --config FILE [--env-file FILE]",
  async run(args, io) {
    const config = await configurationOf(parseOptions(args, configOptions), io);
    io.stdout.write(stringify(describeConfig(config, ecosystems)));
    io.stderr.write("The configuration is valid.\n");
    return 0;
  },
};
