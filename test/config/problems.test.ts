import t from "tap";
import { formatProblems } from "../../src/config/reader/problem.js";
import { loadYaml, oneTenant, problemsOf, tenantText } from "./loading.js";

interface Case {
  name: string;
  text: string;
  env?: Record<string, string>;
  problems: string[];
}

const S = "tenants.acme.plugin_settings";

const cases: Case[] = [
  {
    name: "an integer out of bounds",
    text: "api:\n  port: 70000\n  request_timeout_seconds: 301",
    problems: [
      "2: api.port: must be an integer from 1 to 65535, not 70000",
      "3: api.request_timeout_seconds: must be an integer from 1 to 300, not 301",
    ],
  },
  {
    name: "a text, a fraction, hexadecimal and an exponent instead of an integer",
    text: "features: {max_parallel_tenants: 1.5}\napi: {port: x}\nlogging: {}\nembedded: {sql_port: 0x10}",
    problems: [
      "1: features.max_parallel_tenants: must be an integer from 1 to 64, not 1.5",
      '2: api.port: must be an integer from 1 to 65535, not "x"',
      "4: embedded.sql_port: must be an integer from 1 to 65535, not 0x10",
    ],
  },
  {
    name: "single sign-on that is not complete, or not used",
    text: "api:\n  auth: oidc\n  proxy: {addresses: [10.0.0.1]}",
    problems: [
      "1: api.oidc: is required with auth oidc",
      "1: api.roles: is required with auth oidc",
      "3: api.proxy: is not used with auth oidc: remove it",
    ],
  },
  {
    name: "single sign-on that lets in whom nobody meant",
    text: `api:
  auth: proxy
  proxy:
    addresses: [10.0.0.0/33, localhost, fd00::/8, 10.0.0.7]
    name_header: "a b"
  roles:
    - {role: a, scopes: [write]}
    - {role: b, scopes: [read], tenants: [x], every_tenant: true}
    - {role: b, scopes: [read], every_tenant: true}`,
    problems: [
      '4: api.proxy.addresses[0]: must be an IP address or a network such as 10.1.0.0/16, not "10.0.0.0/33"',
      '4: api.proxy.addresses[1]: must be an IP address or a network such as 10.1.0.0/16, not "localhost"',
      '5: api.proxy.name_header: must be the name of a header: letters, digits and -, not "a b"',
      '7: api.roles[0].scopes[0]: must be one of read, tags, assign, run, admin, not "write"',
      "7: api.roles[0].tenants: is required, unless every_tenant is true; both cannot be",
      "8: api.roles[1].tenants: is required, unless every_tenant is true; both cannot be",
      "9: api.roles[2].role: is the same as that of entry [1]; it must be unique",
    ],
  },
  {
    name: "keys of an issuer in the clear, and a role for a tenant that is not there",
    text: `api:
  auth: oidc
  oidc: {issuer: "http://login.example.org/", audience: costs, jwks_url: "http://login.example.org/keys"}
  roles: [{role: a, scopes: [read], tenants: [acme]}]`,
    problems: [
      "3: api.oidc.jwks_url: must begin with https://, except on loopback",
      "4: api.roles[0].tenants[0]: is not the name of a tenant",
    ],
  },
  {
    name: "a role for a tenant that is not there, beside a port that is none",
    text: `api:
  auth: oidc
  port: x
  oidc: {issuer: "https://login.example.org/", audience: costs, jwks_url: "https://login.example.org/keys"}
  roles: [{role: a, scopes: [read], tenants: [acme]}]`,
    problems: [
      '3: api.port: must be an integer from 1 to 65535, not "x"',
      "5: api.roles[0].tenants[0]: is not the name of a tenant",
    ],
  },
  {
    name: "a role for a tenant that is not there",
    text: `api:
  auth: oidc
  oidc: {issuer: "https://login.example.org/", audience: costs, jwks_url: "https://login.example.org/keys"}
  roles: [{role: a, scopes: [read], tenants: [acme]}]`,
    problems: ["4: api.roles[0].tenants[0]: is not the name of a tenant"],
  },
  {
    name: "the bounds of the interface's limits",
    text: oneTenant({ tenant: ["lookback_days: 365", "cutoff_days: 0", "retention_days: 731"] }),
    problems: [
      "6: tenants.acme.lookback_days: must be an integer from 1 to 364 (`chargehouse run --from DAY --to DAY` charges older days), not 365",
      "7: tenants.acme.cutoff_days: must be an integer from 1 to 30, not 0",
      "8: tenants.acme.retention_days: must be an integer from 1 to 730, not 731",
    ],
  },
  {
    name: "a word that is none of a list, and a boolean that YAML 1.1 knew",
    text: "logging:\n  level: verbose\n  format: xml\napi:\n  enable_cors: yes",
    problems: [
      '2: logging.level: must be one of fatal (or critical), error, warn (or warning), info, debug, trace, not "verbose"',
      '3: logging.format: must be one of json, pretty, not "xml"',
      '5: api.enable_cors: must be true or false, not "yes"',
    ],
  },
  {
    name: "mistyped keys, each with the nearest known one",
    text: `apii: {}\n${oneTenant({ tenant: ["cutoff_day: 3", "frobnicate: 1"] })}`,
    problems: [
      "1: apii: unknown key; did you mean `api`?",
      "7: tenants.acme.cutoff_day: unknown key; did you mean `cutoff_days`?",
      "8: tenants.acme.frobnicate: unknown key; known here: ecosystem, tenant_id, lookback_days, cutoff_days, " +
        "retention_days, allocation_retry_limit, gather_failure_threshold, zero_gather_deletion_threshold, " +
        "tenant_execution_timeout_seconds, metrics_prefetch_workers, topic_attribution_retry_limit, identity_to_team, " +
        "allocation, storage, plugin_settings",
    ],
  },
  {
    name: "one kind of node instead of another",
    text: "api: 8080\nlogging: [json]\ntenants: []\nfeatures: {refresh_interval: {}}\ndata_dir: [a]",
    problems: [
      "1: api: must be a mapping, not a single value",
      "2: logging: must be a mapping, not a list",
      "3: tenants: must be a mapping of at most 1000 keys, not a list",
      "4: features.refresh_interval: must be an integer from 1 to 2073600, not a mapping",
      "5: data_dir: must be a path, not a list: put a value that begins with `[` in quotes",
    ],
  },
  {
    name: "a text that begins with a bracket, and so is a list or a mapping",
    text: oneTenant({ settings: ["currency: [EUR]", "display_name: {a: b}"] }),
    problems: [
      "9: tenants.acme.plugin_settings.currency: must be three capital letters such as EUR, not a list: put a value that begins with `[` in quotes",
      "10: tenants.acme.plugin_settings.display_name: must be text of 1 to 200 characters, not a mapping: put a value that begins with `{` in quotes",
    ],
  },
  {
    name: "a key in the wrong mapping, each with the one that it is a key of",
    text: oneTenant({
      tenant: ["currency: EUR"],
      settings: ["lookback_days: 30"],
      costTypes:
        "[{name: A, product_category: c, rate: 1, cost_quantity: {type: fixed, count: 1, tenant_id: x}, allocation_strategy: even_split, currency: EUR}]",
    }),
    problems: [
      "6: tenants.acme.currency: unknown key; `currency` is a key of `tenants.acme.plugin_settings`",
      "9: tenants.acme.plugin_settings.cost_types[0].currency: unknown key; `currency` is a key of `tenants.acme.plugin_settings`",
      "9: tenants.acme.plugin_settings.cost_types[0].cost_quantity.tenant_id: unknown key; `tenant_id` is a key of `tenants.acme`",
      "10: tenants.acme.plugin_settings.lookback_days: unknown key; `lookback_days` is a key of `tenants.acme`",
    ],
  },
  {
    name: "a key that stands twice, values that cannot be read and settings that do not go together: all at once",
    text: oneTenant({
      tenant: [
        "cutoff_days: 2",
        "cutoff_days: 3",
        "allocation:",
        "  identity: [{column: nosuch}, {tga: x}, {tag: team, map: ./nowhere.csv}]",
        "  rules:",
        "    - {name: a, where: {product_type: A}, split: [{by: evn}]}",
        "    - {name: b, where: {product_type: A}, split: [{by: usage, metric: m}]}",
        "    - {name: c, where: {product_type: A}, split: [{by: nobody}]}",
      ],
      settings: ["currency: euro"],
    }),
    problems: [
      "7: the key cutoff_days stands here and in line 6; it may stand once",
      "9: tenants.acme.allocation.identity[1].tga: unknown key; did you mean `tag`?",
      "9: tenants.acme.allocation.identity[1]: needs assigned, tag or column",
      "9: tenants.acme.allocation.identity[0].column: is no column of the lines; known: resource_id, product_type, product_category, env_id, currency, and tag.KEY for tags",
      "9: tenants.acme.allocation.identity[2].map: does not exist",
      '11: tenants.acme.allocation.rules[0].split[0].by: must be one of line, owner, usage, cost, fixed, even, nobody, not "evn"',
      "13: tenants.acme.allocation.rules[2]: can never take a line: rule b before it takes the same ones",
      '17: tenants.acme.plugin_settings.currency: must be three capital letters such as EUR, not "euro"',
    ],
  },
  {
    name: "a bare string instead of a list of origins, and one that is no origin",
    text: "api:\n  cors_origins: https://a.example",
    problems: [
      "2: api.cors_origins: must be a list of at most 100 origins such as https://console.example.org, or *, not a single value",
    ],
  },
  {
    name: "origins that no browser sends",
    text: "api:\n  cors_origins:\n    - https://a.example\n    - a.example\n    - https://a.example/path",
    problems: [
      '4: api.cors_origins[1]: must be an origin such as https://console.example.org, or *, not "a.example"',
      "5: api.cors_origins[2]: must be an origin such as https://console.example.org, or *",
    ],
  },
  {
    name: "required keys that are missing, at the line of their mapping",
    text: "tenants:\n  acme:\n    ecosystem: generic_metrics_only\n    storage: {}\n    plugin_settings:\n",
    problems: [
      "2: tenants.acme.tenant_id: is required: text of 1 to 200 characters, without control characters and without spaces at its ends",
      "4: tenants.acme.storage.connection_string: is required: `embedded:NAME`, or clickhouse://user:password@host:8123/database (clickhouses:// for TLS; host1,host2 for replicas)",
      "5: tenants.acme.plugin_settings: is required: a mapping",
    ],
  },
  {
    name: "an unknown ecosystem, with what else is wrong with the tenant",
    text: "tenants:\n  acme:\n    ecosystem: kafka\n    tenant_id: 7\n    storage: {connection_string: embedded:a}",
    problems: [
      '3: tenants.acme.ecosystem: must be "generic_metrics_only", not "kafka"',
      "4: tenants.acme.tenant_id: must be text: put it in quotes, not 7",
    ],
  },
  {
    name: "tenant names that a URL or a log line cannot carry",
    text: "tenants:\n  a b:\n  ..:\n  a/b:\n",
    problems: [
      '2: tenants["a b"]: the key must be 1 to 100 letters, digits, `.`, `_`, `~` and `-`, starting with a letter or a digit',
      '2: tenants["a b"]: is empty; it must be a mapping',
      '3: tenants[".."]: the key must be 1 to 100 letters, digits, `.`, `_`, `~` and `-`, starting with a letter or a digit',
      '3: tenants[".."]: is empty; it must be a mapping',
      '4: tenants["…"]: the key must be 1 to 100 letters, digits, `.`, `_`, `~` and `-`, starting with a letter or a digit',
      '4: tenants["…"]: is empty; it must be a mapping',
    ],
  },
  {
    name: "a lookback that does not exceed the cutoff",
    text: oneTenant({ tenant: ["lookback_days: 5"] }),
    problems: ["6: tenants.acme.lookback_days: must be greater than cutoff_days (5), not 5"],
  },
  {
    name: "a retention below the lookback",
    text: oneTenant({ tenant: ["retention_days: 199"] }),
    problems: ["6: tenants.acme.retention_days: must be at least lookback_days (200), not 199"],
  },
  {
    name: "two tenants in one store and with one id, naming both tenants",
    text: `tenants:\n${tenantText("a", { storage: "clickhouse://u:hunter2@H/x" })}${tenantText("b", {
      storage: "clickhouse://v:hunter3@h:8123//%78/",
      tenant_id: "a",
    })}`,
    problems: [
      "11: tenants.b.tenant_id: tenants a and b have the same tenant_id; it must be unique",
      "12: tenants.b.storage.connection_string: tenants a and b share one store; each tenant needs its own",
    ],
  },
  {
    name: "several hosts without a cluster, a cluster of an embedded store, and one with a name that none has",
    text: `tenants:\n${tenantText("a", { storage: "clickhouse://h,i/x", tenant_id: "a" })}${tenantText("b", {
      storage: `embedded:x", cluster: "main`,
      tenant_id: "b",
    })}${tenantText("c", { storage: `clickhouse://j,k/x", cluster: "no name`, tenant_id: "c" })}${tenantText(
      "d",
      {
        storage: "clickhouse://i/x",
        tenant_id: "d",
      },
    )}`,
    problems: [
      "5: tenants.a.storage.connection_string: names several hosts: only the replicas of clickhouse.cluster have the " +
        "same rows",
      "12: tenants.b.storage.cluster: an embedded store has no replicas: leave the cluster out",
      '19: tenants.c.storage.cluster: must be the name of a cluster in the servers\' system.clusters, of letters, digits, `_`, `.` and `-`, not "no name"',
      "19: tenants.c.storage.connection_string: names several hosts: only the replicas of clickhouse.cluster have " +
        "the same rows",
      "26: tenants.d.storage.connection_string: tenants a and d share one store; each tenant needs its own",
    ],
  },
  {
    name: "SQL access without its user and password, and the other way round",
    text: "embedded: {sql_port: 8123, sql_user: bi}",
    problems: ["1: embedded.sql_password: is required with sql_user"],
  },
  {
    name: "credentials of SQL access that nothing uses",
    text: "embedded: {sql_user: bi}",
    problems: ["1: embedded.sql_port: is required with sql_user: without it nothing listens"],
  },
  {
    name: "SQL access without any user",
    text: "embedded: {sql_port: 8123}",
    problems: ["1: embedded.sql_user: is required with sql_port, unless there are sql_users"],
  },
  {
    name: "SQL users of tenants that are not there or not embedded",
    text: [
      "embedded: {sql_port: 8123, sql_user: a, sql_password: p, sql_users: {a: {password: p, tenants: [acme, nobody]}, b: {password: p}}}",
      oneTenant({ storage: "clickhouse://u@h/d" }),
    ].join("\n"),
    problems: [
      "1: embedded.sql_users.b.tenants: is required: a list of 1 to 1000 names of embedded tenants",
      "1: embedded.sql_users.a: is the name of sql_user too",
      "1: embedded.sql_users.a.tenants[0]: the store of tenant acme is not embedded: give its server's users rights there",
      "1: embedded.sql_users.a.tenants[1]: there is no tenant nobody",
    ],
  },
  {
    name: "SQL access on the API's port",
    text: "embedded: {sql_port: 8080, sql_user: bi, sql_password: p}",
    problems: ["1: embedded.sql_port: must differ from api.port"],
  },
  {
    name: "a certificate without its key, a file by a relative path, and TLS of a port that is not open",
    text: [
      "api: {tls: {certificate_file: /etc/c.pem}}",
      "embedded: {sql_tls: {certificate_file: c.pem, key_file: /etc/k.pem, ca: /etc/ca.pem}}",
    ].join("\n"),
    problems: [
      "1: api.tls.key_file: is required: an absolute path of a PEM file",
      "2: embedded.sql_tls.ca: unknown key; known here: certificate_file, key_file",
      '2: embedded.sql_tls.certificate_file: must be an absolute path of a PEM file, not "c.pem"',
      "2: embedded.sql_port: is required with sql_tls",
    ],
  },
  {
    name: "keys of the specification that this release does not have",
    text: oneTenant({
      settings: ["allocator_overrides: {A: mod:fn}", "topic_attribution: {enabled: true}"],
    }),
    problems: [
      `9: ${S}.allocator_overrides: is not supported: allocation rules cannot be replaced by code. Leave it empty.`,
      `10: ${S}.topic_attribution: is not supported: this ecosystem has no topics to attribute costs to. Leave it empty.`,
    ],
  },
  {
    name: "a granularity that is not allocated, and a step that does not divide a day",
    text: oneTenant({ settings: ["chargeback_granularity: hourly", "metrics_step_seconds: 7000"] }),
    problems: [
      `9: ${S}.chargeback_granularity: must be "daily", not "hourly"`,
      `10: ${S}.metrics_step_seconds: must divide 86400 (a day) evenly, which 7000 does not`,
    ],
  },
  {
    name: "metrics credentials that do not fit the auth_type",
    text: oneTenant({
      settings: ["metrics: {url: http://p, auth_type: basic, username: u, bearer_token: t}"],
    }),
    problems: [
      `9: ${S}.metrics.password: is required with auth_type basic`,
      `9: ${S}.metrics.bearer_token: is not used with auth_type basic: remove it`,
    ],
  },
  {
    name: "basic without a user name, and without either",
    text: `tenants:\n${tenantText("a", { settings: ["metrics: {url: http://p, auth_type: basic, password: hunter2}"] })}${tenantText(
      "b",
      { settings: ["metrics: {url: http://p, auth_type: basic}"] },
    )}`,
    problems: [
      "9: tenants.a.plugin_settings.metrics.username: is required with auth_type basic",
      "17: tenants.b.plugin_settings.metrics.username: is required with auth_type basic",
      "17: tenants.b.plugin_settings.metrics.password: is required with auth_type basic",
    ],
  },
  {
    name: "bearer without a token, none with a credential",
    text: `tenants:\n${tenantText("a", { settings: ["metrics: {url: http://p, auth_type: bearer}"] })}${tenantText(
      "b",
      {
        settings: ["metrics: {url: http://p, password: hunter2}"],
      },
    )}`,
    problems: [
      "9: tenants.a.plugin_settings.metrics.bearer_token: is required with auth_type bearer, unless there is a bearer_token_file",
      "17: tenants.b.plugin_settings.metrics.password: is not used with auth_type none: remove it",
    ],
  },
  {
    name: "an address of metrics with credentials, a query, or of another protocol",
    text: oneTenant({ settings: ["metrics: {url: http://u:hunter2@p}"] }),
    problems: [`9: ${S}.metrics.url: must not contain credentials; they have keys of their own`],
  },
  {
    name: "a variable that is not set, also where the key would have a rule; the key gets one problem",
    text: oneTenant({
      settings: [`metrics: {url: http://p, auth_type: basic, username: u, password: '\${PW}'}`],
    }),
    problems: [
      `9: ${S}.metrics.password: environment variable PW is not set, and has no default (\${PW:-default})`,
    ],
  },
  {
    name: "a value from the environment that does not fit is not shown",
    text: `api:\n  port: \${PORT}\n  host: \${HOST:-a b}`,
    env: { PORT: "hunter2" },
    problems: [
      "2: api.port: must be an integer from 1 to 65535 (the value comes from the environment)",
      "3: api.host: must be a host name or an IP address (the value comes from the environment)",
    ],
  },
];

