/**
 * The document as the page at /docs has it. That page fills its forms with whatever examples there are, and sends them: here nothing is
 * left that filters, names what does not exist, or could be written by accident.
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
} from "./document.js";

export function forTrying(document: ApiDocument, tenants: readonly string[]): ApiDocument {
  const { components = {} } = document;
  const parameter = (given: Parameter | Reference) =>
    "$ref" in given ? given : blankParameter(given, tenants);
  const shared = Object.entries(components.parameters ?? {});
  const blank = mapOperations(document, (operation) => ({
    ...operation,
    ...(operation.parameters && { parameters: operation.parameters.map(parameter) }),
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
    shared.map(([name, given]) => [name, blankParameter(given, tenants)]),
  );
  return { ...blank, components: { ...components, parameters } };
}

function blankParameter({ example: _, ...parameter }: Parameter, tenants: readonly string[]): Parameter {
  const { examples: __, ...schema } = parameter.schema;
  if (parameter.name === "tenant_name" && tenants.length > 0)
    return { ...parameter, schema: { ...schema, enum: tenants, default: tenants[0] } };
  // The page makes up fields for an object that it has no example of.
  return schema.type === "object" ? { ...parameter, schema, example: {} } : { ...parameter, schema };
}

/** Required fields alone, and those empty: the service refuses them until they are filled in. */
function blankBody({ examples: _, ...content }: Content, components: Components): Content {
  const { properties = {}, required = [] } = resolvedSchema(content.schema, components);
  const example = Object.fromEntries(required.map((name) => [name, blankOf(properties[name] ?? {})]));
  return { ...content, example };
}

function blankOf({ type }: Schema): unknown {
  return type === "array" ? [] : type === "string" ? "" : null;
}
