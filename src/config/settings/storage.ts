/**
 * `tenants.T.storage.connection_string`: the database of a tenant's facts.
 *
 * Two tenants in one database would mix their money, so each needs its own. `storageKeys` finds connection strings that
 * are two spellings of one store.
 */
import { Type } from "@sinclair/typebox";
import { passwordsIn } from "../reader/passwords-in.js";
import { mapping, type Rule, text } from "../reader/setting.js";
import { clusterName } from "./clickhouse.js";
import { canonicalHost } from "./host.js";

interface EmbeddedStorage {
  readonly kind: "embedded";
  readonly database: string;
}

export interface ServerStorage {
  readonly kind: "server";
  /** HTTP addresses of the hosts, without credentials and database. The first that can be reached is used. */
  readonly urls: readonly string[];
  readonly username: string;
  readonly password: string;
  readonly database: string;
  readonly tls: boolean;
  /**
   * The cluster whose replicas have the database. Undefined if there is one copy, or if the service itself replicates.
   */
  readonly cluster: string | undefined;
}

export type StorageTarget = EmbeddedStorage | ServerStorage;

/** The parts of a target that the connection string contains. */
export type ParsedTarget = EmbeddedStorage | Omit<ServerStorage, "cluster">;
export type ParsedStorage = { storage: ParsedTarget } | { problem: string };

const STORAGE_EXPECTED =
  "`embedded:NAME`, or clickhouse://user:password@host:8123/database (clickhouses:// for TLS; host1,host2 for replicas)";

/** More hosts would only delay the error if none can be reached. */
const MOST_HOSTS = 10;

/** Names that need no quoting, neither in SQL nor as a folder. */
const DATABASE = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
const RESERVED = ["system", "information_schema", "default"];

const DATABASE_RULE =
  "the database name must start with a letter or `_` and consist of at most 63 letters, digits and `_`";

/** Lower-cases embedded names, because some file systems ignore case. */
function parseEmbedded(name: string): ParsedStorage {
  const database = name.trim().toLowerCase();
  if (!DATABASE.test(database)) return { problem: DATABASE_RULE };
  if (RESERVED.includes(database))
    return { problem: "this database name belongs to the store itself; choose another" };
  return { storage: { kind: "embedded", database } };
}

/**
 * Returns the port that the address names. WHATWG URLs hide a scheme's default port, so `:80` is only visible if parsed
 * as https, and `:443` as http.
 */
function explicitPort(rest: string): string {
  return new URL(`http://${rest}`).port || new URL(`https://${rest}`).port;
}

/**
 * Splits `user:password@host1,host2/database` into one address per host. Returns undefined if one of several hosts is
 * empty.
 */
