/**
 * The engine's own protection for each SQL user. A role of the engine grants the user's databases and nothing else, so
 * the engine refuses other tenants' tables, writes, and table functions that read files or the network, whatever passes
 * the port's own checks. Each session of a SQL user takes its role first. The roles are in a file that the engine reads
 * when it starts, because chDB has no other users.
 */
import { identifier } from "../../../clickhouse/sql-text.js";
import type { PortUser } from "../port.js";
import { CATALOG } from "./catalog.js";

type Reader = Pick<PortUser, "user" | "databases">;

/** Returns the user's role. Its name is safe in XML and SQL, and unique to the user. */
export function roleOf(user: string): string {
  return `reader_${Buffer.from(user).toString("hex")}`;
}

/**
 * Returns the file for `users_config`. Sessions start with all roles, as the service needs. Taking a reader's role
 * removes all others.
 */
export function usersConfigXml(readers: readonly Reader[]): string {
  const roles = readers.map(({ user, databases }) => ({
    name: roleOf(user),
    grants: [...databases, CATALOG].map((database) => `SELECT ON ${identifier(database)}.*`),
  }));
  const all = [{ name: "service", grants: ["ALL ON *.* WITH GRANT OPTION"] }, ...roles];
  const grants = (list: readonly string[]) =>
    `<grants>${list.map((grant) => `<query>GRANT ${xmlText(grant)}</query>`).join("")}</grants>`;
  return `<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users><default>
    <password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>
    ${grants(all.map(({ name }) => name))}
  </default></users>
  <roles>
    ${all.map((role) => `<${role.name}>${grants(role.grants)}</${role.name}>`).join("\n    ")}
  </roles>
</clickhouse>
`;
}

export function xmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
