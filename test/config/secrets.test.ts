import t from "tap";
import { describeConfig } from "../../src/config/describe.js";
import { formatProblems } from "../../src/config/reader/problem.js";
import { holds } from "../holds.js";
import fc from "../property.js";
import { configOf, loadYaml, oneTenant, testEcosystems } from "./loading.js";

const SECRET = "hunter2";

const everything = [
  "postgres: {connection_string: 'postgres://u:hunter2@db.example:5432/app?password=hunter2'}",
  "embedded: {sql_port: 9000, sql_user: bi, sql_password: hunter2}",
  oneTenant({
    storage: "clickhouses://u:hunter2@ch.example/facts",
    settings: ["metrics: {url: http://p/x/, auth_type: bearer, bearer_token: hunter2}"],
  }),
].join("\n");

t.test("the effective configuration is shown in the shape of the file, with secrets masked", async (t) => {
  const shown = describeConfig(configOf(everything), testEcosystems);
  t.notMatch(JSON.stringify(shown), /hunter2/);
  holds(t, shown, {
    data_dir: "/srv/data",
    postgres: { connection_string: "postgres://u:********@db.example:5432/app" },
    embedded: { sql_port: 9000, sql_user: "bi", sql_password: "********" },
    tenants: {
      acme: {
        ecosystem: "generic_metrics_only",
        storage: { connection_string: "clickhouses://u:********@ch.example:8443/facts" },
        plugin_settings: {
          metrics: { url: "http://p/x", bearer_token: "********" },
          cost_types: [{ rate: "1" }],
        },
      },
    },
  });
  t.same(Object.keys(shown).sort(), [
    "api",
    "clickhouse",
    "data_dir",
    "embedded",
    "features",
    "logging",
    "postgres",
    "tenants",
  ]);
});

t.test(
  "only secrets of a configuration are found, and only the password of a connection string",
  async (t) => {
    const loaded = loadYaml(everything);
    t.strictSame([...new Set(loaded.ok ? loaded.secrets : [])], [SECRET]);
  },
);

t.test("a refused secret is never shown, whatever the problem", async (t) => {
  const texts = [
    "postgres: {connection_string: mysql://u:hunter2@h/d}",
    "postgres: {connection_string: {hunter2: 1}}",
    "postgres: {connection_string: 'postgres://u:hunter2/x@h'}",
    "postgres: {connection_string: 'postgres://u:1/hunter2@h'}",
    "postgres: {connection_string: 'postgres://u:hunter2?x@h/d'}",
    "postgres: {connection_string: 'postgres://u:hunter2#x@h/d'}",
    "embedded: {sql_password: [hunter2]}",
    "embedded: {sql_users: {a: {password: [hunter2]}}}",
    "embedded: {sql_port: 1, sql_users: {a: {password: hunter2, tenants: [nobody]}}}",
    oneTenant({ storage: "clickhouse://u:hunter2@h/d/e" }),
    oneTenant({ storage: "hunter2" }),
    oneTenant({ settings: ["metrics: hunter2"] }),
    oneTenant({ settings: [`metrics: {url: http://h, auth_type: bearer, bearer_token: "hunter2\${"}`] }),
    "tenants: {acme: {storage: 'embedded:hunter2 x'}}",
    "api: {host: 'postgres://u:hunter2@h/d'}",
    "clickhouse://u:hunter2@h/d: x",
  ];
  for (const text of texts) {
    const result = loadYaml(text);
    t.notOk(result.ok, text);
    t.notMatch(result.ok ? "" : formatProblems(result.problems), new RegExp(SECRET), text);
  }
});

t.test("property: values from the environment are never shown, for any key", async (t) => {
  const keys = [
    "data_dir",
    "logging: {level",
    "logging: {format",
    "api: {port",
    "api: {host",
    "api: {enable_cors",
    "api: {cors_origins: [",
    "features: {refresh_interval",
    "postgres: {connection_string",
    "embedded: {sql_port",
    "tenants: {a: {ecosystem",
    "tenants: {a: {tenant_id",
    "tenants: {a: {storage: {connection_string",
    "nonsense",
  ];
  const value = fc.tuple(fc.string(), fc.string()).map(([before, after]) => `${before}h.u-n/t=er2${after}`);
  fc.assert(
    fc.property(fc.constantFrom(...keys), value, (key, secret) => {
      const opened = key.endsWith("[") ? `${key}"\${S}"]` : `${key}: "\${S}"`;
      const text = opened + "}".repeat(opened.replaceAll("${", "").split("{").length - 1);
      const result = loadYaml(text, { S: secret });
      return result.ok || !formatProblems(result.problems).includes("h.u-n/t=er2");
    }),
  );
  t.pass("the property is true for all examples");
});
