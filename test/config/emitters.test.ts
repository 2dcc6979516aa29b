import t from "tap";
import { loadConfig } from "../../src/config/load.js";
import { fileNameOf, parseTemplate } from "../../src/config/settings/emitted-file.js";
import { confluentCloudSettings } from "../../src/ingest/ecosystems/confluent_cloud/settings.js";
import { focusSettings } from "../../src/ingest/ecosystems/focus/settings.js";
import { csvEmitter } from "../export/emitters/emitting.js";
import { holds } from "../holds.js";
import { configOf, oneTenant, problemsOf, type TenantText, tenantText } from "./loading.js";

const withEmitters = (emitters: string, more: TenantText = {}) =>
  oneTenant({ ...more, settings: [`emitters: [${emitters}]`] });
const S = "tenants.acme.plugin_settings.emitters";

t.test("emitters have their defaults", async (t) => {
  const text = withEmitters(
    "{type: csv, params: {output_dir: out}}, {type: focus, params: {location: out}}, {type: prometheus}",
  );
  t.same(configOf(text).tenants.get("acme")?.plugin_settings.emitters, [
    {
      type: "csv",
      pipelines: ["chargeback"],
      params: {
        output_dir: "out",
        filename_template: "{tenant_id}_{date}.csv",
        raw: false,
        provisional: "mark",
      },
    },
    {
      type: "focus",
      params: { location: "out", format: "parquet", focus_version: "1.4", provisional: "mark" },
    },
    {
      type: "prometheus",
      pipelines: ["chargeback", "billing", "resource", "identity"],
      params: { days: 1, provisional: "mark" },
    },
  ]);
});

t.test("valid emitters are accepted", async (t) => {
  for (const emitters of [
    "",
    "{type: csv, name: a, aggregation: null, params: {output_dir: a}}, {type: csv, name: b, params: {output_dir: b}}",
    "{type: csv, aggregation: monthly, lookback_days: 90, params: {output_dir: a, filename_template: '{month}.csv', raw: true}}",
    "{type: csv, name: a, params: {output_dir: a, filename_template: 'x{emitter}{date}'}}, {type: csv, params: {output_dir: a, filename_template: 'x{emitter}{date}'}}",
    "{type: prometheus, aggregation: daily, pipelines: [billing], params: {days: 31}}",
    "{type: focus, name: a, params: {location: 's3://costs/teams', format: csv.gz, focus_version: '1.2', s3: {region: eu-central-1}}}, {type: focus, params: {location: 's3://costs/others'}}",
  ])
    t.same(problemsOf(withEmitters(emitters)), [], emitters);
});

