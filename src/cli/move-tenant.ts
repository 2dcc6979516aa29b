import { resolve } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { chargebackLedger, topicLedger } from "../allocate/ledger.js";
import { interruptedPublishing } from "../allocate/sql/publishing-state.js";
import { readRows } from "../clickhouse/statement.js";
import type { Config, TenantConfig } from "../config/config.js";
import { describePostgres } from "../config/settings/postgres.js";
import { describeStorage, isSameStorage } from "../config/settings/storage.js";
import { runStatement } from "../postgres/statement.js";
import { acquireLease, thisHolder } from "../runner/lease.js";
import { registerTenant } from "../runner/sql/tenants.js";
import { copyFacts } from "../stores/facts/copy-facts.js";
import { readStoreState } from "../stores/facts/store-state.js";
import { type OpenedStores, openStores } from "../stores/open-stores.js";
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
import { selectTenants } from "./tenants.js";

const options = {
  ...configOptions,
  "to-config": {
    type: "string",
    value: "FILE",
    help: "the configuration that will be used afterwards, with the tenant's new storage.connection_string",
  },
  resume: {
    type: "boolean",
    default: false,
    help: "continue an interrupted copy: equal data is kept, other data is replaced",
  },
} as const satisfies Options;

/** Copies a tenant's facts to another database and compares the copies. The configuration stays unchanged. */
export const moveTenant: Command = {
  usage: "move-tenant TENANT --config FILE --to-config FILE [--resume] [--env-file FILE]",
  options,
  async run(args, io) {
    const { values, files } = parseFiles(args, options);
    const [name] = files;
    if (name === undefined || files.length > 1) throw new UsageError("one TENANT is required");
    const toConfig = values["to-config"];
    if (toConfig === undefined) throw new UsageError("--to-config FILE is required");
    const config = await configurationOf(values, io);
    const newConfig = await configurationOf({ ...values, config: toConfig }, io);
    const [tenant] = selectTenants(config, [name]);
    const [target] = selectTenants(newConfig, [name]);
    if (tenant === undefined || target === undefined) throw new UsageError(`no tenant ${name}`);
    requireAnother(tenant, target, config);
    requireSameState(config, newConfig, target);
    const stores = await openBoth(config, target, io);
    try {
      return await move(stores, { tenant, target, resume: values.resume, io });
    } finally {
      await stores.close();
    }
  },
};

/** Name of the target among the open tenants. It is not a valid tenant name, so it cannot conflict. */
const TARGET = " target";

/** Opens both databases of the tenant with the stores of the old configuration. */
async function openBoth(
  config: Config,
  target: TenantConfig,
  { stderr, signal }: CommandIo,
): Promise<OpenedStores> {
  const tenants = new Map([...config.tenants, [TARGET, target]]);
  const logger = commandLogger(config.logging, stderr);
  return await openStores({ config: { ...config, tenants }, logger, signal });
}

function requireAnother(tenant: TenantConfig, target: TenantConfig, { tenants }: Config): void {
  if (tenant.tenant_id !== target.tenant_id || tenant.ecosystem !== target.ecosystem)
    throw new CommandError(
      `Tenant ${tenant.tenant_name} has another tenant_id or ecosystem in the new configuration: its facts would not fit it.`,
      2,
    );
  const owner = [...tenants.values()].find(({ storage }) => isSameStorage(storage, target.storage));
  if (owner !== undefined)
    throw new CommandError(
      `${describeStorage(target.storage)} is the storage of tenant ${owner.tenant_name} already: give the new configuration another connection_string for tenant ${tenant.tenant_name}.`,
      2,
    );
}

/**
 * Requires that only the tenant's storage differs. Both databases are opened with the old configuration; with another
 * Postgres or data directory, the new one would not find the copy or the state of its days.
 */
