import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import t, { type Test } from "tap";
import { projectRoot } from "../../src/common/project.js";
import {
  type ApiDocument,
  type Content,
  operationsOf,
  referred,
  resolvedParameter,
  resolvedResponse,
  type Schema,
} from "../../src/http/description/openapi-types.js";
import { appWithoutStores, openapiDocument } from "../../src/http/description/write-documents.js";
import { errorTable } from "../../src/http/errors.js";
import { holds } from "../holds.js";

const committed = readFileSync(join(projectRoot(), "docs/reference/openapi.json"), "utf8");

/** The interface requires these. The committed document shows the rest. */
const interfaceOperations = `
GET /health
GET /api/v1/readiness
GET /api/v1/tenants
GET /api/v1/tenants/{tenant_name}/status
GET /api/v1/tenants/{tenant_name}/billing
GET /api/v1/tenants/{tenant_name}/chargebacks
GET /api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}
PATCH /api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}
GET /api/v1/tenants/{tenant_name}/chargebacks/dates
GET /api/v1/tenants/{tenant_name}/chargebacks/allocation-issues
GET /api/v1/tenants/{tenant_name}/chargebacks/aggregate
GET /api/v1/tenants/{tenant_name}/resources
GET /api/v1/tenants/{tenant_name}/identities
GET /api/v1/tenants/{tenant_name}/inventory/summary
GET /api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}/tags
POST /api/v1/tenants/{tenant_name}/chargebacks/{dimension_id}/tags
GET /api/v1/tenants/{tenant_name}/tags
PATCH /api/v1/tenants/{tenant_name}/tags/{tag_id}
DELETE /api/v1/tenants/{tenant_name}/tags/{tag_id}
POST /api/v1/tenants/{tenant_name}/tags/bulk
POST /api/v1/tenants/{tenant_name}/tags/bulk-by-filter
POST /api/v1/tenants/{tenant_name}/pipeline/run
GET /api/v1/tenants/{tenant_name}/pipeline/status
POST /api/v1/tenants/{tenant_name}/export`;

/** These errors are found before the operation is known. */
const ofNoOperation = [
  "path_not_found",
  "method_not_allowed",
  "unreadable_request",
  "request_incomplete",
  "headers_too_large",
];

