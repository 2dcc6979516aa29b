import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { loadConfig } from "../../src/config/load.js";
import { formatProblem } from "../../src/config/reader/problem.js";
import { genericMetricsOnlySettings } from "../../src/ingest/ecosystems/generic_metrics_only/settings.js";
import { ecosystems as allEcosystems } from "../../src/ingest/ecosystems/registry.js";
import { temporaryFolder } from "../stores.js";
import { oneTenant } from "./loading.js";

/** An ecosystem with an additional column and a metric. */
const ecosystems = new Map([
  [
    "generic_metrics_only",
    {
      ...genericMetricsOnlySettings,
      lineColumns: () => ({ BilledCost: { sql: "billed_cost", type: "decimal" as const } }),
      usageMetrics: () => ["cpu"],
    } as const,
  ],
]);

/** Loads the allocation of a tenant `acme` in YAML's flow style. */
function loadAllocation(allocation: string, folder = "/srv") {
  const text = oneTenant({ tenant: [`allocation: ${allocation}`] });
  return loadConfig(text, { file: join(folder, "c.yaml"), env: {}, ecosystems, folder });
}

const P = "tenants.acme.allocation.";

/** Returns the problems without file, line and the common path. */
function problemsOf(allocation: string, folder?: string): string[] {
  const loaded = loadAllocation(allocation, folder);
  if (loaded.ok) return [];
  return loaded.problems.map((each) =>
    formatProblem({ ...each, file: "" })
      .replace(/^:\d+: /, "")
      .replace(P, ""),
  );
}

/** Returns the problems of one rule with this `where`. */
const ofWhere = (where: string) => problemsOf(`{rules: [{name: a, where: ${where}, split: [{by: line}]}]}`);
/** Returns the problems of one rule with this `split`. */
const ofSplit = (split: string) => problemsOf(`{rules: [{name: a, split: ${split}}]}`);

t.test("a tenant without identity sources and rules reads assignments", async (t) => {
  const loaded = loadAllocation("{}");
  t.strictSame(loaded.ok && loaded.config.tenants.get("acme")?.allocation, {
    decimal_places: 4,
    identity: [{ assigned: "resource_id" }],
    rules: [],
    pass_on: [],
  });
});

t.test("every form of a rule is read as written", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "accounts.csv"), '\uFEFFvalue,identity\n123,team-a\n"4,5",team b\n\n');
  const loaded = loadAllocation(
    `{identity: [{tag: team}, {column: env_id, map: ./accounts.csv}, {column: resource_id, pattern: '^x:(\\d+):(?<identity>[a-z]+)'}],
      rules: [
        {name: kept, where: {product_type: "*Tax*"}, allocation: keep},
        {name: b-2, where: {tag.cluster: [x, "y*"], currency: {not: EUR}, env_id: {matches: "^p", exists: true}, any: [{resource_id: r}, {tag.a b: {exists: false}}]},
         components: [{ratio: 0.70, split: [{by: usage, metric: cpu}, {by: even, among: [i, j]}]}, {ratio: "0.3", split: [{by: fixed, shares: {i: 3, j: 0.5}}]}]},
        {name: rest, split: [{by: line}, {by: owner}, {by: even, among: tenant_period}, {by: cost, within: env_id, over: month, exclude: [idle, "kube-*"]}, {by: cost, of: direct}, {by: nobody}], stage: 2}]}`.replaceAll(
      "\n",
      " ",
    ),
    folder,
  );
  if (!loaded.ok) return t.fail(loaded.problems.map(formatProblem).join("\n"));
  const tenant = loaded.config.tenants.get("acme");
  t.strictSame(
    [...(tenant?.identity_maps.get("./accounts.csv")?.entries ?? [])],
    [
      ["123", "team-a"],
      ["4,5", "team b"],
    ],
  );
  t.strictSame(tenant?.allocation.rules, [
    { name: "kept", where: { product_type: "*Tax*" }, allocation: "keep" },
    {
      name: "b-2",
      where: {
        any: [{ resource_id: "r" }, { "tag.a b": { exists: false } }],
        "tag.cluster": ["x", "y*"],
        currency: { not: "EUR" },
        env_id: { matches: "^p", exists: true },
      },
      components: [
        {
          ratio: "0.7",
          split: [
            { by: "usage", metric: "cpu" },
            { by: "even", among: ["i", "j"] },
          ],
        },
        { ratio: "0.3", split: [{ by: "fixed", shares: { i: "3", j: "0.5" } }] },
      ],
    },
    {
      name: "rest",
      split: [
        { by: "line" },
        { by: "owner" },
        { by: "even", among: "tenant_period" },
        { by: "cost", of: "allocated", within: "env_id", over: "month", exclude: ["idle", "kube-*"] },
        { by: "cost", of: "direct", over: "day" },
        { by: "nobody" },
      ],
      stage: 2,
    },
  ]);
});

