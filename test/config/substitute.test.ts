import t from "tap";
import { substitute } from "../../src/config/reader/substitute.js";
import { holds } from "../holds.js";
import fc from "../property.js";
import { configOf, oneTenant, problemsOf } from "./loading.js";

const env = { A: "one", EMPTY: "", NESTED: `\${A}` };

const cases: [source: string, text: string][] = [
  ["plain $ and {} and } stay", "plain $ and {} and } stay"],
  [`\${A}`, "one"],
  [`x\${A}y\${A}z`, "xoneyonez"],
  [`\${EMPTY}`, ""],
  [`\${EMPTY:-default}`, ""],
  [`\${MISSING:-default}`, "default"],
  [`\${MISSING:-}`, ""],
  [`\${MISSING:-a:-b}`, "a:-b"],
  [`$\${A}`, `\${A}`],
  [`$$\${A}`, `$\${A}`],
  [`$\${\${A}`, `\${one`],
  [`\${NESTED}`, `\${A}`],
  [`\${MISSING:-$}\${A}`, "$one"],
];

for (const [source, text] of cases) {
  t.test(`${source} gives ${JSON.stringify(text)}`, async (t) => {
    holds(t, substitute(source, env), { text, problems: [] });
  });
}

t.test("a `${` in no known form is a problem, not a literal", async (t) => {
  const messages = (source: string) =>
    substitute(source, env).problems.map((problem) => problem.slice(0, 45));
  t.same(
    messages(`\${MISSING}`),
    ["environment variable MISSING is not set, and h"].map((text) => text.slice(0, 45)),
  );
  t.match(messages(`\${A`)[0], /no "}" closes/);
  t.match(messages(`\${}`)[0], /is not "\$\{NAME\}"/);
  t.match(messages(`\${1A}`)[0], /is not "\$\{NAME\}"/);
  t.match(messages(`\${A:default}`)[0], /is not "\$\{NAME\}"/);
  t.match(substitute(`\${MISSING:-\${A}}`, env).problems[0], /cannot hold another/);
  t.match(messages(`\${constructor}`)[0], /constructor is not set/);
  t.equal(messages(`\${MISSING}\${A}\${ALSO}`).length, 2);
});

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
const literal = fc.string().filter((text) => !text.includes(`\${`) && !text.endsWith("$"));

t.test(
  "property: text around variables is kept, values are literal, and defaults apply only to unset variables",
  async (t) => {
    const part = fc.oneof(
      literal.map((text) => ({ source: text, meant: () => text })),
      name.map((key) => ({
        source: `\${${key}:-d}`,
        meant: (env: Record<string, string>) => env[key] ?? "d",
      })),
      fc.constant({ source: `$\${`, meant: () => `\${` }),
    );
    fc.assert(
      fc.property(
        fc.array(part),
        fc.dictionary(name, fc.string(), { noNullPrototype: true }),
        (parts, env) => {
          const own = Object.fromEntries(Object.entries(env));
          const result = substitute(parts.map(({ source }) => source).join(""), own);
          const has = (key: string) => Object.hasOwn(own, key);
          const meant = parts.map((each) =>
            each.meant(
              Object.fromEntries(
                Object.keys(own)
                  .filter(has)
                  .map((key) => [key, own[key] ?? ""]),
              ),
            ),
          );
          return result.problems.length === 0 && result.text === meant.join("");
        },
      ),
    );
    t.pass("the property is true for all examples");
  },
);

t.test("property: no text makes substitution throw", async (t) => {
  const messy = fc
    .array(fc.constantFrom("$", "{", "}", ":-", "A", `\${`, `$\${`, " "))
    .map((parts) => parts.join(""));
  fc.assert(fc.property(messy, (source) => typeof substitute(source, env).text === "string"));
  t.pass("the property is true for all examples");
});

t.test("a substituted text is converted to the type of its key", async (t) => {
  const text = `api: {port: "\${P}", enable_cors: "\${C}"}\nlogging: {level: "\${L}"}\nfeatures: {refresh_interval: "1\${Z}0"}`;
  const config = configOf(text, { P: " 9090\n", C: "TRUE", L: "Warning", Z: "2" });
  t.equal(config.api.port, 9090);
  t.equal(config.api.enable_cors, true);
  t.equal(config.logging.level, "warn");
  t.equal(config.features.refresh_interval, 120);
});

t.test("a text that looks like a number stays text for a text key", async (t) => {
  const config = configOf(oneTenant({ tenant_id: `'\${ID}'` }), { ID: "0123" });
  t.equal(config.tenants.get("acme")?.tenant_id, "0123");
});

t.test("variables in keys and comments are not substituted", async (t) => {
  holds(t, problemsOf(`\${A}: 1 # \${NOT_SET}`, env), [/unknown key/]);
});

t.test("a variable with an empty value is a value, not a missing one", async (t) => {
  t.same(problemsOf(`api: {host: "\${EMPTY}"}`, env), [
    "1: api.host: must be a host name or an IP address (the value comes from the environment)",
  ]);
});