t.test("GET /openapi.json", async (t) => {
  const app = await appWithoutStores("1.2.3");
  t.teardown(() => app.close());
  const received = await app.inject({ url: "/openapi.json" });
  const document: ApiDocument = received.json();
  const { components = {} } = document;
  const operations = operationsOf(document);

  await t.test("the document is valid OpenAPI 3.1", async (t) => {
    t.match(received.headers["content-type"], /^application\/json/);
    holds(t, document, { openapi: "3.1.0", info: { title: "chargehouse", version: "1.2.3" } });
    t.same(await new Validator().validate(received.json()), { valid: true });
  });

  await t.test("the document has every operation of the interface", async (t) => {
    const there = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    for (const operation of interfaceOperations.trim().split("\n"))
      t.ok(there.includes(operation), operation);
  });

  await t.test("operation ids are unique, and every tag is described", async (t) => {
    const ids = operations.map(({ operation }) => operation.operationId);
    t.equal(new Set(ids).size, ids.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of operations)
      t.ok(tags.includes(operation.tags[0] ?? ""), operation.operationId);
  });

  for (const { method, path, operation } of operations) {
    await t.test(`${method} ${path} is described to the last field`, async (t) => {
      for (const each of ["operationId", "summary", "description", "tags"] as const)
        t.ok(operation[each].length, each);
      for (const given of operation.parameters ?? []) {
        const parameter = resolvedParameter(given, components);
        t.ok(parameter.description, `parameter ${parameter.name}`);
        // An amount belongs to a day, and a history to an object, so no example fits all of them.
        const ofOne = path.endsWith("/history") ? ["resource_id", "identity_id"] : ["date"];
        const isNeeded = parameter.in === "path" || [...ofOne, "Idempotency-Key"].includes(parameter.name);
        t.equal(parameter.required ?? false, isNeeded, `${parameter.name} may be left out`);
        t.ok(parameter.example !== undefined || hasExample(parameter.schema), `example of ${parameter.name}`);
      }
      for (const [status, given] of Object.entries(operation.responses)) {
        const response = resolvedResponse(given, components);
        t.ok(response.description && response.description !== "Default Response", `response ${status}`);
        t.ok(response.headers?.["X-Request-Id"], `headers of ${status}`);
        for (const { schema } of Object.values(response.content ?? {})) described(t, schema, status);
      }
      for (const { schema } of Object.values(operation.requestBody?.content ?? {}))
        described(t, schema, "body");
    });

    await t.test(`${method} ${path} says which errors it gives`, async (t) => {
      // Liveness documents no errors.
      const wanted = new Set(path === "/health" ? [] : ["400", "421", "500"]);
      if (method !== "get") wanted.add("403");
      // Liveness, metrics and the text of a statement do not wait for a store. Readiness has an object of its own for
      // 503.
      if (path.includes("{tenant_name}")) wanted.add("404");
      if (path.includes("{tenant_name}") && !path.endsWith("/sql"))
        for (const status of ["503", "504"]) wanted.add(status);
      if (operation.requestBody) wanted.add("413");
      for (const status of wanted) t.ok(operation.responses[status], status);
      for (const [status, given] of Object.entries(operation.responses)) {
        const content = resolvedResponse(given, components).content?.["application/problem+json"];
        for (const [code, { status: ofCode }] of Object.entries(errorTable))
          if (content?.examples?.[code]) t.equal(String(ofCode), status, code);
      }
    });
  }

  for (const [name, schema] of Object.entries(components.schemas ?? {}))
    await t.test(`${name} is described to the last field`, async (t) => described(t, schema, name));

  await t.test("every error code is documented at the operations where it can occur", async (t) => {
    const documented = new Set(
      Object.values(components.responses ?? {}).flatMap(({ content = {} }) =>
        Object.keys(content["application/problem+json"]?.examples ?? {}),
      ),
    );
    for (const code of Object.keys(errorTable)) {
      t.equal(documented.has(code), !ofNoOperation.includes(code), code);
    }
  });

  await t.test("every body has an example that fits its schema", async (t) => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    ajv.addSchema(document, "api");
    const fits = (schema: Schema, value: unknown, what: string) => {
      const { $ref } = schema;
      const validate = ajv.compile($ref === undefined ? { ...schema, components } : { $ref: `api${$ref}` });
      t.ok(validate(value), `${what}: ${JSON.stringify(validate.errors)}`);
    };
    for (const { operation } of operations) {
      const { operationId, requestBody, responses } = operation;
      const bodies = Object.entries(responses).flatMap(([status, given]) =>
        Object.entries(resolvedResponse(given, components).content ?? {}).map(
          ([type, content]): [string, Content] => [`${operationId} ${status} ${type}`, content],
        ),
      );
      for (const content of Object.values(requestBody?.content ?? {}))
        bodies.push([`${operationId} body`, content]);
      for (const [what, { schema, example, examples = {} }] of bodies) {
        const values = example === undefined ? Object.values(examples).map(({ value }) => value) : [example];
        // Parquet, Arrow and ZIP are not text.
        t.ok(values.length > 0 || /application\/(vnd\.|zip)/.test(what), `${what} has an example`);
        for (const value of values) fits(schema, value, what);
      }
    }
    for (const parameter of Object.values(components.parameters ?? {}))
      if (parameter.example !== undefined) fits(parameter.schema, parameter.example, parameter.name);
  });
});

t.test("docs/reference/openapi.json is up to date (npm run docs:api)", async (t) => {
  const openapi = await openapiDocument();
  t.same(JSON.parse(committed), JSON.parse(openapi));
  t.equal(committed, openapi, "to the byte");
});

function hasExample(schema: Schema): boolean {
  return (
    [schema.examples, schema.enum, schema.const, schema.default].some((value) => value !== undefined) ||
    schema.type === "boolean"
  );
}

function described(t: Test, schema: Schema, path: string): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const ofComponent = referred(property) ?? property.anyOf?.some((each) => referred(each));
    t.ok(property.description || ofComponent || isNarrowing(schema), `description of ${path}.${name}`);
    described(t, property, `${path}.${name}`);
  }
  if (schema.items) described(t, schema.items, `${path}[]`);
  for (const each of [...(schema.anyOf ?? []), ...(schema.allOf ?? [])]) described(t, each, path);
}

/** `status` and `code` are described once for all errors. */
function isNarrowing({ properties = {} }: Schema): boolean {
  return Object.keys(properties).join() === "status,code";
}
