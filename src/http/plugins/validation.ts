/** Parses bodies as JSON, and validates each part of a request by the schemas of its route. */
import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import type { FastifySchemaCompiler } from "fastify";
import fp from "fastify-plugin";
import { type InputProblem, invalidRequest } from "../errors.js";
import { jsonBody } from "../input/json-body.js";
import { expected } from "../input/messages.js";
import { readJson } from "../input/read-json.js";
import { readQuery, readText } from "../input/read-query.js";

/** False for routes such as liveness, which accept any query and ignore it. */
const readsQuery = (schema: unknown) => KindGuard.IsObject(schema) && schema.additionalProperties !== true;

/** A custom validator: Ajv's defaults coerce types, put input into messages and stop at the first error. */
const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
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

export const validation = fp(
  async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("application/json", { parseAs: "buffer" }, jsonBody(app));
    app.addHook("preValidation", async ({ raw, routeOptions }) => {
      if (readsQuery(routeOptions.schema?.querystring)) refuseMalformedQuery(raw.url ?? "");
    });
    app.setValidatorCompiler(validatorCompiler);
  },
  { name: "validation" },
);

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

/**
 * Refuses a query whose percent-encoding is not UTF-8. A lenient decoder would change the text of a filter, and a
 * `not:` filter would then exclude nothing.
 */
function refuseMalformedQuery(url: string): void {
  const at = url.indexOf("?");
  if (at < 0 || !url.includes("%", at)) return;
  const malformed = url
    .slice(at + 1)
    .split("&")
    .find((pair) => !isDecodable(pair));
  if (malformed === undefined) return;
  const [written = ""] = malformed.split("=");
  const name = isDecodable(written) ? decodeURIComponent(written).slice(0, 64) : "query";
  const detail = `\`${name}\` has an invalid percent-encoding: it must be that of text in UTF-8.`;
  throw invalidRequest([{ in: "query", name, detail, code: "invalid" }]);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