function requireSameState(
  config: Config,
  newConfig: Config,
  { tenant_name: name, storage }: TenantConfig,
): void {
  const isInFolder = storage.kind === "embedded" || newConfig.postgres.kind === "embedded";
  const other =
    describePostgres(config.postgres) !== describePostgres(newConfig.postgres)
      ? "postgres.connection_string"
      : isInFolder && resolve(config.data_dir) !== resolve(newConfig.data_dir)
        ? "data_dir"
        : undefined;
  if (other !== undefined)
    throw new CommandError(
      `The new configuration has another ${other}: change nothing but the storage of tenant ${name} in it.`,
      2,
    );
}

interface Move {
  readonly tenant: TenantConfig;
  readonly target: TenantConfig;
  readonly resume: boolean;
  readonly io: CommandIo;
}

async function move(stores: OpenedStores, { tenant, target, resume, io }: Move): Promise<number> {
  const { tenant_name: tenantName, tenant_id: tenantId, ecosystem } = tenant;
  await runStatement(stores.postgres, registerTenant({ tenantName, tenantId, ecosystem }));
  const lease = await acquireLease(stores.postgres, tenantName, thisHolder());
  if (lease === undefined)
    throw new CommandError(
      `A run of tenant ${tenantName} is in progress: wait until it ends, or stop the service.`,
      1,
    );
  try {
    await requireNoInterruptedPublish(stores, tenantName);
    const from = (await stores.tenant(tenantName)).client;
    const to = (await stores.tenant(TARGET)).client;
    await requireOwnCopy({ from, to }, describeStorage(target.storage), resume);
    const copied = await copyFacts({
      from,
      to,
      signal: AbortSignal.any([io.signal, lease.lost]),
      onTable: (table, rows) => io.stderr.write(rows === 0 ? "" : `  ${table}: ${rows} rows\n`),
    });
    io.stdout.write(moveText(tenant, target, copied.rows));
    return 0;
  } finally {
    await lease.release().catch(() => undefined);
  }
}

/** Refuses to move while a publish is incomplete. The next run finishes it in the old database. */
async function requireNoInterruptedPublish({ postgres }: OpenedStores, tenantName: string): Promise<void> {
  for (const ledger of [chargebackLedger, topicLedger]) {
    const { rows } = await runStatement(postgres, interruptedPublishing({ ledger, tenantName }));
    if (rows.length > 0)
      throw new CommandError(
        `The last run of tenant ${tenantName} was cut off while it published: run it once more, and move it then.`,
        1,
      );
  }
}

/** Requires that the new database is empty, or has an earlier copy of the same facts. */
async function requireOwnCopy(
  { from, to }: { readonly from: ClickHouseClient; readonly to: ClickHouseClient },
  targetName: string,
  resume: boolean,
): Promise<void> {
  const { storeId } = await readStoreState(from);
  if (storeId === null)
    throw new CommandError("No run has used the tenant's storage yet: there is nothing to move.", 1);
  const state = await readStoreState(to);
  if (state.storeId !== null && state.storeId !== storeId)
    throw new CommandError(`${targetName} already contains other facts: choose an empty database.`, 1);
  const rows = await readRows<{ n: number }>(to, {
    query:
      "SELECT toUInt32(countIf(rows > 0)) AS n FROM system.parts WHERE database = currentDatabase() AND active AND table IN ('billing', 'usage', 'chargebacks')",
    params: {},
  });
  if (rows[0]?.n !== 0 && !resume)
    throw new CommandError(
      `${targetName} is not empty. If an earlier move was interrupted, or facts have changed since, continue with --resume.`,
      1,
    );
}

function moveText({ tenant_name: name, storage }: TenantConfig, target: TenantConfig, rows: number): string {
  const [from, to] = [describeStorage(storage), describeStorage(target.storage)];
  return `Copied ${rows} rows of tenant ${name} from ${from} to ${to}; the copy is equal.
Now start the service with the new configuration. ${from} is unchanged: drop it when it is no longer needed.
`;
}
