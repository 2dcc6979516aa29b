import type { MigrationStatus } from "../common/migrate/report.js";
import { postgresMigrationStatus } from "../postgres/migrate.js";
import { clickHouseMigrationStatus } from "../stores/migrate-clickhouse.js";
import { migrationFolders, openStores } from "../stores/open-stores.js";
import { type Command, type Options, parseOptions } from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { commandLogger } from "./logger.js";
import { type TextTable, writeTable } from "./table.js";

const options = {
  ...configOptions,
  status: { type: "boolean", default: false, help: "show every revision, and change nothing" },
} as const satisfies Options;

/** Migrates the schemas of all stores, or prints their state. */
export const migrate: Command = {
  usage: "migrate --config FILE [--status] [--env-file FILE]",
  options,
  async run(args, io) {
    const given = parseOptions(args, options);
    const config = await configurationOf(given, io);
    const logger = commandLogger(config.logging, io.stderr);
    const stores = await openStores({ config, logger, signal: io.signal, skipMigrations: given.status });
    try {
      if (!given.status) for (const tenant of config.tenants.keys()) await stores.tenant(tenant);
      const states = await postgresMigrationStatus(stores.postgres, migrationFolders.postgres);
      for (const tenant of config.tenants.values()) {
        const client = await stores.serverClient(tenant.tenant_name);
        const { database } = tenant.storage;
        states.push(
          ...(await clickHouseMigrationStatus(client, { dir: migrationFolders.clickhouse, database })),
        );
      }
      writeTable(io.stdout, table(states));
      return states.every((each) => each.state === "applied" || each.state === "pending") ? 0 : 1;
    } finally {
      await stores.close();
    }
  },
};

function table(states: readonly MigrationStatus[]): TextTable {
  const rows = states.map((each) =>
    [each.store, each.revision, each.name, each.state, each.applied_at ?? ""].map(String),
  );
  return { head: ["STORE", "REVISION", "NAME", "STATE", "APPLIED AT"], rows, keys: 5 };
}
