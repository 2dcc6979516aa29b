/** `postgres`: where tags, tenant state, inventory and run records are kept. */
import { passwordsIn } from "./passwords-in.js";
import { type Parsed, section, text } from "./setting.js";

/** A Postgres of our own, started and supervised by the service, or one that the user runs. */
export type PostgresTarget = { kind: "embedded" } | { kind: "server"; connection_string: string };

const EXPECTED = "`embedded`, or postgres://user:password@host:5432/database";

/**
 * The host may be empty when `?host=/folder` names a unix socket, as libpq and `pg` understand it. A password with a `/`, `?` or `#` as it is
 * would be read as the host's end, so a port is digits, and a database has no `@`.
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

/** The address without the password; parameters are left out, because a password can be one of them. */
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
        "`embedded` is a Postgres server that comes with the package, listens on a unix socket only and keeps its " +
        "files in `data_dir`. Use a server of your own when several processes share the work.",
      expected: EXPECTED,
      secret: passwordsIn,
      maxLength: 2000,
      parse: parsePostgres,
      default: "embedded",
    }),
  },
  { description: "The store of tags, tenant state, inventory and run records." },
);
