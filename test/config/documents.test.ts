import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { KindGuard } from "@sinclair/typebox";
import Fastify from "fastify";
import t from "tap";
import { parse } from "yaml";
import { referenceDocument, schemaDocument } from "../../src/config/documents.js";
import { projectRoot } from "../../src/config/project.js";
import { configSchema } from "../../src/config/schema.js";
import { notesOf } from "../../src/config/setting.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { settings } from "./all-settings.js";
import { load, oneTenant, problemsOf } from "./loading.js";

const committed = (name: string) => readFile(join(projectRoot(), name), "utf8");

t.test("the committed JSON Schema is what the definitions give (npm run docs:config)", async (t) => {
  t.equal(await committed("chargehouse.schema.json"), schemaDocument(ecosystems));
});

t.test("the committed reference page is what the definitions give (npm run docs:config)", async (t) => {
  t.equal(await committed("docs/reference/configuration.md"), referenceDocument(ecosystems));
});

t.test("every setting has a description and is on the page", async (t) => {
  const page = referenceDocument(ecosystems);
  for (const [path, schema] of settings(configSchema(ecosystems), "")) {
    t.ok(notesOf(schema).description, path);
    const key = /\.([a-z_]+)$/.exec(path)?.[1];
    if (key !== undefined) t.ok(page.includes(`| \`${key}\` |`), path);
  }
});

t.test("every integer has bounds or states that it has none, and every default is allowed", async (t) => {
  for (const [path, schema] of settings(configSchema(ecosystems), "")) {
    if (KindGuard.IsInteger(schema)) t.type(schema.minimum, "number", path);
    if (!("default" in schema) || KindGuard.IsObject(schema)) continue;
    const [, section, key] = path.split(".");
    if (path.split(".").length !== 3) continue;
    t.ok(load(JSON.stringify({ [section ?? ""]: { [key ?? ""]: schema.default } })).ok, path);
  }
});

/** Returns a function that validates a document with the JSON Schema, with the validator of Fastify. */
async function jsonSchemaCheck(): Promise<(text: string) => Promise<boolean>> {
  const customOptions = {
    coerceTypes: false,
    removeAdditional: false,
    useDefaults: false,
    allErrors: false,
  } as const;
  const app = Fastify({ ajv: { customOptions } });
  app.post("/", { schema: { body: JSON.parse(schemaDocument(ecosystems)) } }, async () => "taken");
  await app.ready();
  t.teardown(() => app.close());
  return async (text) => {
    const payload = JSON.stringify(parse(text, { merge: true }) ?? {});
    const response = await app.inject({
      method: "POST",
      url: "/",
      payload,
      headers: { "content-type": "application/json" },
    });
    return response.statusCode === 200;
  };
}

t.test("the JSON Schema accepts what the reader accepts", async (t) => {
  const taken = await jsonSchemaCheck();
  const texts = [
    "{}",
    "tenants:\napi:\n",
    `api: {port: "\${PORT:-1}", enable_cors: "\${CORS:-true}"}\nlogging: {level: CRITICAL}`,
    "api: {port: '9000', enable_cors: 'TRUE', cors_origins: ['*']}\nlogging: {level: Warning, format: pretty}",
    oneTenant(),
    oneTenant({ settings: ["emitters: []", "allocator_params: {}", "metrics: {url: http://p}"] }),
    await committed("examples/chargehouse.yaml"),
  ];
  for (const text of texts) {
    t.same(problemsOf(text), [], text);
    t.ok(await taken(text), text);
  }
});

t.test("reader and JSON Schema agree on every integer, boolean and choice", async (t) => {
  const taken = await jsonSchemaCheck();
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
  for (const [path, schema] of settings(configSchema(ecosystems), "")) {
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
      t.equal(await taken(text), !refused, text);
      compared++;
    }
  }
  t.ok(compared > 200);
});

t.test("the JSON Schema refuses unknown keys, missing ones and unsupported ones", async (t) => {
  const taken = await jsonSchemaCheck();
  const texts = [
    "apii: {}",
    "tenants: {acme: {}}",
    "tenants: {'a b': {}}",
    oneTenant({ tenant: ["cutoff_day: 1"] }),
    oneTenant({ settings: ["emitters: [{type: csv}]"] }),
    oneTenant({ tenant_id: "7" }),
    oneTenant({ costTypes: "[]" }),
  ];
  for (const text of texts) {
    t.not(problemsOf(text).length, 0, text);
    t.notOk(await taken(text), text);
  }
});
