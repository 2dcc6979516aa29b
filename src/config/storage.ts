/**
 * `tenants.T.storage.connection_string`: which database holds a tenant's facts.
 *
 * Two tenants in one database would mix their money, so each needs its own, and `storageKey` tells when two
 * connection strings are two spellings of one store.
 */
import { canonicalHost } from "./host.js";
import { passwordsIn } from "./passwords-in.js";
import { mapping, text } from "./setting.js";

export type StorageTarget =
  | { kind: "embedded"; database: string }
  /** `url` is the HTTP address, without credentials and database. */
  | { kind: "server"; url: string; username: string; password: string; database: string; tls: boolean };

export type ParsedStorage = { storage: StorageTarget } | { problem: string };

const STORAGE_EXPECTED =
  "`embedded:NAME`, or clickhouse://user:password@host:8123/database (clickhouses:// for TLS)";

/** A name that needs no quoting anywhere: not in SQL, not as a folder. */
const DATABASE = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
const RESERVED = ["system", "information_schema", "default"];

const DATABASE_RULE =
  "the database name must start with a letter or `_` and hold letters, digits and `_`, at most 63";

/** Embedded names are lower-cased: folders of some file systems do not tell cases apart. */
function parseEmbedded(name: string): ParsedStorage {
  const database = name.trim().toLowerCase();
  if (!DATABASE.test(database)) return { problem: DATABASE_RULE };
  if (RESERVED.includes(database))
    return { problem: "this database name belongs to the store itself; choose another" };
  return { storage: { kind: "embedded", database } };
}

/** WHATWG URLs hide a scheme's default port, so that `:80` is only seen when read as https, and `:443` as http. */
function explicitPort(rest: string): string {
  return new URL(`http://${rest}`).port || new URL(`https://${rest}`).port;
}

function parseServer(tls: boolean, rest: string): ParsedStorage {
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
    return { storage: { kind: "server", url: address, username, password, database, tls } };
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
 * The same for every spelling of one store. Who logs in does not matter, nor does how loopback is written, nor whether
 * a server is reached on its usual port (8123) or its usual TLS port (8443).
 */
export function storageKey(storage: StorageTarget): string {
  if (storage.kind === "embedded") return `embedded:${storage.database}`;
  const url = new URL(storage.url);
  const usual = storage.tls ? "8443" : "8123";
  const port = explicitPort(storage.url.replace(/^https?:\/\//, ""));
  return `server:${canonicalHost(url.hostname)}:${port === usual ? "usual" : port}/${storage.database}`;
}

/** For people and logs: the password is masked. */
export function describeStorage(storage: StorageTarget): string {
  if (storage.kind === "embedded") return `embedded:${storage.database}`;
  const credentials = `${encodeURIComponent(storage.username)}${storage.password === "" ? "" : ":********"}`;
  const host = storage.url.replace(/^https?:\/\//, "");
  return `clickhouse${storage.tls ? "s" : ""}://${credentials}@${host}/${storage.database}`;
}

/** What tenants share, for people: the embedded engine, or a server. */
export function describeServer(storage: StorageTarget): string {
  return storage.kind === "embedded" ? "the embedded ClickHouse" : `ClickHouse at ${storage.url}`;
}

export const storageSettings = mapping(
  {
    connection_string: text({
      description:
        "`embedded:NAME` is a database of the built-in store, in `data_dir`. `clickhouse://` and `clickhouses://` (TLS) " +
        "is a ClickHouse server's HTTP interface, port 8123 or 8443 unless given, user `default` unless given.",
      expected: STORAGE_EXPECTED,
      secret: passwordsIn,
      maxLength: 2000,
      parse(written) {
        const parsed = parseStorage(written);
        return "problem" in parsed ? parsed : { value: written.trim() };
      },
    }),
  },
  { description: "Where the tenant's billing lines, usage and chargebacks are kept." },
);
