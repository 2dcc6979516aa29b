import { resolve } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { chargebackLedger, topicLedger } from "../allocate/ledger.js";
import { interruptedPublishing } from "../allocate/sql/interrupted-publishing.js";
import type { Config, TenantConfig } from "../config/config.js";
import { describePostgres } from "../config/postgres.js";
import { describeStorage, isSameStorage } from "../config/storage.js";
import { acquireLease, thisHolder } from "../runner/lease.js";
import { registerTenant } from "../runner/sql/tenants.js";
import { readRows } from "../store/clickhouse/statement.js";
import { copyFacts } from "../store/facts/copy-facts.js";
import { readStoreState } from "../store/facts/store-state.js";
import { type OpenedStores, openStores } from "../store/open-stores.js";
import { runStatement } from "../store/postgres/statement.js";
import {
  type Command,
  CommandFailed,
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
    help: "go on with a copy that was cut off: what is there already is kept where it is equal, and replaced where it is not",
  },
} as const satisfies Options;

/** Copies the facts of a tenant to another database, and compares them. What is configured stays as it is. */
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
    const next = await configurationOf({ ...values, config: toConfig }, io);
    const [tenant] = selectTenants(config, [name]);
    const [target] = selectTenants(next, [name]);
    if (tenant === undefined || target === undefined) throw new UsageError(`no tenant ${name}`);
    requireAnother(tenant, target, config);
    requireSameState(config, next, target);
    const stores = await openBoth(config, target, io);
    try {
      return await move(stores, { tenant, target, resume: values.resume, io });
    } finally {
      await stores.close();
    }
  },
};

/** Name of the new database among the tenants that are open; no tenant of a configuration has such a name. */
const TARGET = " target";

/** Both databases of the tenant, in the stores of the one configuration. */
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
    throw new CommandFailed(
      `Tenant ${tenant.tenant_name} has another tenant_id or ecosystem in the new configuration: its facts would not fit it.`,
      2,
    );
  const taken = [...tenants.values()].find(({ storage }) => isSameStorage(storage, target.storage));
  if (taken !== undefined)
    throw new CommandFailed(
      `${describeStorage(target.storage)} is the storage of tenant ${taken.tenant_name} already: give the new configuration another connection_string for tenant ${tenant.tenant_name}.`,
      2,
    );
}

/** Both are opened as the old configuration has them: the new one would look elsewhere for the copy, or for the state of its days. */
function requireSameState(config: Config, next: Config, { tenant_name: name, storage }: TenantConfig): void {
  const isInFolder = storage.kind === "embedded" || next.postgres.kind === "embedded";
  const other =
    describePostgres(config.postgres) !== describePostgres(next.postgres)
      ? "postgres.connection_string"
      : isInFolder && resolve(config.data_dir) !== resolve(next.data_dir)
        ? "data_dir"
        : undefined;
  if (other !== undefined)
    throw new CommandFailed(
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
    throw new CommandFailed(
      `A run of tenant ${tenantName} is in progress: wait until it ends, or stop the service.`,
      1,
    );
  try {
    await requireWhole(stores, tenantName);
    const from = (await stores.tenant(tenantName)).client;
    const to = (await stores.tenant(TARGET)).client;
    await requireOurs({ from, to }, describeStorage(target.storage), resume);
    const copied = await copyFacts({
      from,
      to,
      signal: AbortSignal.any([io.signal, lease.lost]),
      onTable: (table, rows) => io.stderr.write(rows === 0 ? "" : `  ${table}: ${rows} rows\n`),
    });
    io.stdout.write(told(tenant, target, copied.rows));
    return 0;
  } finally {
    await lease.release().catch(() => undefined);
  }
}

/** What a run left half done is finished by the next one, where it was begun. */
async function requireWhole({ postgres }: OpenedStores, tenantName: string): Promise<void> {
  for (const ledger of [chargebackLedger, topicLedger]) {
    const { rows } = await runStatement(postgres, interruptedPublishing({ ledger, tenantName }));
    if (rows.length > 0)
      throw new CommandFailed(
        `The last run of tenant ${tenantName} was cut off while it published: run it once more, and move it then.`,
        1,
      );
  }
}

/** The new database is empty, or has an earlier copy of these very facts. */
async function requireOurs(
  { from, to }: { readonly from: ClickHouseClient; readonly to: ClickHouseClient },
  place: string,
  resume: boolean,
): Promise<void> {
  const { storeId } = await readStoreState(from);
  if (storeId === null)
    throw new CommandFailed("No run has used the tenant's storage yet: there is nothing to move.", 1);
  const held = await readStoreState(to);
  if (held.storeId !== null && held.storeId !== storeId)
    throw new CommandFailed(`${place} holds other facts already: choose a database that is empty.`, 1);
  const rows = await readRows<{ n: number }>(to, {
    query:
      "SELECT toUInt32(countIf(rows > 0)) AS n FROM system.parts WHERE database = currentDatabase() AND active AND table IN ('billing', 'usage', 'chargebacks')",
    params: {},
  });
  if (rows[0]?.n !== 0 && !resume)
    throw new CommandFailed(
      `${place} is not empty. If an earlier move was cut off, or facts have changed since, go on with --resume.`,
      1,
    );
}

function told({ tenant_name: name, storage }: TenantConfig, target: TenantConfig, rows: number): string {
  const [from, to] = [describeStorage(storage), describeStorage(target.storage)];
  return `Copied ${rows} rows of tenant ${name} from ${from} to ${to}; the copy is equal.
Now start the service with the new configuration. ${from} stays as it is: drop it when nothing needs it any more.
`;
}
