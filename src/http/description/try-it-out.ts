/**
 * Prepares the document for the page at /docs, which fills its forms with the examples and sends them. This removes the
 * examples that would filter rows, name things that do not exist, or change data by accident.
 */
import {
  type ApiDocument,
  type Components,
  type Content,
  mapOperations,
  type Parameter,
  type Reference,
  resolvedSchema,
  type Schema,
} from "./openapi-types.js";

export function forTrying(document: ApiDocument, tenants: readonly string[]): ApiDocument {
  const { components = {} } = document;
  const blankUnlessReference = (parameter: Parameter | Reference) =>
    "$ref" in parameter ? parameter : blankParameter(parameter, tenants);
  const shared = Object.entries(components.parameters ?? {});
  const blank = mapOperations(document, (operation) => ({
    ...operation,
    ...(operation.parameters && { parameters: operation.parameters.map(blankUnlessReference) }),
    ...(operation.requestBody && {
      requestBody: {
        ...operation.requestBody,
        content: Object.fromEntries(
          Object.entries(operation.requestBody.content).map(([type, content]) => [
            type,
            blankBody(content, components),
          ]),
        ),
      },
    }),
  }));
  const parameters = Object.fromEntries(
    shared.map(([name, parameter]) => [name, blankParameter(parameter, tenants)]),
  );
  return { ...blank, components: { ...components, parameters } };
}

function blankParameter({ example: _, ...parameter }: Parameter, tenants: readonly string[]): Parameter {
  const { examples: __, ...schema } = parameter.schema;
  if (parameter.name === "tenant_name" && tenants.length > 0)
    return { ...parameter, schema: { ...schema, enum: tenants, default: tenants[0] } };
  // Without an example, the page would invent fields for the object.
  return schema.type === "object" ? { ...parameter, schema, example: {} } : { ...parameter, schema };
}

/** Keeps only the required fields, and empties them: the service refuses the request until they are filled in. */
function blankBody({ examples: _, ...content }: Content, components: Components): Content {
  const { properties = {}, required = [] } = resolvedSchema(content.schema, components);
  const example = Object.fromEntries(required.map((name) => [name, blankOf(properties[name] ?? {})]));
  return { ...content, example };
}

function blankOf({ type }: Schema): unknown {
  return type === "array" ? [] : type === "string" ? "" : null;
}