function byHost(rest: string): string[] | undefined {
  const end = rest.search(/[/?#]|$/);
  const start = rest.lastIndexOf("@", end) + 1;
  const hosts = rest
    .slice(start, end)
    .split(",")
    .map((host) => host.trim());
  if (hosts.length > 1 && hosts.includes("")) return undefined;
  return hosts.map((host) => `${rest.slice(0, start)}${host}${rest.slice(end)}`);
}

function parseServer(tls: boolean, rest: string): ParsedStorage {
  const hosts = byHost(rest);
  if (hosts === undefined) return { problem: "must name a host before and after each comma" };
  const parsed = hosts.map((each) => parseHost(tls, each));
  const servers = parsed.flatMap((each) => ("problem" in each ? [] : [each]));
  const [first] = servers;
  const unreadable = parsed.find((each) => "problem" in each);
  if (unreadable !== undefined) return unreadable;
  if (first === undefined || servers.length > MOST_HOSTS)
    return { problem: `must name at most ${MOST_HOSTS} hosts` };
  const urls = servers.map(({ url }) => url);
  if (new Set(urls.map(hostKey)).size < urls.length) return { problem: "must name each host once" };
  const { url: _, ...shared } = first;
  return { storage: { ...shared, urls } };
}

type Host = Omit<ServerStorage, "urls" | "cluster"> & { readonly url: string };

function parseHost(tls: boolean, rest: string): Host | { problem: string } {
  const unreadable = {
    problem: `must be ${STORAGE_EXPECTED}; special characters in it must be percent-encoded`,
  };
  if (!URL.canParse(`http://${rest}`)) return unreadable;
  const url = new URL(`http://${rest}`);
  if (url.search !== "" || url.hash !== "" || /[?#]/.test(rest)) {
    return {
      problem: "must end after the database: parameters are not supported, and `?`, `#` are percent-encoded",
    };
  }
  try {
    const [database = "", ...more] = url.pathname.split("/").filter(Boolean).map(decodeURIComponent);
    if (database === "" || more.length > 0)
      return { problem: "must name one database: clickhouse://host:8123/database" };
    if (!DATABASE.test(database)) return { problem: DATABASE_RULE };
    if (RESERVED.slice(0, 2).includes(database.toLowerCase())) {
      return { problem: "this database name belongs to the server itself; choose another" };
    }
    const port = explicitPort(rest) || (tls ? "8443" : "8123");
    const username = decodeURIComponent(url.username) || "default";
    const password = decodeURIComponent(url.password);
    const address = `${tls ? "https" : "http"}://${url.hostname}:${port}`;
    return { kind: "server", url: address, username, password, database, tls };
  } catch {
    return unreadable;
  }
}

export function parseStorage(text: string): ParsedStorage {
  const [, scheme = "", rest = ""] = /^([a-z]+):(.*)$/is.exec(text.trim()) ?? [];
  switch (scheme.toLowerCase()) {
    case "embedded":
      return parseEmbedded(rest);
    case "clickhouse":
    case "clickhouses":
      if (!rest.startsWith("//")) break;
      return parseServer(scheme.toLowerCase() === "clickhouses", rest.slice(2));
  }
  return { problem: `must be ${STORAGE_EXPECTED}` };
}

/**
 * Returns one key for all spellings of a host. Spellings of loopback are equal, and so are the usual port (8123) and
 * the usual TLS port (8443) of a server.
 */
function hostKey(url: string): string {
  const { hostname, protocol } = new URL(url);
  const usual = protocol === "https:" ? "8443" : "8123";
  const port = explicitPort(url.replace(/^https?:\/\//, ""));
  return `${canonicalHost(hostname)}:${port === usual ? "usual" : port}`;
}

/** Returns a key for each host. Two connection strings with a common key lead to one store, whatever their users. */
export function storageKeys(storage: ParsedTarget): string[] {
  if (storage.kind === "embedded") return [`embedded:${storage.database}`];
  return storage.urls.map((url) => `server:${hostKey(url)}/${storage.database}`);
}

export function isSameStorage(one: ParsedTarget, other: ParsedTarget): boolean {
  const keys = storageKeys(other);
  return storageKeys(one).some((key) => keys.includes(key));
}

/** For people and logs, with a masked password. */
export function describeStorage(storage: ParsedTarget): string {
  if (storage.kind === "embedded") return `embedded:${storage.database}`;
  const credentials = `${encodeURIComponent(storage.username)}${storage.password === "" ? "" : ":********"}`;
  const hosts = storage.urls.map((url) => url.replace(/^https?:\/\//, "")).join(",");
  return `clickhouse${storage.tls ? "s" : ""}://${credentials}@${hosts}/${storage.database}`;
}

/** For people: the embedded engine, or the server that tenants share. */
export function describeServer(storage: StorageTarget): string {
  return storage.kind === "embedded" ? "the embedded ClickHouse" : `ClickHouse at ${storage.urls.join(", ")}`;
}

const clusterRule: Rule<{ connection_string?: string; cluster?: string }> = {
  rule: "`cluster` is for ClickHouse servers: an embedded store has no replicas.",
  check({ connection_string, cluster }, report) {
    if (cluster === undefined) return;
    const parsed = parseStorage(connection_string ?? "");
    if ("storage" in parsed && parsed.storage.kind === "embedded")
      report(["cluster"], "an embedded store has no replicas: leave the cluster out");
  },
};

export const storageSettings = mapping(
  {
    connection_string: text({
      description:
        "`embedded:NAME` is a database of the built-in store, in `data_dir`. `clickhouse://` and `clickhouses://` (TLS) " +
        "is a ClickHouse server's HTTP interface, port 8123 or 8443 unless given, user `default` unless given. The replicas of a " +
        "`cluster` are separated by commas: the first that can be reached is used, in this order.",
      expected: STORAGE_EXPECTED,
      secret: passwordsIn,
      maxLength: 2000,
      parse(written) {
        const parsed = parseStorage(written);
        return "problem" in parsed ? parsed : { value: written.trim() };
      },
    }),
    cluster: Type.Optional(
      clusterName("The tenant's own ClickHouse cluster, instead of `clickhouse.cluster`."),
    ),
  },
  {
    description: "The store of the tenant's billing lines, usage and chargebacks.",
    rules: [clusterRule],
  },
);
