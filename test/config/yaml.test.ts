import t from "tap";
import { holds } from "../holds.js";
import fc from "../property.js";
import { configOf, loadYaml, oneTenant, problemsOf, tenantText } from "./loading.js";

const cases: [name: string, text: string, problems: (string | RegExp)[]][] = [
  ["a list as the root", "- a", ["1: the file must contain a mapping of keys to values"]],
  ["a word as the root", "hello", ["1: the file must contain a mapping of keys to values"]],
  ["tabs as indentation", "api:\n\tport: 1", [/^2: tabs cannot indent/]],
  [
    "a key twice",
    "api: {}\nlogging: {}\napi: {}",
    ["3: the key api stands here and in line 1; it may stand once"],
  ],
  ["two documents", "api: {}\n---\napi: {}", [/^2: the file contains more than one YAML document/]],
  ["an open bracket", "api: {port: 1", [/^1: .*a bracket or a quote is not closed/]],
  [
    "a query in braces without quotes, once for all that follows",
    "a: { query: sum(increase(x[1h])) }\nb: { c: 1 }\nd: { e: 2 }",
    [/^1: is not valid YAML here: put a value in quotes if it contains `\[`/],
  ],
  [
    "a selector in braces without quotes",
    'a: { query: up{job="x"}, b: 1 }\nb: { c: 1 }',
    [/^1: .*put a value in quotes/],
  ],
  [
    "a selector with a range that is not in quotes",
    'a: {job="x"}[5m]\nb: 1',
    [/^1: .*put a value in quotes/],
  ],
  ["tabs in two lines", "a:\n\tb: 1\n\tc: 1", [/^2: tabs cannot indent/, /^3: tabs cannot indent/]],
  ["an alias without an anchor", "api: *nowhere", [/^1: an alias .* needs an anchor/]],
  ["an unknown tag", "api: !secret x", ["1: this YAML tag (`!…`) is not supported"]],
  ["a mapping as a key", "? {a: b}\n: 1", ["1: a key must be a scalar, not a mapping or a list"]],
  ["a merge of a word", "api: {<<: x}", ["1: `<<` takes a mapping or a list of mappings"]],
];

for (const [name, text, problems] of cases) {
  t.test(`${name} is a problem with its line`, async (t) => {
    const found = problemsOf(text);
    t.equal(found.length, problems.length, found.join("\n"));
    holds(t, found, problems);
  });
}

t.test("an empty file and a file of comments are valid and have no tenants", async (t) => {
  for (const text of ["", "# nothing\n", "---\n", "tenants:\napi:\n", "\uFEFF", "\r\n"])
    t.equal(configOf(text).tenants.size, 0);
});

t.test("syntax problems never quote the surrounding text", async (t) => {
  for (const text of [
    "a: 'hunter2",
    "a: [hunter2}",
    'a: "\\hunter2"',
    "hunter2: b: hunter2",
    "a: @hunter2",
    "hunter2: 1\nhunter2 !: 2: 3",
  ]) {
    const result = loadYaml(text);
    t.notOk(result.ok);
    t.notMatch(
      result.ok ? "" : JSON.stringify(result.problems.map(({ message }) => message)),
      /hunter2/,
      text,
    );
  }
});

t.test(
  "anchors, aliases and merge keys work, and a mapping's own entries override merged ones",
  async (t) => {
    const text = [
      "tenants:",
      "  a: &a",
      "    ecosystem: generic_metrics_only",
      "    tenant_id: a",
      "    lookback_days: 30",
      "    storage: {connection_string: embedded:a}",
      "    plugin_settings: {cluster_id: k, cost_types: [&type {name: A, product_category: c, rate: 1, cost_quantity: {type: fixed, count: 1}, allocation_strategy: even_split}, {<<: *type, name: B}]}",
      "  b:",
      "    <<: [{cutoff_days: 7}, *a, {cutoff_days: 8, retention_days: 300}]",
      "    tenant_id: b",
      "    storage: {connection_string: embedded:b}",
    ].join("\n");
    const b = configOf(text).tenants.get("b");
    holds(t, b, {
      tenant_id: "b",
      lookback_days: 30,
      cutoff_days: 7,
      retention_days: 300,
      storage: { database: "b" },
    });
  },
);

t.test("an anchor that contains itself is a problem", async (t) => {
  holds(t, problemsOf("api: &a\n  host: *a"), [/nested too deeply, or in itself/]);
  holds(t, problemsOf("api: &a\n  <<: *a"), [/nested too deeply, or in itself/]);
});

t.test("nested aliases cannot expand exponentially", async (t) => {
  const levels = Array.from({ length: 12 }, (_, level) => {
    const inner = level === 0 ? "x" : `*a${level - 1}`;
    return `k${level}: &a${level} [${Array.from({ length: 12 }, () => inner).join(", ")}]`;
  });
  holds(t, problemsOf(levels.join("\n")), [/holds more than 250000 values/]);
});

t.test("thousands of brackets are a problem, not a crash", async (t) => {
  for (const text of ["[".repeat(50_000), "{a: ".repeat(20_000), "- ".repeat(20_000)]) {
    t.equal(problemsOf(text)[0], "1: nested too deeply");
  }
});

t.test("property: any text gives a configuration or problems", async (t) => {
  const words = [
    "api:",
    "tenants:",
    "\n",
    "  ",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "&a",
    "*a",
    "<<:",
    "'",
    '"',
    "|",
    ">",
    "!",
    "%",
    "---",
    "\t",
    "#",
    "? ",
    `\${A}`,
    "null",
    "acme:",
  ];
  const messy = fc
    .array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...words) }, fc.string()))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(messy, (text) => typeof loadYaml(text).ok === "boolean"),
    { numRuns: 2000 },
  );
  t.pass("the property is true for all examples");
});

t.test("keys such as constructor are ordinary keys", async (t) => {
  holds(t, problemsOf("constructor: 1\n__proto__: {a: 1}\ntoString: x"), [
    /^1: .*unknown key/,
    /^2: .*unknown key/,
    /^3: .*unknown key/,
  ]);
  const config = configOf(`tenants:\n${tenantText("constructor")}`);
  t.equal(config.tenants.get("constructor")?.tenant_name, "constructor");
  t.equal(config.tenants.get("toString"), undefined);
});

t.test("a principal named __proto__ keeps its team", async (t) => {
  const settings = ["identity_source: {source: static, principal_to_team: {__proto__: x, p: y}}"];
  const tenant = configOf(oneTenant({ settings })).tenants.get("acme");
  const source: unknown = Reflect.get(tenant?.plugin_settings ?? {}, "identity_source");
  t.match(JSON.stringify(source), /"principal_to_team":\{"__proto__":"x","p":"y"\}/);
});