for (const { name, text, env, problems } of cases) {
  t.test(name, async (t) => t.same(problemsOf(text, env), problems));
}

t.test("a problem is printed as file, line, path and message", async (t) => {
  const result = loadYaml("logging:\n\n  format: x");
  t.notOk(result.ok);
  const problems = result.ok ? [] : result.problems;
  t.same(problems, [
    {
      file: "c.yaml",
      line: 3,
      path: "logging.format",
      message: 'must be one of json, pretty, not "x"',
      allowed: "one of json, pretty",
    },
  ]);
  t.equal(formatProblems(problems), 'c.yaml:3: logging.format: must be one of json, pretty, not "x"');
});

t.test("a file with thousands of problems prints the first 200 and how many more", async (t) => {
  const keys = Array.from({ length: 1000 }, (_, index) => `k${index}: 1`).join("\n");
  const result = loadYaml(keys);
  const lines = formatProblems(result.ok ? [] : result.problems).split("\n");
  t.equal(lines.length, 201);
  t.equal(lines.at(-1), "… and 800 more problems");
});

t.test("a quoted value is short and in one line", async (t) => {
  const [problem = ""] = problemsOf(`logging: {format: "a\\n${"b".repeat(500)}"}`);
  t.match(problem, /not "a\\nb{58}…"$/);
});
