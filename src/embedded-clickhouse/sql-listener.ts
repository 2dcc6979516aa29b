/** The port for SQL clients: its configured users, and the databases of their tenants. */
import type { Config } from "../config/config.js";
import type { SqlListener } from "./server/config.js";

const MIB = 1024 * 1024;

/** Returns undefined if no port is configured. */
export function sqlListenerOf({
  embedded,
  tenants,
}: Pick<Config, "embedded" | "tenants">): SqlListener | undefined {
  const {
    sql_port: port,
    sql_host: host,
    sql_tls: tls,
    sql_user: user,
    sql_password: password,
    sql_limits: limits,
  } = embedded;
  if (port === undefined) return undefined;
  const databases = (names: Iterable<string>) =>
    [...names].flatMap((name) => {
      const storage = tenants.get(name)?.storage;
      return storage?.kind === "embedded" ? [storage.database] : [];
    });
  const allTenantsUser =
    user === undefined || password === undefined
      ? []
      : [{ user, password, databases: databases(tenants.keys()) }];
  const namedUsers = Object.entries(embedded.sql_users).map(([name, { password, tenants: names }]) => ({
    user: name,
    password,
    databases: databases(names),
  }));
  return {
    host,
    port,
    tls,
    users: [...allTenantsUser, ...namedUsers],
    allowedHosts: [host, ...embedded.sql_allowed_hosts].map((name) => name.toLowerCase()),
    limits: {
      maxSeconds: limits.max_seconds,
      maxResultRows: limits.max_result_rows,
      maxResultBytes: limits.max_result_mib * MIB,
      maxRunning: limits.max_running,
      maxPerMinute: limits.max_per_minute,
    },
  };
}
