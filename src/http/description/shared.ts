/** Moves parameters and error responses that several operations share to the components of the document. */
import {
  type ApiDocument,
  type Components,
  mapOperations,
  type Operation,
  type Parameter,
  type Response,
} from "./openapi-types.js";

export function shareComponents(document: ApiDocument): ApiDocument {
  const parameters = new Map<string, Parameter>();
  const responses = new Map<string, Response>();
  const shared = mapOperations(document, (operation) => ({
    ...operation,
    parameters: (operation.parameters ?? []).map((parameter) =>
      "$ref" in parameter ? parameter : shareParameter(parameter, parameters),
    ),
    responses: shareResponses(operation, responses),
  }));
  const components: Components = {
    ...document.components,
    parameters: Object.fromEntries(parameters),
    responses: Object.fromEntries([...responses].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  return { ...shared, components };
}

/** The first parameter of a name becomes a component. A different one of the same name stays where it is. */
function shareParameter(parameter: Parameter, parameters: Map<string, Parameter>) {
  // A component's name has no colon.
  const name = parameter.name.replaceAll(":", "_");
  const first = parameters.get(name) ?? parameter;
  if (JSON.stringify(first) !== JSON.stringify(parameter)) return parameter;
  parameters.set(name, first);
  return { $ref: `#/components/parameters/${name}` };
}

/** Names responses by their codes, as identifiers of generated clients: `TenantNotFoundOrTagNotFoundProblem`. */
function shareResponses({ responses }: Operation, shared: Map<string, Response>): Operation["responses"] {
  const entries = Object.entries(responses).map(([status, response]) => {
    const examples =
      "$ref" in response ? undefined : response.content?.["application/problem+json"]?.examples;
    if (examples === undefined || "$ref" in response) return [status, response];
    const name = `${Object.keys(examples).map(pascalCase).join("Or")}Problem`;
    shared.set(name, response);
    return [status, { $ref: `#/components/responses/${name}` }];
  });
  return Object.fromEntries(entries);
}

function pascalCase(code: string): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
