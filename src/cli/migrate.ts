import { clickHouseMigrationStatus } from "../store/clickhouse/migrate.js";
import type { MigrationStatus } from "../store/migrate/report.js";
import { migrationFolders, openStores } from "../store/open-stores.js";
import { postgresMigrationStatus } from "../store/postgres/migrate.js";
import { type Command, parseOptions } from "./command.js";
import { configOptions, configurationOf } from "./configuration.js";
import { createLogger } from "./logger.js";

/** Brings the schemas of all stores up to date, or says how they stand. */
export const migrate: Command = {
  name: "migrate",
  summary: "bring the schemas of all stores up to date, or show their state",
  usage: "migrate --config FILE [--status] [--env-file FILE]",
  async run(args, io) {
    const options = parseOptions(args, { ...configOptions, status: { type: "boolean", default: false } });
    const config = await configurationOf(options, io);
    const logger = createLogger(config.logging);
    const stores = await openStores({ config, logger, signal: io.signal, skipMigrations: options.status });
    try {
      if (!options.status) for (const tenant of config.tenants.keys()) await stores.tenant(tenant);
      const states = await postgresMigrationStatus(stores.postgres, migrationFolders.postgres);
      for (const tenant of config.tenants.values()) {
        const client = await stores.serverClient(tenant.tenant_name);
        const { database } = tenant.storage;
        states.push(
          ...(await clickHouseMigrationStatus(client, { dir: migrationFolders.clickhouse, database })),
        );
      }
      io.stdout.write(table(states));
      return states.every((each) => each.state === "applied" || each.state === "pending") ? 0 : 1;
    } finally {
      await stores.close();
    }
  },
};

function table(states: readonly MigrationStatus[]): string {
  const rows = [
    ["STORE", "REVISION", "NAME", "STATE", "APPLIED AT"],
    ...states.map((each) =>
      [each.store, each.revision, each.name, each.state, each.applied_at ?? ""].map(String),
    ),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
