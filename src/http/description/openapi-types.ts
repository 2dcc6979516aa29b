/** Types and helpers for OpenAPI 3.1 documents, for the parts of OpenAPI that are used here. */

export interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly contentMediaType?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly "x-prefix"?: string;
  /** The service fills the field in with the name of an authenticated caller. */
  readonly "x-of-caller"?: boolean;
}

interface DocumentExample {
  readonly summary?: string;
  readonly value: unknown;
}

export interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, DocumentExample>>;
}

export interface Header {
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

/** A reference to a component. */
export interface Reference {
  readonly $ref: string;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Readonly<Record<string, Content>>;
}

export interface Parameter {
  readonly in: "query" | "path" | "header";
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
  readonly style?: "form";
  readonly explode?: boolean;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Required scope. */
  readonly "x-scope"?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly description?: string;
    readonly content: Readonly<Record<string, Content>>;
  };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

type Method = "get" | "post" | "patch" | "delete";

export interface Components {
  readonly schemas?: Readonly<Record<string, Schema>>;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly parameters?: Readonly<Record<string, Parameter>>;
  readonly responses?: Readonly<Record<string, Response>>;
  readonly securitySchemes?: Readonly<Record<string, unknown>>;
}

export interface ApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<Method, Operation>>>>>;
  readonly components?: Components;
}

export interface OperationAt {
  readonly path: string;
  readonly method: Method;
  readonly operation: Operation;
}

export function operationsOf({ paths }: Pick<ApiDocument, "paths">): OperationAt[] {
  const methods: readonly Method[] = ["get", "post", "patch", "delete"];
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ path, method, operation }];
    }),
  );
}

export function mapOperations(
  document: ApiDocument,
  change: (operation: Operation) => Operation,
): ApiDocument {
  const paths = Object.entries(document.paths).map(([path, item]) => [
    path,
    Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, change(operation)])),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

export const refTo = (name: string): Reference => ({ $ref: `#/components/schemas/${name}` });

/** Returns the name of the component that a reference points to. */
export function referred({ $ref }: Partial<Reference>): string | undefined {
  return $ref?.split("/").at(-1);
}

export function resolvedSchema(schema: Schema, { schemas }: Components): Schema {
  const name = referred(schema);
  return name === undefined ? schema : (schemas?.[name] ?? {});
}

export function resolvedParameter(parameter: Parameter | Reference, { parameters }: Components): Parameter {
  return "$ref" in parameter ? found(parameters, parameter) : parameter;
}

export function resolvedResponse(response: Response | Reference, { responses }: Components): Response {
  return "$ref" in response ? found(responses, response) : response;
}

function found<Component>(
  components: Readonly<Record<string, Component>> = {},
  { $ref }: Reference,
): Component {
  const component = components[referred({ $ref }) ?? ""];
  if (component === undefined) throw new Error(`the document has no ${$ref}`);
  return component;
}