t.test("invalid emitters are refused", async (t) => {
  const csv = (more: string, params = "") => `{type: csv${more}, params: {output_dir: out${params}}}`;
  for (const [emitters, ...problems] of [
    ["{type: csv}", `9: ${S}[0].params: is required: a mapping`],
    ["{params: {days: 1}}", `9: ${S}[0].type: is required: one of csv, focus, prometheus`],
    ["{type: kafka}", `9: ${S}[0].type: must be one of csv, focus, prometheus, not "kafka"`],
    [csv(", name: 'a b'"), `9: ${S}[0].name: must be 1 to 50 letters`],
    [csv(", pipelines: [billing]"), `9: ${S}[0].pipelines[0]: must be one of chargeback, topic_attribution`],
    [csv(", pipelines: []"), `9: ${S}[0].pipelines: must be a list of 1 to 2 of chargeback`],
    [csv(", pipelines: [chargeback, chargeback]"), `9: ${S}[0].pipelines: names chargeback twice`],
    [
      csv(", pipelines: [topic_attribution]"),
      `9: ${S}[0].pipelines: names topic_attribution, which needs \`topic_attribution.enabled: true\``,
    ],
    [
      csv(", aggregation: hourly"),
      `9: ${S}[0].aggregation: must not be finer than chargeback_granularity (daily)`,
    ],
    [csv("", ", filename_template: 'a.csv'"), `9: ${S}[0].params.filename_template: must hold {date}`],
    [csv("", ", filename_template: '{month}.csv'"), `9: ${S}[0].params.filename_template: must hold {date}`],
    [
      csv("", ", filename_template: '../{date}.csv'"),
      `9: ${S}[0].params.filename_template: must be a file name`,
    ],
    [csv("", ", filename_template: '.{date}'"), `9: ${S}[0].params.filename_template: must not begin`],
    [
      csv("", ", filename_template: '{day}.csv'"),
      `9: ${S}[0].params.filename_template: must have no other braces`,
    ],
    [csv("", ", days: 1"), `9: ${S}[0].params.days: unknown key`],
    ["{type: prometheus, aggregation: monthly}", `9: ${S}[0].aggregation: must be daily or left out`],
    ["{type: prometheus, params: {days: 32}}", `9: ${S}[0].params.days: must be an integer from 1 to 31`],
    [
      `${csv("")}, ${csv("")}`,
      `9: ${S}[1].name: is that of entry [0]`,
      `9: ${S}[1].params.filename_template: gives acme/csv`,
    ],
    [
      `${csv("")}, ${csv(", name: CSV")}`,
      `9: ${S}[1].name: is that of entry [0]`,
      `9: ${S}[1].params.filename_template: gives acme/CSV`,
    ],
    [
      "{type: csv, params: {output_dir: 's3://costs/teams'}}",
      `9: ${S}[0].params.output_dir: must be a path without control characters, and no URL: only emitters of type focus write to s3://`,
    ],
    [
      '{type: csv, params: {output_dir: "out\\0"}}',
      `9: ${S}[0].params.output_dir: must be a path without control characters`,
    ],
    ["{type: focus}", `9: ${S}[0].params: is required: a mapping`],
    [
      "{type: focus, params: {location: 'https://host/costs'}}",
      `9: ${S}[0].params.location: must be a folder or s3://bucket/prefix`,
    ],
    ["{type: focus, params: {location: 's3://A'}}", `9: ${S}[0].params.location: must name a bucket`],
    [
      "{type: focus, params: {location: 's3://costs/../teams'}}",
      `9: ${S}[0].params.location: must not contain the parts`,
    ],
    [
      "{type: focus, params: {location: out, s3: {region: eu-central-1}}}",
      `9: ${S}[0].params.s3: is used with a location s3://… alone`,
    ],
    [
      "{type: focus, params: {location: 's3://costs', s3: {credentials: keys}}}",
      `9: ${S}[0].params.s3.access_key_id: is required with credentials keys`,
      `9: ${S}[0].params.s3.secret_access_key: is required with credentials keys`,
    ],
    [
      "{type: focus, params: {location: out, format: zip}}",
      `9: ${S}[0].params.format: must be one of parquet, csv, csv.gz`,
    ],
    [
      "{type: focus, params: {location: out}}, {type: focus, name: b, params: {location: ./OUT/}}",
      `9: ${S}[1].params.location: is that of focus, and each would remove the files of the other`,
    ],
    ["{type: prometheus}, {type: prometheus, name: b}", `9: ${S}[1].type: is prometheus a second time`],
    [
      `${csv("")}, ${csv(", name: sums, aggregation: monthly", ", filename_template: '{tenant_name}_{month}-01.csv'")}`,
      `9: ${S}[1].params.filename_template: gives acme/sums/chargeback the files of acme/csv/chargeback`,
    ],
    [
      `${csv("")}, ${csv(", name: sums, aggregation: monthly", ", filename_template: '{tenant_name}_{month}-31.csv'")}`,
      `9: ${S}[1].params.filename_template: gives acme/sums/chargeback the files of acme/csv/chargeback`,
    ],
    [
      `${csv("")}, {type: csv, name: b, params: {output_dir: ./OUT/}}`,
      `9: ${S}[1].params.filename_template: gives acme/b/chargeback the files of acme/csv/chargeback`,
    ],
  ] as const) {
    const found = problemsOf(withEmitters(emitters));
    t.equal(found.length, problems.length, `${emitters}\n${found.join("\n")}`);
    for (const [index, problem] of problems.entries())
      t.ok(found[index]?.startsWith(problem), `${found[index]}`);
  }
});

t.test("conflicts between emitters are refused", async (t) => {
  const emitters = ["emitters: [{type: csv, params: {output_dir: out, filename_template: '{date}.csv'}}]"];
  const both = `tenants:\n${tenantText("acme", { settings: emitters })}${tenantText("globex", { settings: emitters })}`;
  holds(t, problemsOf(both), [/globex.*gives globex\/csv\/chargeback the files of acme\/csv\/chargeback/]);
  const monthly = "{type: csv, aggregation: monthly, params: {output_dir: out}}";
  holds(t, problemsOf(withEmitters(monthly, { tenant: ["retention_days: 230"] })), [
    /emitters\[0\]\.aggregation: is monthly, which needs retention_days of at least 231/,
  ]);
  t.same(problemsOf(withEmitters(monthly, { tenant: ["retention_days: 231"] })), []);
  const focus = "{type: focus, params: {location: out}}";
  holds(t, problemsOf(withEmitters(focus, { tenant: ["retention_days: 230"] })), [
    /emitters\[0\]\.type: is focus, whose files hold months, which needs retention_days of at least 231/,
  ]);
  t.same(problemsOf(withEmitters(focus, { tenant: ["retention_days: 231"] })), []);
  const long = withEmitters("{type: csv, params: {output_dir: out}}", { tenant_id: "\u00e4".repeat(40) });
  holds(t, problemsOf(long), [/filename_template: gives names of 255 bytes; at most 200 are allowed/]);
});

