/** `embedded`: the built-in columnar store, for tenants whose storage is `embedded:NAME`. */
import { Type } from "@sinclair/typebox";
import { integer, section, text } from "./setting.js";

export const embeddedSettings = section(
  {
    sql_port: Type.Optional(
      integer({
        description:
          "Opens the embedded store to SQL clients on this port of loopback, over ClickHouse's HTTP protocol, " +
          "read-only. Off when left out.",
        minimum: 1,
        maximum: 65_535,
      }),
    ),
    sql_user: Type.Optional(
      text({
        description: "The user name of SQL clients.",
        expected: "a name of letters, digits, `_`, `.` and `-`, at most 100 characters",
        pattern: "^[A-Za-z0-9_.-]{1,100}$",
      }),
    ),
    sql_password: Type.Optional(text({ description: "The password of SQL clients.", secret: true })),
  },
  {
    description: "The embedded columnar store.",
    rules: [
      {
        rule: "`sql_port` needs `sql_user` and `sql_password`, and these need `sql_port`.",
        check(value, report) {
          for (const key of ["sql_user", "sql_password"] as const) {
            if (value.sql_port !== undefined && value[key] === undefined)
              report([key], "is required with sql_port");
            if (value.sql_port === undefined && value[key] !== undefined) {
              report(["sql_port"], `is required with ${key}: without it nothing listens`);
            }
          }
        },
      },
    ],
  },
);
