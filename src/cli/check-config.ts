import { stringify } from "yaml";
import { dayOf } from "../common/days.js";
import { withoutSecrets } from "../common/known-secrets.js";
import { tagsRead } from "../config/allocation/tags-read.js";
import type { Config } from "../config/config.js";
import { periodOn, periodsOf } from "../config/dated.js";
import { describeConfig } from "../config/describe.js";
import { refusalToListen } from "../config/settings/api.js";
import { ecosystems } from "../ingest/ecosystems/registry.js";
import { probeTenant } from "../ingest/probe-tenant.js";
import { gatherWindow } from "../runner/window.js";
import { certificateProblem } from "./certificates.js";
import { type Command, type CommandIo, type Options, parseOptions, UsageError } from "./command.js";
import { configOptions, configurationOf, tenantsOption } from "./configuration.js";
import { createLogger } from "./logger.js";
import { probeTable, type TenantProbes } from "./probe-table.js";
import { withTagRemarks } from "./tag-remarks.js";
import { selectTenants } from "./tenants.js";

const options = {
  ...configOptions,
  connect: { type: "boolean", default: false, help: "send each upstream the requests of a run, once" },
  ...tenantsOption,
} as const satisfies Options;

/** Validates a configuration and prints it with all defaults and with masked secrets. */
export const checkConfig: Command = {
  usage: "check-config --config FILE [--connect [--tenant NAME]...] [--env-file FILE]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    if (given.tenant !== undefined && !given.connect) throw new UsageError("--tenant needs --connect");
    const config = await configurationOf(given, io);
    if (given.connect) return await connectTenants(config, given.tenant, io);
    io.stdout.write(stringify(describeConfig(config, ecosystems)));
    const refusal = refusalToListen(config.api) ?? (await certificateProblem(config));
    io.stderr.write(
      `The configuration is valid${refusal === undefined ? "" : `, but \`serve\` refuses it: ${refusal.replace(/\.$/, "")}`}.\n`,
    );
    return refusal === undefined ? 0 : 1;
  },
};

/**
 * Sends the requests of a run to every upstream and stores nothing. Works tenant by tenant, so that results appear at
 * once.
 */
async function connectTenants(
  config: Config,
  names: readonly string[] | undefined,
  { stdout, stderr, signal }: CommandIo,
): Promise<0 | 1> {
  // The table shows the failures. The log would repeat them.
  const logger = createLogger({ ...config.logging, level: "fatal" });
  let failures = 0;
  let remarks = 0;
  let requests = 0;
  const today = dayOf(new Date());
  for (const written of selectTenants(config, names)) {
    const ecosystem = ecosystems.get(written.ecosystem);
    if (ecosystem === undefined) throw new Error(`unknown ecosystem ${written.ecosystem}`);
    const { tenant } = periodOn(periodsOf(written, ecosystem), today);
    const { tenant_name: tenantName, tenant_id: tenantId, plugin_settings: settings } = tenant;
    const parallelQueries = tenant.metrics_prefetch_workers;
    const window = gatherWindow(today, tenant.lookback_days, tenant.cutoff_days);
    const context = { tenantName, tenantId, logger, parallelQueries, maps: tenant.identity_maps };
    const responses = await probeTenant({ ecosystem, settings, context, window }, signal);
    const probes = withTagRemarks(responses, tagsRead(tenant.allocation));
    const results: TenantProbes = { tenantName, ecosystem: tenant.ecosystem, probes };
    stdout.write(withoutSecrets(`${requests === 0 ? "" : "\n"}${probeTable([results])}`));
    requests += responses.length;
    failures += probes.filter(({ failure }) => failure !== undefined).length;
    remarks += probes.filter(({ failure, remark }) => failure === undefined && remark !== undefined).length;
  }
  stderr.write(
    failures === 0
      ? "The configuration is valid, and every upstream responds.\n"
      : `The configuration is valid; ${failures} of ${requests} requests to upstreams failed.\n`,
  );
  if (remarks > 0)
    stderr.write(
      `Look at ${remarks === 1 ? "1 response, which is" : `${remarks} responses, which are`} marked \`look\` above.\n`,
    );
  return failures === 0 ? 0 : 1;
}
