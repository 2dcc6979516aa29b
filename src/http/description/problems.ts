/**
 * Errors in the OpenAPI document: one schema for all, which each response narrows to its status and codes, with an
 * example for each code.
 */
import { type ErrorCode, errorTable } from "../errors.js";
import { problemBody } from "../schemas/problem.js";
import { type Content, refTo, type Schema } from "./openapi-types.js";

/** Converted to plain JSON, without the symbols of TypeBox. */
export const problemSchema: Schema = {
  description: "An error in the form of RFC 9457.",
  ...JSON.parse(JSON.stringify(problemBody)),
};

/** Returns the content of one status of one operation. */
export function problemContent({ schema }: Content): Content {
  const { status, code } = schema.properties ?? {};
  const codes = Object.keys(errorTable).filter(
    (name): name is ErrorCode => code?.enum?.includes(name) ?? false,
  );
  return {
    schema: {
      allOf: [
        refTo("Problem"),
        { type: "object", properties: { status: { enum: status?.enum ?? [] }, code: { enum: codes } } },
      ],
    },
    examples: Object.fromEntries(
      codes.map((each) => [each, { summary: errorTable[each].title, value: exampleOf(each) }]),
    ),
  };
}

function exampleOf(code: ErrorCode) {
  const { status, title, when } = errorTable[code];
  const problem = { type: "about:blank", title, status, detail: sentence(when), code };
  if (code === "invalid_request") {
    const detail = "`page` must be an integer from 1 to 9007199254740991.";
    return { ...problem, detail, errors: [{ in: "query", name: "page", detail, code: "invalid" }] };
  }
  const hasId = code === "internal_error" || code === "store_unavailable";
  return hasId ? { ...problem, error_id: "6e7c2a2e-6b52-4f3c-9a37-0d6f0a1f3b55" } : problem;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
