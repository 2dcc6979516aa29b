import { readFileSync } from "node:fs";
import { join } from "node:path";
import { KindGuard } from "@sinclair/typebox";
import { Ajv } from "ajv";
import t from "tap";
import { parse } from "yaml";
import { projectRoot } from "../../src/common/project.js";
import { referenceDocument, schemaDocument } from "../../src/config/documents.js";
import { type JsonSchema, jsonSchema } from "../../src/config/reader/json-schema.js";
import { notesOf } from "../../src/config/reader/setting.js";
import { configSchema } from "../../src/config/schema.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { filesBelow } from "../compiled.js";
import { allSettings } from "./all-settings.js";
import { loadYaml, oneTenant, problemsOf } from "./loading.js";

const committed = (name: string) => readFileSync(join(projectRoot(), name), "utf8");

t.test("the committed reference page is what the definitions give (npm run docs:config)", async (t) => {
  t.equal(committed("docs/reference/configuration.md"), referenceDocument(ecosystems));
});

t.test("every setting has a description and is on the page", async (t) => {
  const page = referenceDocument(ecosystems);
  for (const [path, schema] of allSettings(configSchema(ecosystems), "")) {
    t.ok(notesOf(schema).description, path);
    const key = /\.([a-z_]+)$/.exec(path)?.[1];
    if (key !== undefined) t.ok(page.includes(`| \`${key}\` |`), path);
  }
});

t.test("every integer has bounds or states that it has none, and every default is allowed", async (t) => {
  for (const [path, schema] of allSettings(configSchema(ecosystems), "")) {
    if (KindGuard.IsInteger(schema)) t.type(schema.minimum, "number", path);
    if (!("default" in schema) || KindGuard.IsObject(schema)) continue;
    const [, section, key] = path.split(".");
    if (path.split(".").length !== 3) continue;
    t.ok(loadYaml(JSON.stringify({ [section ?? ""]: { [key ?? ""]: schema.default } })).ok, path);
  }
});

const schema: JsonSchema = JSON.parse(schemaDocument(ecosystems));
const accepts = new Ajv({ strict: false }).compile(schema);
const schemaAccepts = (text: string) => accepts(parse(text, { merge: true }) ?? {});

t.test("the JSON Schema is below 150 KB and, with its references resolved, has every setting", async (t) => {
  t.ok(schemaDocument(ecosystems).length < 150_000);
  const { $schema: _, title: __, $defs, ...root } = schema;
  const definitions = $defs as { [name: string]: unknown };
  const named = new Set<string>();
  const withoutReferences = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (_, each) => {
      if (each?.$ref === undefined) return each;
      const name = String(each.$ref).replace("#/$defs/", "");
      named.add(name);
      return withoutReferences(definitions[name]);
    });
  t.strictSame(withoutReferences(root), JSON.parse(JSON.stringify(jsonSchema(configSchema(ecosystems)))));
  t.strictSame([...named].sort(), Object.keys(definitions).sort());
});

t.test("the JSON Schema accepts every file that names it, and none with a wrong key", async (t) => {
  const files = ["examples", "deploy"].flatMap((name) => filesBelow(join(projectRoot(), name), ".yaml"));
  const texts = files.map((file): [string, string] => [file, readFileSync(file, "utf8")]);
  const named = texts.filter(([, text]) => text.startsWith("# yaml-language-server: $schema="));
  t.equal(named.length, 6);
  for (const [file, text] of named) {
    t.ok(schemaAccepts(text), file);
    for (const key of ["tenants", "connection_string"]) {
      const wrong = text.replace(new RegExp(`([\\s{])${key}:`), `$1${key}_:`);
      t.not(wrong, text, `${file} has ${key}`);
      t.notOk(schemaAccepts(wrong), `${key}_ in ${file}`);
    }
  }
});

t.test("the JSON Schema accepts what the reader accepts", async (t) => {
  const texts = [
    "{}",
    "tenants:\napi:\n",
    `api: {port: "\${PORT:-1}", enable_cors: "\${CORS:-true}"}\nlogging: {level: CRITICAL}`,
    "api: {port: '9000', enable_cors: 'TRUE', cors_origins: ['*']}\nlogging: {level: Warning, format: pretty}",
    oneTenant(),
    oneTenant({ settings: ["emitters: []", "allocator_params: {}", "metrics: {url: http://p}"] }),
    committed("examples/chargehouse.yaml"),
  ];
  for (const text of texts) {
    t.same(problemsOf(text), [], text);
    t.ok(schemaAccepts(text), text);
  }
});

t.test("reader and JSON Schema agree on every integer, boolean and choice", async (t) => {
  const values = [
    "0",
    "1",
    "-1",
    "-2",
    "5",
    "64",
    "65",
    "70000",
    "99999999",
    "1.5",
    "true",
    "x",
    "json",
    "info",
    "[]",
    "{}",
    "[1]",
  ];
  let compared = 0;
  for (const [path, schema] of allSettings(configSchema(ecosystems), "")) {
    const [, section = "", key = "", tenantKey = ""] = path.split(".");
    const kind = [KindGuard.IsInteger, KindGuard.IsBoolean, KindGuard.IsUnion].some((is) => is(schema));
    const tenant = path.startsWith(".tenants.*.") && path.split(".").length === 4;
    if (!kind || !(tenant || path.split(".").length === 3)) continue;
    for (const value of values) {
      const text = tenant
        ? oneTenant({ tenant: [`${tenantKey}: ${value}`] })
        : `${section}: {${key.endsWith("[]") ? `${key.slice(0, -2)}: [${value}]` : `${key}: ${value}`}}`;
      const refused = problemsOf(text).some((problem) =>
        /: must be (?!greater than cutoff_days|at least lookback_days)/.test(problem),
      );
      t.equal(schemaAccepts(text), !refused, text);
      compared++;
    }
  }
  t.ok(compared > 200);
});

t.test("the JSON Schema refuses unknown keys, missing ones and unsupported ones", async (t) => {
  const texts = [
    "apii: {}",
    "tenants: {acme: {}}",
    "tenants: {'a b': {}}",
    oneTenant({ tenant: ["cutoff_day: 1"] }),
    oneTenant({ settings: ["emitters: [{type: csv}]"] }),
    oneTenant({ tenant_id: "7" }),
  ];
  for (const text of texts) {
    t.not(problemsOf(text).length, 0, text);
    t.notOk(schemaAccepts(text), text);
  }
});
