/** The setting `columns` of `focus` tenants: its forms, its refusals, and rules that name declared columns. */
import t from "tap";
import { loadConfig } from "../../src/config/load.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";

const P = "tenants.acme.plugin_settings.columns";

function load(columns: string, allocation = "{}") {
  const text = `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    storage: { connection_string: "embedded:acme" }
    allocation: ${allocation}
    plugin_settings:
      sources: [{ name: a, location: /bills }]
      columns: ${columns}`;
  return loadConfig(text, { file: "c.yaml", env: {}, ecosystems, folder: "/srv" });
}

/** Returns the problems without the path of the setting. */
function problemsOf(columns: string, allocation?: string): string[] {
  const loaded = load(columns, allocation);
  return loaded.ok ? [] : loaded.problems.map(({ path, message }) => `${path}: ${message}`.replace(P, ""));
}

t.test("columns of any name, standard columns and paths can be declared", async (t) => {
  for (const columns of [
    "[]",
    "[x_CostCenter, oci_ReferenceNumber, Owner, PricingCategory, SkuPriceDetails, BillingPeriodStart]",
    "[PrincipalId, PublisherName, regionname]",
    "[{name: model, path: SkuPriceDetails.ModelId}, {name: center, path: Cost Center}]",
    "[{name: app, path: [AllocatedTags, app.kubernetes.io/name]}, {name: x_a, path: x_Json.a.b.c}]",
    `[${Array.from({ length: 32 }, (_, index) => `x_${index}`).join(", ")}]`,
  ])
    t.strictSame(problemsOf(columns), [], columns);
  t.strictSame(problemsOf(`[${Array.from({ length: 33 }, (_, index) => `x_${index}`).join(", ")}]`), [
    ": must be a list of at most 32 entries, not 33",
  ]);
});

t.test("a declaration that cannot work is refused", async (t) => {
  const taken = "is the name of another column of the lines or of their chargebacks";
  const cases: [columns: string, problems: string[]][] = [
    ["[RegionNames]", ["[0]: is no column of FOCUS; did you mean `RegionName`?"]],
    [
      "[{name: m, path: SkuPriceDetail.Id}]",
      ["[0].path: is no column of FOCUS; did you mean `SkuPriceDetails`?"],
    ],
    ["[Tags]", ["[0]: is kept anyway: group and filter by `line_tag:KEY`"]],
    ["[{name: team, path: Tags.team}]", ["[0].path: is kept anyway: group and filter by `line_tag:KEY`"]],
    ["[ListUnitPrice]", ["[0]: is a number, and lines are grouped by texts"]],
    ["[EffectiveCost]", ["[0]: is a number, and lines are grouped by texts"]],
    ["[{name: a, path: RegionName.a}]", ["[0].path: reads keys of RegionName, which is not JSON"]],
    ["[{name: a, path: x_A..b}]", ["[0].path: has an empty name"]],
    ["[{name: a, path: .b}]", ["[0].path: has an empty name"]],
    ["[x_A, x_a]", ["[1]: is declared before"]],
    ["[x_A, {name: X_A, path: x_B}]", ["[1].name: is declared before"]],
    ["[resource_id]", [`[0]: ${taken}`]],
    ["[{name: line_tags, path: x_A}]", [`[0].name: ${taken}`]],
    ["[{name: identity_id, path: x_A}]", [`[0].name: ${taken}`]],
    ["[{name: RegionId, path: x_A}]", [`[0].name: ${taken}`]],
    ["[{name: providername, path: x_A}]", [`[0].name: ${taken}`]],
    ["[{name: any, path: x_A}]", [`[0].name: ${taken}`]],
    ["[{name: a}]", ["[0].path: is required: a text or a list of texts"]],
    ["[{name: a, path: []}]", ["[0].path: must be a list from 1 to 10 entries, not 0"]],
  ];
  for (const [columns, problems] of cases) t.strictSame(problemsOf(columns), problems, columns);
  for (const name of ["9a", '"a b"', '"column:a"', '""', `"${"a".repeat(101)}"`]) {
    t.match(problemsOf(`[${name}]`).join(), /^\[0\]: must be a column: 1 to 100 letters/, name);
    t.match(
      problemsOf(`[{name: ${name}, path: x_A}]`).join(),
      /^\[0\]\.name: must be 1 to 100 letters/,
      name,
    );
  }
});

t.test("rules can name declared columns, and no others", async (t) => {
  const using = (name: string) =>
    `{identity: [{column: ${name}}], rules: [{name: r, where: {${name}: x}, split: [{by: cost, within: ${name}}]}]}`;
  t.strictSame(problemsOf("[x_CostCenter]", using("x_CostCenter")), []);
  t.strictSame(problemsOf("[{name: model, path: SkuPriceDetails.Id}]", using("model")), []);
  t.strictSame(problemsOf("[x_CostCenter]", "{identity: [{column: x_CostCentre}]}"), [
    "tenants.acme.allocation.identity[0].column: is no column of the lines; did you mean `x_CostCenter`?",
  ]);
  t.match(
    problemsOf("[]", "{identity: [{column: x_CostCenter}]}").join(),
    /identity\[0\]\.column: is no column of the lines; known: resource_id, .*, and tag\.KEY for tags/,
  );
  t.strictSame(problemsOf("[9a, x_B]", "{identity: [{column: x_Any}], rules: []}").length, 1);
  t.strictSame(
    problemsOf("[9a]", "{rules: [{name: r, where: {BilledCost: {above: 1}}, split: [{by: line}]}]}").length,
    1,
  );
});
