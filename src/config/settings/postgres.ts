/** `postgres`: the database for tags, tenant state, inventory and run records. */
import { passwordsIn } from "../reader/passwords-in.js";
import { type Parsed, section, text } from "../reader/setting.js";

/** An embedded Postgres that the service starts and supervises, or a server that the user runs. */
export type PostgresTarget = { kind: "embedded" } | { kind: "server"; connection_string: string };

const EXPECTED = "`embedded`, or postgres://user:password@host:5432/database";

/**
 * The host may be empty if `?host=/folder` names a unix socket, as in libpq and `pg`. An unescaped `/`, `?` or `#` in a
 * password would end the host, so a port consists of digits, and a database name has no `@`.
 */
const SERVER =
  /^postgres(?:ql)?:\/\/(?:[^@/?#\s]*@)?((?:\[[^\]@/?#\s]*\]|[^:@/?#\s]*)(?::\d+)?)\/([^@/?#\s]+)(\?[^#\s]*)?$/i;

function parsePostgres(text: string): Parsed {
  const trimmed = text.trim();
  if (trimmed.toLowerCase() === "embedded") return { value: "embedded" };
  const [, host = "", , query = ""] = SERVER.exec(trimmed) ?? [];
  if (host === "" && !/[?&]host=/.test(query)) {
    return { problem: `must be ${EXPECTED}; special characters in it must be percent-encoded` };
  }
  return { value: trimmed };
}

export function postgresTarget(connectionString: string): PostgresTarget {
  if (connectionString === "embedded") return { kind: "embedded" };
  return { kind: "server", connection_string: connectionString };
}

/** The address without the password and without parameters, because a parameter can be a password. */
export function describePostgres(target: PostgresTarget): string {
  if (target.kind === "embedded") return "embedded";
  return target.connection_string
    .replace(/\?.*$/, "")
    .replace(/^([a-z]+:\/\/[^:@/]*):[^@/]*@/i, "$1:********@");
}

export const postgresSettings = section(
  {
    connection_string: text({
      description:
        "`embedded` is a Postgres server that comes with the package, listens only on a unix socket and keeps its " +
        "files in `data_dir`. Use your own server if several processes share the work.",
      expected: EXPECTED,
      secret: passwordsIn,
      maxLength: 2000,
      parse: parsePostgres,
      default: "embedded",
    }),
  },
  { description: "The store of tags, tenant state, inventory and run records." },
);
