/**
 * Completes the document that comes from the routes' schemas by what is the same everywhere: shared schemas stand once and have a name
 * (generated clients get one type for each, and the document is a third as long), every body has an example, headers are described.
 */
import type {
  ApiDocument,
  Components,
  Content,
  Operation,
  Parameter,
  Reference,
  Response,
  Schema,
} from "./document.js";
import { mapOperations, refTo } from "./document.js";
import { exampleOf } from "./examples.js";
import { headerComponents, headersOf, requestHeaders } from "./headers.js";
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

/** Schemas with a title go to `schemas`; what is left in their place refers to them. */
function hoistTitled(schema: Schema, schemas: Map<string, Schema>): Schema {
  const inner = optionalOfCaller(mapSchemas(schema, (each) => hoistTitled(each, schemas)));
  if (inner.title === undefined) return inner;
  const { title, ...body } = inner;
  if (!schemas.has(title)) schemas.set(title, body);
  return refTo(title);
}

/** What the service fills in for callers who are known may be left out, if not by everybody. */
function optionalOfCaller(schema: Schema): Schema {
  const { required, properties = {} } = schema;
  if (required === undefined) return schema;
  return { ...schema, required: required.filter((name) => properties[name]?.["x-of-caller"] !== true) };
}

/**
 * Fields of any name beside named ones: their type is left to the description, because TypeScript holds the named ones to it as
 * well, and no request with a field of another type compiles.
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
        // A body that needs no field need not be there.
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
      // These have no body at all.
      ...(content && status !== "204" && status !== "304" && { content: mapContent(content, withExample) }),
    };
  };
  return {
    ...operation,
    description: `${operation.description} ${needOf(operation)}`,
    parameters: [...parameters.map(spread), ...requestHeaders(operation)],
    ...(requestBody && {
      requestBody: { ...requestBody, content: mapContent(requestBody.content, withExample) },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, complete(status, response)]),
    ),
  };
}

function needOf({ "x-scope": scope = "" }: Operation): string {
  if (scope === "public") return "Needs no credentials.";
  return scope === "any" ? "Needs credentials, whatever their scopes." : `Needs the scope \`${scope}\`.`;
}

/** A property that stands for parameters of a prefix is an object whose fields are parameters each. */
function spread(parameter: Parameter | Reference): Parameter | Reference {
  if ("$ref" in parameter || parameter.schema["x-prefix"] === undefined) return parameter;
  return { ...parameter, style: "form", explode: true };
}