t.test("an invalid `where` of a rule is refused", async (t) => {
  const cases: [where: string, problems: string[]][] = [
    [
      "{product_typ: a}",
      ["rules[0].where.product_typ: is no column of the lines; did you mean `product_type`?"],
    ],
    [
      "{ServiceName: a}",
      [
        "rules[0].where.ServiceName: is no column of the lines; known: resource_id, product_type, product_category, env_id, currency, BilledCost, and tag.KEY for tags",
      ],
    ],
    [
      "{tag.: a}",
      [
        'rules[0].where["tag."]: the key must be a column of the lines, such as product_type, or a tag, such as tag.team',
      ],
    ],
    ["{env_id: []}", ["rules[0].where.env_id: must be a list from 1 to 10000 entries, not 0"]],
    ["{env_id: 12}", ["rules[0].where.env_id: must be text: put it in quotes, not 12"]],
    ["{any: []}", ["rules[0].where.any: must be a list from 1 to 1000 entries, not 0"]],
    [
      "{any: [{}]}",
      ["rules[0].where.any[0]: is empty, so that every line matches: give a column or leave any out"],
    ],
    [
      "{env_id: {exists: false, matches: a}}",
      [
        "rules[0].where.env_id.exists: can never match together with the other keys: a column or tag that does not " +
          "exist has no value",
      ],
    ],
    ["{env_id: {}}", ["rules[0].where.env_id: is empty: give not, matches, exists, above or below"]],
    [
      "{env_id: {above: 3, below: 3}}",
      ["rules[0].where.env_id.below: can never match: nothing is above 3 and below 3"],
    ],
    ["{BilledCost: x}", ["rules[0].where.BilledCost: is a number: compare it by above and below"]],
    ["{BilledCost: {above: 0, below: 3.5}}", []],
    [
      "{BilledCost: {matches: x}}",
      ["rules[0].where.BilledCost.matches: is for texts: compare a number by above and below"],
    ],
    ["{env_id: {above: 3}}", ["rules[0].where.env_id.above: is for numbers, and this is a text"]],
    ['{env_id: {not: [a, "*"]}}', ["rules[0].where.env_id.not: can never match: `*` matches every text"]],
    [
      "{env_id: {like: a}}",
      ["rules[0].where.env_id.like: unknown key; known here: not, matches, exists, above, below"],
    ],
  ];
  for (const [where, problems] of cases) t.strictSame(ofWhere(where), problems, where);
  for (const pattern of ["a(?=b)", "(a)\\\\1", "a(?!b)", "[", "(?<!a)b"]) {
    const [problem = "", ...more] = ofWhere(`{env_id: {matches: "${pattern}"}}`);
    t.match(problem, /^rules\[0\]\.where\.env_id\.matches: is not a regular expression of RE2/, pattern);
    t.strictSame(more, [], pattern);
  }
});

