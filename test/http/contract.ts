/**
 * Checks every response of a service under test against the service's own OpenAPI document. Its status, content type
 * and shape have to be documented. The check runs before the serializer, which drops and converts what does not fit,
 * and again on the sent bytes.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  type ApiDocument,
  type Operation,
  operationsOf,
  resolvedResponse,
  type Schema,
} from "../../src/http/description/openapi-types.js";

const PROBLEM = "application/problem+json";

/** Describes what is wrong with a response. Returns undefined if nothing is. */
export type Judge = (received: ContractResponse) => string | undefined;

export interface ContractResponse {
  /** Undefined for paths and methods that the API does not have. */
  readonly operationId: string | undefined;
  readonly status: number;
  readonly type: string | undefined;
  /** The parsed JSON. Undefined if only status and type are checked. */
  readonly body: unknown;
}

export function judgeOf(document: ApiDocument): Judge {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  formats.default(ajv);
  ajv.addSchema(closed(document), "api");
  const operations = new Map(
    operationsOf(document).map(({ operation }) => [operation.operationId, operation]),
  );
  const compiled = new Map<string, ValidateFunction>();
  const validator = (pointer: string) => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `api#/${pointer}` });
    compiled.set(pointer, known);
    return known;
  };
  return ({ operationId, status, type, body }) => {
    const fault = (what: string) =>
      `${operationId ?? "no operation"}: ${status} ${type ?? "without a type"}: ${what}`;
    const operation = operations.get(operationId ?? "");
    const pointer =
      operation === undefined
        ? type === PROBLEM && "components/schemas/Problem"
        : schemaPointer(operation, { status, type }, document);
    if (pointer === false) return fault("is not documented");
    if (pointer === undefined || body === undefined) return undefined;
    const valid = validator(pointer);
    if (valid(body)) return undefined;
    const [first] = valid.errors ?? [];
    return fault(
      `${first?.instancePath} ${first?.message} ${JSON.stringify(first?.params)} in ${JSON.stringify(body)?.slice(0, 1000)}`,
    );
  };
}

/**
 * Finds the schema of the body in the document. Returns undefined if the response has no body, and false if the
 * response is not documented.
 */
function schemaPointer(
  operation: Operation,
  { status, type }: Pick<ContractResponse, "status" | "type">,
  document: ApiDocument,
): string | undefined | false {
  const given = operation.responses[status];
  if (given === undefined) return false;
  const response = resolvedResponse(given, document.components ?? {});
  if (response.content === undefined) return type === undefined ? undefined : false;
  if (type === undefined || response.content[type] === undefined) return false;
  const at = operationsOf(document).find((each) => each.operation.operationId === operation.operationId);
  const escaped = (name: string) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
  const home =
    "$ref" in given
      ? given.$ref.slice(2)
      : `paths/${escaped(at?.path ?? "")}/${at?.method}/responses/${status}`;
  return `${home}/content/${escaped(type)}/schema`;
}

/** Closes every object of the document, so that a field that is not documented is a fault. */
function closed(value: unknown): object {
  const close = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(close);
    if (typeof each !== "object" || each === null) return each;
    const copy: Record<string, unknown> = Object.fromEntries(
      Object.entries(each).map(([key, inner]) => [
        key,
        key === "example" || key === "examples" ? inner : close(inner),
      ]),
    );
    const { type, properties, additionalProperties }: Schema = copy;
    const isNarrowing = copy.required === undefined;
    const open = additionalProperties !== undefined || isNarrowing || "patternProperties" in copy;
    return type === "object" && properties !== undefined && !open
      ? { ...copy, unevaluatedProperties: false }
      : copy;
  };
  return Object.assign({}, close(value));
}

/** Returns the faults so far. Call it before the first request. */
export function holdContract(app: FastifyInstance): readonly string[] {
  const faults: string[] = [];
  let judge: Judge | undefined;
  const look = (request: FastifyRequest, reply: FastifyReply, type: string | undefined, body: unknown) => {
    // Pages and files are for people, so they are not operations.
    if (/^\/($|\?|docs|openapi\.json|assets\/|tenants\/|sign-in|access|audit)/.test(request.url)) return;
    // An aborted client receives nothing, and a preflight belongs to no operation.
    if (reply.statusCode === 499 || (request.method === "OPTIONS" && reply.statusCode === 204)) return;
    judge ??= judgeOf(documentOf(app));
    const operationId = request.routeOptions.schema?.operationId;
    const fault = judge({ operationId, status: reply.statusCode, type, body });
    if (fault !== undefined) faults.push(`${request.method} ${request.url.slice(0, 300)}: ${fault}`);
  };
  app.addHook("preSerialization", async (request, reply, payload) => {
    const isProblem = String(reply.getHeader("content-type") ?? "").startsWith(PROBLEM);
    look(request, reply, isProblem ? PROBLEM : "application/json", JSON.parse(JSON.stringify(payload)));
    return payload;
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const type = reply.getHeader("content-type");
    const name = typeof type === "string" ? type.split(";", 1)[0] : undefined;
    const isJson = name === "application/json" || name === PROBLEM;
    look(request, reply, name, isJson && typeof payload === "string" ? JSON.parse(payload) : undefined);
    return payload;
  });
  return faults;
}

export function documentOf(app: FastifyInstance): ApiDocument {
  return JSON.parse(JSON.stringify(app.swagger()));
}