t.test("a FOCUS emitter does not write where the bills of its tenant are read", async (t) => {
  const ecosystems = new Map([["focus", focusSettings]]);
  const problems = (source: string, location: string) => {
    const written = `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    storage: { connection_string: "embedded:acme" }
    plugin_settings:
      sources: [{ name: cloud, location: '${source}' }]
      emitters: [{ type: focus, params: { location: '${location}' } }]`;
    const loaded = loadConfig(written, { file: "c.yaml", env: {}, ecosystems });
    return loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  for (const [source, location] of [
    ["bills", "bills"],
    ["bills", "bills/out"],
    ["bills/aws", "bills"],
    ["bills/*/part.csv", "bills/out"],
    ["s3://costs/bills", "s3://costs"],
  ] as const)
    holds(t, problems(source, location), [/emitters.*location: overlaps a source of the tenant/]);
  for (const [source, location] of [
    ["bills", "bills-out"],
    ["bills/aws", "bills/out"],
    ["s3://costs/bills", "s3://costs/bills-out"],
  ] as const)
    t.strictSame(problems(source, location), [], `${source} ${location}`);
});

t.test("no emitter's files have the names of another one's provisional files", async (t) => {
  const text = withEmitters(
    "{type: csv, params: {output_dir: out}}, {type: csv, name: b, params: {output_dir: out, filename_template: '{tenant_id}_{date}.provisional.csv'}}",
  );
  holds(t, problemsOf(text), [/gives .*\/b\/chargeback the files of .*\/csv\/chargeback/]);
});

t.test("topic_attribution may be a pipeline if it is enabled", async (t) => {
  const text = (enabled: boolean, more = "") => `tenants:
  acme:
    ecosystem: confluent_cloud
    tenant_id: acme
    storage: {connection_string: "embedded:acme"}
    plugin_settings:
      ccloud_api: {key: k, secret: s}
      metrics: {url: "http://p"}
      topic_attribution: {enabled: ${enabled}}
      emitters:
        - {type: csv, pipelines: [chargeback, topic_attribution]${more}, params: {output_dir: out, filename_template: "{pipeline}_{date}.csv"}}
`;
  const ecosystems = new Map([["confluent_cloud", confluentCloudSettings]]);
  const problems = (written: string) => {
    const loaded = loadConfig(written, { file: "c.yaml", env: {}, ecosystems });
    return loaded.ok ? [] : loaded.problems.map(({ message }) => message);
  };
  t.same(problems(text(true)), []);
  holds(t, problems(text(false)), [/names topic_attribution, which needs/]);
  holds(t, problems(text(true, ", aggregation: daily")), [/must be left out with topic_attribution/]);
  holds(t, problems(text(true).replace("{pipeline}_", "")), [
    /gives acme\/csv\/topic_attribution the files of acme\/csv\/chargeback/,
  ]);
});

t.test("any values give a valid file name, and different values give different names", async (t) => {
  const values = [
    "acme",
    "a/b",
    "a_b",
    "a%2Fb",
    "..",
    ".",
    "../../etc/passwd",
    "a\\b",
    "A b",
    "\u00e4",
    "=x",
    "-",
    "%",
  ];
  const names = values.map((tenantId) =>
    fileNameOf(csvEmitter("out"), { tenantId, tenantName: "t", pipeline: "p", firstDay: "2026-03-01" }),
  );
  for (const name of names) t.match(name, /^[A-Za-z0-9_%-][A-Za-z0-9._%-]*_2026-03-01\.csv$/);
  t.equal(new Set(names).size, values.length);
  t.equal(names[0], "acme_2026-03-01.csv");
  t.equal(names[6], "%2E.%2F..%2Fetc%2Fpasswd_2026-03-01.csv");
  const all = csvEmitter("out", {
    name: "e",
    params: { filename_template: "{tenant_name}-{emitter}-{pipeline}-{month}-{date}" },
  });
  const file = { tenantId: "i", tenantName: "t", pipeline: "p", firstDay: "2026-03-01" };
  t.equal(fileNameOf(all, file), "t-e-p-2026-03-2026-03-01");
  const provisional = { ...file, provisional: true };
  t.equal(fileNameOf(all, provisional), "t-e-p-2026-03-2026-03-01.provisional");
  t.equal(fileNameOf(csvEmitter("out"), provisional), "i_2026-03-01.provisional.csv");
  for (const template of [
    "a{",
    "}a",
    "{}",
    "{tenant_id}}",
    "a\u0000",
    "a/",
    "a\\",
    " a",
    "a.",
    "..",
    "{__proto__}",
  ])
    holds(t, parseTemplate(template), { problem: String }, template);
});