t.test("a column that FOCUS does not have is refused with the nearest name", async (t) => {
  const problems = (column: string) => {
    const text = `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    storage: { connection_string: "embedded:acme" }
    plugin_settings: { sources: [{ name: a, location: /bills }] }
    allocation: { identity: [{ column: ${column} }], rules: [{ name: r, where: { ${column}: x }, split: [{ by: cost, within: ${column} }] }] }`;
    const loaded = loadConfig(text, { file: "c.yaml", env: {}, ecosystems: allEcosystems, folder: "/srv" });
    return loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  for (const column of ["PrincipalId", "SubAccountName", "SkuPriceDetails", "ProviderName", "PublisherName"])
    t.strictSame(problems(column), [], column);
  const near = [
    ["RegionID", "RegionId"],
    ["PrincipleId", "PrincipalId"],
    ["SkuPriceDetail", "SkuPriceDetails"],
  ] as const;
  for (const [column, meant] of near) {
    const refusal = `is no column of the lines; did you mean \`${meant}\`?`;
    t.strictSame(problems(column), [
      `${P}identity[0].column: ${refusal}`,
      `${P}rules[0].where.${column}: ${refusal}`,
      `${P}rules[0].split[0].within: ${refusal}`,
    ]);
  }
  t.strictSame(problems("EffectiveCost"), [
    `${P}identity[0].column: is a number: an identity is text`,
    `${P}rules[0].where.EffectiveCost: is a number: compare it by above and below`,
    `${P}rules[0].split[0].within: is a number: lines are grouped by a text`,
  ]);
});

t.test("an invalid split of a rule is refused", async (t) => {
  const cases: [split: string, problems: string[]][] = [
    ["[]", ["rules[0].split: must be a list from 1 to 10 entries, not 0"]],
    [
      "[{by: magic}]",
      ['rules[0].split[0].by: must be one of line, owner, usage, cost, fixed, even, nobody, not "magic"'],
    ],
    ["[{by: usage, metric: bytes}]", ["rules[0].split[0].metric: is no metric of this tenant; known: cpu"]],
    ["[{by: usage}]", ["rules[0].split[0]: needs metric or metrics"]],
    ["[{by: nobody}, {by: line}]", ["rules[0].split[1]: is behind nobody, which allocates everything"]],
    [
      "[{by: line}, {by: cost}, {by: line}]",
      ["rules[0].split[2]: is tried before: it can never find a recipient"],
    ],
    [
      "[{by: even, among: [a]}, {by: line}]",
      ["rules[0].split[1]: is behind a list of identities, which allocates everything"],
    ],
    ["[{by: even, among: [a, a]}]", ["rules[0].split[0].among[1]: is named twice"]],
    ["[{by: fixed, shares: {}}]", ["rules[0].split[0].shares: names nobody"]],
    [
      "[{by: cost, within: nothing}]",
      [
        "rules[0].split[0].within: is no column of the lines; known: resource_id, product_type, product_category, env_id, currency, BilledCost, and tag.KEY for tags",
      ],
    ],
    [
      "[{by: cost, within: currency}]",
      ["rules[0].split[0].within: is needless: costs always weigh within their currency"],
    ],
  ];
  for (const [split, problems] of cases) t.strictSame(ofSplit(split), problems, split);
  t.match(
    ofSplit("[{by: cost, of: all}]").join(),
    /split\[0\]\.of: must be one of allocated, direct, not "all"/,
  );
  t.match(ofSplit("[{by: cost, exclude: [UNALLOCATED]}]").join(), /exclude\[0\]: must be an identity/);
  t.match(ofSplit("[{by: fixed, shares: {a: 0}}]").join(), /must be a decimal above 0/);
  t.match(ofSplit("[{by: fixed, shares: {UNALLOCATED: 1}}]").join(), /other than UNALLOCATED/);
});

t.test("a stage needs allocated costs to weigh by, and a stage before it", async (t) => {
  const ofRules = (...rules: string[]) => problemsOf(`{rules: [${rules.join(", ")}]}`);
  const rule = (name: string, more: string) => `{name: ${name}, where: {env_id: ${name}}, ${more}}`;
  t.strictSame(
    ofRules(rule("a", "split: [{by: cost}], stage: 2"), rule("b", "split: [{by: cost}], stage: 3")),
    [],
  );
  t.strictSame(ofRules(rule("a", "split: [{by: cost}]"), rule("b", "split: [{by: cost}], stage: 3")), []);
  t.strictSame(ofRules(rule("a", "split: [{by: line}], stage: 2")), [
    "rules[0].stage: is only for a rule that splits by cost, `of: allocated`",
  ]);
  t.strictSame(ofRules(rule("a", "split: [{by: cost, of: direct}], stage: 2")), [
    "rules[0].stage: is only for a rule that splits by cost, `of: allocated`",
  ]);
  t.strictSame(
    ofRules(rule("a", "split: [{by: cost}], stage: 4"), rule("b", "split: [{by: cost}], stage: 2")),
    ["rules[0].stage: has no rule of stage 3 before it"],
  );
  for (const stage of ["1", "9", "2.5"])
    t.match(ofRules(rule("a", `split: [{by: cost}], stage: ${stage}`)).join(), /rules\[0\]\.stage: must be/);
});

t.test("a step passes on what somebody still has, to those who can still receive it", async (t) => {
  const ofSteps = (...steps: string[]) => problemsOf(`{pass_on: [${steps.join(", ")}]}`);
  const step = (name: string, from: string, split = "[{by: cost}]", more = "") =>
    `{name: ${name}, from: ${from}, split: ${split}${more}}`;
  t.strictSame(
    ofSteps(
      step("idle", "[idle]", "[{by: cost, within: resource_id}, {by: nobody}]", ", where: {env_id: a}"),
      step("rest-of-idle", "[idle]"),
      step("platform", '["kube-*", infra]', "[{by: even, among: [shop]}]"),
      step("nobody", "[UNALLOCATED]"),
      step("nobody-again", "[UNALLOCATED]", "[{by: fixed, shares: {shop: 1}}]"),
    ),
    [],
  );
  t.strictSame(ofSteps(step("a", "[idle, idle]")), ["pass_on[0].from[1]: is named twice"]);
  t.strictSame(ofSteps(step("a", '[kube-system, "kube-*"]')), [
    "pass_on[0].from[0]: is named twice: a glob matches it as well",
  ]);
  t.strictSame(ofSteps(step("a", '["*"]')), [
    "pass_on[0].from[0]: matches everybody, so that nobody is left to pay",
  ]);
  t.strictSame(ofSteps(step("a", '["kube-*"]'), step("b", '[kube-system, "kube-node-*"]')), [
    "pass_on[1].from: can never find a cost: step a passes all of it on",
  ]);
  t.strictSame(ofSteps(step("a", "[idle]", "[{by: even, among: [shop, idle]}]")), [
    "pass_on[0].split[0].among[1]: can receive nothing: step a passes its costs on",
  ]);
  t.strictSame(
    ofSteps(step("a", '["i*"]'), step("b", "[x]", '[{by: fixed, shares: {shop: 1, idle: "2"}}]')),
    ["pass_on[1].split[0].shares.idle: can receive nothing: step a passes its costs on"],
  );
  t.strictSame(ofSteps(step("a", "[idle]", "[{by: line}]")), [
    "pass_on[0].split[0].by: is for rules: a step passes on what was allocated already",
  ]);
  t.match(ofSteps(step("a", "[idle]", "[{by: cost, within: nothing}]")).join(), /is no column of the lines/);
  t.match(ofSteps(step("a", "[idle]", "[{by: cost}]", ", where: {nothing: a}")).join(), /is no column/);
  t.match(ofSteps(step("a", "[x]"), step("a", "[y]")).join(), /pass_on\[1\]\.name: /);
  t.match(ofSteps(step("a", "[]")).join(), /pass_on\[0\]\.from: /);
});

t.test("costs of a month need all days of the month while one of them is gathered", async (t) => {
  const rules = "allocation: {rules: [{name: a, split: [{by: cost, over: month}]}]}";
  const problems = (retention: number) => {
    const text = oneTenant({ tenant: ["lookback_days: 20", `retention_days: ${retention}`, rules] });
    const loaded = loadConfig(text, { file: "c.yaml", env: {}, ecosystems, folder: "/srv" });
    return loaded.ok ? [] : loaded.problems.map(({ message }) => message);
  };
  t.strictSame(problems(50), ["is month, which needs retention_days of at least 51 (lookback_days + 31)"]);
  t.strictSame(problems(51), []);
});

t.test("impossible rules are refused", async (t) => {
  const line = "split: [{by: line}]";
  const cases: [rules: string, problems: string[]][] = [
    [
      `{name: A, ${line}}`,
      [
        'rules[0].name: must be 1 to 63 lower case letters, digits and `-`, starting with a letter or a digit, not "A"',
      ],
    ],
    [
      `{name: a, where: {env_id: x}, ${line}}, {name: a, ${line}}`,
      ["rules[1].name: is the same as that of entry [0]; it must be unique"],
    ],
    [
      `{name: a, ${line}}, {name: b, where: {env_id: x}, ${line}}`,
      ["rules[1]: can never take a line: rule a before it takes all of them"],
    ],
    [
      `{name: a, where: {env_id: "*"}, ${line}}, {name: b, ${line}}`,
      ["rules[1]: can never take a line: rule a before it takes all of them"],
    ],
    [
      `{name: a, where: {env_id: [x, y]}, ${line}}, {name: b, where: {env_id: [y, x]}, ${line}}`,
      ["rules[1]: can never take a line: rule a before it takes the same ones"],
    ],
    ["{name: a}", ["rules[0]: needs split, components or allocation"]],
    [`{name: a, ${line}, allocation: keep}`, ["rules[0].allocation: excludes split: give one of the two"]],
    [
      "{name: a, components: [{ratio: 0.7, split: [{by: line}]}, {ratio: 0.2, split: [{by: owner}]}]}",
      ["rules[0].components: has ratios that add up to 0.9, not to 1"],
    ],
  ];
  for (const [rules, problems] of cases) t.strictSame(problemsOf(`{rules: [${rules}]}`), problems, rules);
});

t.test("invalid identity sources are refused", async (t) => {
  const folder = temporaryFolder(t);
  const cases: [source: string, problems: string[]][] = [
    ["{}", ["identity[0]: needs assigned, tag or column"]],
    [
      "{assigned: env_id}",
      [
        'identity[0].assigned: must be "resource_id", not "env_id"',
        "identity[0]: needs assigned, tag or column",
      ],
    ],
    [
      "{assigned: resource_id, map: m.csv, ignore_case: true}",
      [
        "identity[0].map: excludes assigned: give one of the two",
        "identity[0].ignore_case: excludes assigned: give one of the two",
      ],
    ],
    ["{tag: a, column: env_id}", ["identity[0].column: excludes tag: give one of the two"]],
    [
      "{column: what}",
      [
        "identity[0].column: is no column of the lines; known: resource_id, product_type, product_category, env_id, currency, BilledCost, and tag.KEY for tags",
      ],
    ],
    [
      "{column: env_id, pattern: '(x)'}",
      ["identity[0].pattern: needs a group named identity: (?<identity>…)"],
    ],
    ["{column: env_id, map: none.csv}", ["identity[0].map: does not exist"]],
  ];
  for (const [source, problems] of cases)
    t.strictSame(problemsOf(`{identity: [${source}]}`, folder), problems, source);
  const files: [content: string | Buffer, problem: string][] = [
    ["a,b\n", "must start with the header value,identity, and may also have valid_from and valid_to"],
    ["", "must start with the header value,identity, and may also have valid_from and valid_to"],
    ["value,identity\na,b\nc,d\na,e\n", 'line 4 has the value "a" of line 2 again'],
    ["value,identity\na\n", "line 2 has 1 fields, not 2"],
    ["value,identity\na,\n", "line 2 has no identity"],
    ["value,identity\n,b\n", "line 2 has no value"],
    ["value,identity\na,UNALLOCATED\n", "line 2 names UNALLOCATED, which is nobody"],
    ["value,identity\na,b\u0007c\n", "line 2 has control characters"],
    [Buffer.from([0xff, 0xfe, 0x61]), "is not UTF-8 text"],
  ];
  for (const [content, problem] of files) {
    writeFileSync(join(folder, "m.csv"), content);
    t.strictSame(
      problemsOf("{identity: [{column: env_id, map: m.csv}]}", folder),
      [`identity[0].map: ${problem}`],
      problem,
    );
  }
  writeFileSync(join(folder, "m.csv"), 'value,identity\n"a,b\n');
  t.match(
    problemsOf("{identity: [{column: env_id, map: m.csv}]}", folder).join(),
    /identity\[0\]\.map: is not CSV/,
  );
});

t.test(
  "an identity set that the ecosystem does not gather is refused, and so is owner without owners",
  async (t) => {
    const problemsWith = (tenant: object) => {
      const rules = [
        { name: "a", where: { resource_id: "a" }, split: [{ by: "owner" }, { by: "nobody" }] },
        ...["resource_active", "metrics_derived", "tenant_period"].map((among) => ({
          name: among.replace("_", "-"),
          where: { resource_id: among },
          split: [{ by: "even", among }],
        })),
      ];
      const text = JSON.stringify({
        tenants: {
          acme: {
            tenant_id: "acme",
            storage: { connection_string: "embedded:acme" },
            allocation: { rules },
            ...tenant,
          },
        },
      });
      const loaded = loadConfig(text, { file: "c.yaml", env: {}, ecosystems: allEcosystems, folder: "/srv" });
      return loaded.ok
        ? []
        : loaded.problems.map(
            ({ path, message }) => `${path.replace("tenants.acme.allocation.rules", "")} ${message}`,
          );
    };
    const metrics = { url: "http://prometheus:9090" };
    const cost_model = Object.fromEntries(
      [
        "compute_hourly_rate",
        "storage_per_gib_hourly",
        "network_ingress_per_gib",
        "network_egress_per_gib",
      ].map((rate) => [rate, "1"]),
    );
    const kafka = { cluster_id: "k", broker_count: 1, cost_model, metrics };
    const static_identities = [{ identity_id: "ann" }];
    const noOwners = "[0].split[0].by finds no recipient: resources of this tenant have no owners";
    const unknown = (index: number, known: string) =>
      `[${index}].split[0].among is no set that is gathered of this tenant; known: ${known}`;
    const ccloud_api = { key: "k", secret: "s" };
    const of = (ecosystem: string, plugin_settings: object) => problemsWith({ ecosystem, plugin_settings });
    t.strictSame(of("confluent_cloud", { ccloud_api, metrics }), []);
    t.strictSame(of("confluent_cloud", { ccloud_api }), [unknown(2, "resource_active, tenant_period")]);
    t.strictSame(
      of("self_managed_kafka", { ...kafka, identity_source: { source: "both", static_identities } }),
      [noOwners, unknown(3, "resource_active, metrics_derived")],
    );
    t.strictSame(of("self_managed_kafka", kafka), [
      noOwners,
      unknown(1, "metrics_derived"),
      unknown(3, "metrics_derived"),
    ]);
    const none = "none, so list the identities";
    t.strictSame(of("focus", { sources: [{ name: "a", location: "/bills" }] }), [
      noOwners,
      ...[1, 2, 3].map((index) => unknown(index, none)),
    ]);
  },
);
