/** A custom validator: Ajv's defaults coerce types, put input into messages and stop at the first error. */
import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import type { FastifySchemaCompiler } from "fastify";
import { type InputProblem, invalidRequest } from "../errors.js";
import { expected } from "./expected.js";
import { readJson } from "./read-json.js";
import { readQuery } from "./read-query.js";
import { readText } from "./read-text.js";

export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  if (httpPart === "querystring" && KindGuard.IsObject(schema)) {
    return (query) => outcome((problems) => readQuery(schema, isRecord(query) ? query : {}, problems));
  }
  if (httpPart === "params" && KindGuard.IsObject(schema)) {
    return (params) => outcome((problems) => readPath(schema, isRecord(params) ? params : {}, problems));
  }
  // The handler reads this body as a stream.
  if (httpPart === "body" && schema.contentMediaType !== undefined) return (value) => ({ value });
  // A missing body is validated like an empty object.
  if (httpPart === "body") return (body) => outcome((problems) => readJson(schema, body ?? {}, "", problems));
  return (value) => ({ value });
};

function outcome(read: (problems: InputProblem[]) => unknown) {
  const problems: InputProblem[] = [];
  const value = read(problems);
  return problems.length === 0 ? { value } : { error: invalidRequest(problems) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** Reads the parameters of a path by their schema. */
function readPath(schema: TObject, params: Readonly<Record<string, unknown>>, problems: InputProblem[]) {
  const parameters = Object.entries(schema.properties).map(([name, parameter]) => {
    const reading = readText(parameter, String(params[name]));
    if (reading === undefined) {
      const detail = `\`${name}\` must be ${expected(parameter)}.`;
      problems.push({ in: "path", name, detail, code: "invalid" });
    }
    return [name, reading?.value];
  });
  return Object.fromEntries(parameters);
}
