/**
 * Completes the OpenAPI document that is generated from the routes' schemas. Schemas with a title become named
 * components, so that generated clients get one type for each and the document is a third as long. Every body gets an
 * example, and headers get descriptions.
 */
import { headerComponents, headersOf, requestHeaders } from "./headers.js";
import {
  type ApiDocument,
  type Components,
  type Content,
  mapOperations,
  type Operation,
  type Parameter,
  type Reference,
  type Response,
  refTo,
  resolvedSchema,
  type Schema,
} from "./openapi-types.js";
import { problemContent, problemSchema } from "./problems.js";
import { shareComponents } from "./shared.js";

export function completeDocument(document: ApiDocument): ApiDocument {
  const schemas = new Map<string, Schema>([["Problem", problemSchema]]);
  const hoist = (schema: Schema) => hoistTitled(schema, schemas);
  const hoisted = mapOperations(document, (operation) => hoistOperation(operation, hoist));
  const components: Components = {
    schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
    headers: headerComponents,
    securitySchemes: document.components?.securitySchemes ?? {},
  };
  const completed = mapOperations(hoisted, (operation) => completeOperation(operation, components));
  return shareComponents({ ...completed, components });
}

/** Moves schemas with a title to `schemas`, and replaces them with references. */
function hoistTitled(schema: Schema, schemas: Map<string, Schema>): Schema {
  const inner = withOptionalAuthor(mapSchemas(schema, (part) => hoistTitled(part, schemas)));
  if (inner.title === undefined) return inner;
  const { title, ...body } = inner;
  if (!schemas.has(title)) schemas.set(title, body);
  return refTo(title);
}

/** Makes fields optional that the service fills in for authenticated callers. */
function withOptionalAuthor(schema: Schema): Schema {
  const { required, properties = {} } = schema;
  if (required === undefined) return schema;
  return { ...schema, required: required.filter((name) => properties[name]?.["x-of-caller"] !== true) };
}

/**
 * Removes the type of additional properties beside named ones, and keeps its description. In TypeScript, the named
 * properties would have to be of that type as well, and generated clients would not compile requests with other types.
 */
function openBesideNamed({ properties = {}, additionalProperties: rest }: Schema): Partial<Schema> {
  if (Object.keys(properties).length === 0 || typeof rest !== "object") return {};
  return { additionalProperties: { description: rest.description ?? "" } };
}

function mapSchemas(schema: Schema, change: (schema: Schema) => Schema): Schema {
  const { properties, items, anyOf, additionalProperties: rest } = schema;
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, change(field)]),
      ),
    }),
    ...(items !== undefined && { items: change(items) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(change) }),
    ...(typeof rest === "object" && { additionalProperties: change(rest) }),
    ...openBesideNamed(schema),
  };
}

function mapContent(
  content: Readonly<Record<string, Content>>,
  change: (content: Content, type: string) => Content,
) {
  return Object.fromEntries(Object.entries(content).map(([type, each]) => [type, change(each, type)]));
}

function hoistOperation(operation: Operation, hoist: (schema: Schema) => Schema): Operation {
  const { requestBody, responses } = operation;
  const hoistContent = (content: Content, type: string): Content =>
    type === "application/problem+json"
      ? problemContent(content)
      : { ...content, schema: hoist(content.schema) };
  const hoistResponse = (response: Response | Reference) =>
    "$ref" in response || response.content === undefined
      ? response
      : { ...response, content: mapContent(response.content, hoistContent) };
  return {
    ...operation,
    ...(requestBody && {
      requestBody: {
        ...requestBody,
        // A body without required fields is optional.
        required: Object.values(requestBody.content).some(
          ({ schema }) => schema.type === "string" || (schema.required ?? []).length > 0,
        ),
        content: mapContent(requestBody.content, hoistContent),
      },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, hoistResponse(response)]),
    ),
  };
}

function completeOperation(operation: Operation, components: Components): Operation {
  const { requestBody, responses, parameters = [] } = operation;
  const withExample = (content: Content): Content =>
    content.example === undefined && content.examples === undefined
      ? { ...content, example: exampleOf(content.schema, components) }
      : content;
  const complete = (status: string, given: Response | Reference) => {
    if ("$ref" in given) return given;
    const { content, ...response } = given;
    return {
      ...response,
      headers: headersOf(status, operation, content),
      // Responses with 204 and 304 have no body.
      ...(content && status !== "204" && status !== "304" && { content: mapContent(content, withExample) }),
    };
  };
  return {
    ...operation,
    description: `${operation.description} ${requiredScopeOf(operation)}`,
    parameters: [...parameters.map(spread), ...requestHeaders(operation)],
    ...(requestBody && {
      requestBody: { ...requestBody, content: mapContent(requestBody.content, withExample) },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, complete(status, response)]),
    ),
  };
}

function requiredScopeOf({ "x-scope": scope = "" }: Operation): string {
  if (scope === "public") return "Needs no credentials.";
  return scope === "any" ? "Needs credentials with any scope." : `Needs the scope \`${scope}\`.`;
}

/**
 * The property that stands for all tag parameters is an object, each of whose fields is sent as a parameter of its own.
 */
function spread(parameter: Parameter | Reference): Parameter | Reference {
  if ("$ref" in parameter || parameter.schema["x-prefix"] === undefined) return parameter;
  return { ...parameter, style: "form", explode: true };
}

/** Builds examples of whole bodies from the examples of their fields, so that they are complete and never outdated. */
function exampleOf(schemaOrReference: Schema, components: Components): unknown {
  const schema = resolvedSchema(schemaOrReference, components);
  const [example] = schema.examples ?? schema.enum ?? [];
  if (example !== undefined) return example;
  if (schema.default !== undefined) return schema.default;
  if (schema.properties !== undefined) {
    const fields = Object.entries(schema.properties);
    return Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(field, components)]));
  }
  if (schema.items !== undefined) return [exampleOf(schema.items, components)];
  const [first] = [...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  if (first !== undefined) return exampleOf(first, components);
  return schema.type === "boolean" ? true : undefined;
}
