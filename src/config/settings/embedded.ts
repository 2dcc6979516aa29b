/**
 * `embedded`: the built-in columnar store for tenants whose storage is `embedded:NAME`, and its port for SQL clients.
 */
import { type Static, type TObject, Type } from "@sinclair/typebox";
import { integer, list, mapOf, mapping, type Rule, section, text } from "../reader/setting.js";
import { TENANT_NAME } from "./tenant.js";
import { tlsSettings } from "./tls.js";

const USER_NAME = {
  name: "USER",
  pattern: "^[A-Za-z0-9_.-]{1,100}$",
  expected: "a name of letters, digits, `_`, `.` and `-`, at most 100 characters",
};

const sqlLimits = section(
  {
    max_seconds: integer({
      description: "How long a query may take, from its request to the last byte of its response.",
      unit: "seconds",
      minimum: 1,
      maximum: 3600,
      default: 300,
    }),
    max_result_rows: integer({
      description: "A result with more rows is an error.",
      unit: "rows",
      minimum: 1,
      maximum: 1_000_000_000,
      default: 10_000_000,
    }),
    max_result_mib: integer({
      description: "A larger result is an error.",
      unit: "MiB",
      minimum: 1,
      maximum: 100_000,
      default: 1024,
    }),
    max_running: integer({
      description: "How many queries of one user may run at once, of four on the port. Further ones wait.",
      unit: "queries",
      minimum: 1,
      maximum: 4,
      default: 3,
    }),
    max_per_minute: integer({
      description: "How many queries a user may send in a minute. Further ones get 429.",
      unit: "queries",
      minimum: 1,
      maximum: 1_000_000,
      default: 1200,
    }),
  },
  {
    description:
      "Limits of each SQL user. All queries of the port together get a quarter of the store's memory.",
  },
);

const properties = {
  sql_port: Type.Optional(
    integer({
      description:
        "Opens the embedded store to SQL clients on this port, over ClickHouse's HTTP protocol, read-only. Off when left out.",
      minimum: 1,
      maximum: 65_535,
    }),
  ),
  sql_host: text({
    description:
      "The address that `sql_port` listens on (`0.0.0.0` is every interface). Without `sql_tls`, passwords are sent " +
      "unencrypted. Set it, or put a proxy with TLS in front, before you listen on other addresses than loopback.",
    expected: "a host name or an IP address",
    pattern: "^[A-Za-z0-9_.:%-]{1,255}$",
    maxLength: 255,
    default: "127.0.0.1",
  }),
  sql_tls: Type.Optional(tlsSettings("The certificate of `sql_port`, which then uses HTTPS.")),
  sql_allowed_hosts: list(
    text({
      description: "One name.",
      expected: "a host name without port, such as sql.example.org",
      pattern: "^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$",
      maxLength: 255,
    }),
    {
      description:
        "Host names of the port that SQL clients may send in the `Host` header. Addresses, `localhost` and `sql_host` " +
        "are always accepted.",
      expected: "a list of at most 100 host names",
      maxItems: 100,
      default: [],
    },
  ),
  sql_user: Type.Optional(text({ description: "A SQL user who reads every embedded tenant.", ...USER_NAME })),
  sql_password: Type.Optional(text({ description: "The password of `sql_user`.", secret: true })),
  sql_users: mapOf(
    USER_NAME,
    mapping(
      {
        password: text({ description: "The password.", secret: true }),
        tenants: list(
          text({
            description: "The name of a tenant.",
            pattern: TENANT_NAME.pattern,
            expected: TENANT_NAME.expected,
          }),
          {
            description:
              "The tenants that the user can read. The user sees neither the others nor their names.",
            expected: "a list of 1 to 1000 names of embedded tenants",
            minItems: 1,
            maxItems: 1000,
          },
        ),
      },
      { description: "A SQL user." },
    ),
    { description: "SQL users who read some tenants, by name.", maxProperties: 1000, default: {} },
  ),
  sql_limits: sqlLimits,
};

type Embedded = Static<TObject<typeof properties>>;

const rules: readonly Rule<Embedded>[] = [
  {
    rule: "`sql_port` needs users (`sql_user` with `sql_password`, or `sql_users`), and these need `sql_port`.",
    check(value, report) {
      const several = Object.keys(value.sql_users ?? {}).length > 0;
      const port = value.sql_port !== undefined;
      if (port && value.sql_user !== undefined && value.sql_password === undefined)
        report(["sql_password"], "is required with sql_user");
      if (value.sql_user === undefined && value.sql_password !== undefined)
        report(["sql_user"], "is required with sql_password");
      if (port && value.sql_user === undefined && value.sql_password === undefined && !several)
        report(["sql_user"], "is required with sql_port, unless there are sql_users");
      const user = value.sql_user !== undefined ? "sql_user" : several ? "sql_users" : undefined;
      if (!port && user !== undefined)
        report(["sql_port"], `is required with ${user}: without it nothing listens`);
    },
  },
  {
    rule: "`sql_tls` needs `sql_port`.",
    check({ sql_port, sql_tls }, report) {
      if (sql_tls !== undefined && sql_port === undefined) report(["sql_port"], "is required with sql_tls");
    },
  },
  {
    rule: "No name is both `sql_user` and in `sql_users`.",
    check(value, report) {
      const user = value.sql_user;
      if (user !== undefined && Object.hasOwn(value.sql_users ?? {}, user))
        report(["sql_users", user], "is the name of sql_user too");
    },
  },
];

export const embeddedSettings = section(properties, { description: "The embedded columnar store.", rules });
