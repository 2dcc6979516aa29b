/** Error responses in the documentation: one for each status, with the codes that the operation can return. */
import { type TUnsafe, Type } from "@sinclair/typebox";
import { type ErrorCode, errorTable } from "../errors.js";
import { PROBLEM_TYPE } from "../problem.js";
import { choiceSchema } from "./fields.js";

const InputProblem = Type.Object(
  {
    in: choiceSchema(["query", "path", "header", "body"], { description: "Where the value is." }),
    name: Type.String({
      description: "Name of the parameter, path of the field in the body, or row and column of CSV.",
      examples: ["page"],
    }),
    detail: Type.String({ description: "What is allowed, as a sentence." }),
    code: choiceSchema(["unknown", "invalid", "repeated", "missing"], { description: "Kind of problem." }),
  },
  { title: "InputProblem" },
);

type ProblemStatus = (typeof errorTable)[ErrorCode]["status"];

const commonProblems = [
  "invalid_request",
  "unauthenticated",
  "forbidden",
  "host_not_allowed",
  "too_many_requests",
  "too_many_failed_sign_ons",
  "internal_error",
] as const;

/** Codes of every operation with a body. */
export const bodyProblems = ["malformed_body", "body_too_large", "cross_site_request"] as const;

/**
 * Returns `schema.response` entries for these codes, and for those of every operation. The type `never` prevents
 * handlers from returning them: they are thrown.
 */
export function problemResponses(...codes: ErrorCode[]): Record<ProblemStatus, TUnsafe<never>> {
  const all: ErrorCode[] = [...new Set<ErrorCode>([...codes, ...commonProblems])];
  const statuses = [...new Set(all.map((code) => errorTable[code].status))].sort();
  const responses = statuses.map((status) => [
    status,
    problemResponse(all.filter((code) => errorTable[code].status === status)),
  ]);
  return Object.fromEntries(responses);
}

function problemResponse(codes: ErrorCode[]) {
  const [code = "internal_error"] = codes;
  return {
    description: codes.map((each) => `\`${each}\`: ${errorTable[each].when}.`).join(" "),
    content: { [PROBLEM_TYPE]: { schema: problemSchema(codes, errorTable[code].status) } },
  };
}

/** The body of every error response. */
export const problemBody = Type.Object({
  type: Type.String({
    description: "Always about:blank: `code` says which error it is.",
    examples: ["about:blank"],
  }),
  title: Type.String({ description: "The error in two or three words.", examples: ["Invalid request"] }),
  status: Type.Integer({ description: "The HTTP status.", examples: [400] }),
  detail: Type.String({
    description: "What happened and what is allowed, for people.",
    examples: ["`page` must be an integer from 1 to 9007199254740991."],
  }),
  code: choiceSchema(Object.keys(errorTable), {
    description: "Stable code of the error, for programs.",
    examples: ["invalid_request"],
  }),
  errors: Type.Optional(Type.Array(InputProblem, { description: "Every problem with the request." })),
  error_id: Type.Optional(
    Type.String({ format: "uuid", description: "Id under which the service logs the cause." }),
  ),
});

function problemSchema(codes: ErrorCode[], status: number) {
  return Type.Object({
    ...problemBody.properties,
    status: Type.Integer({ const: status }),
    code: choiceSchema(codes, { description: "The error's code." }),
  });
}

/** Handlers do not return this either: it is sent without a body. */
export const notModified = {
  304: Type.Unsafe<undefined>({
    type: "null",
    description: "The response has not changed since it had one of the ETags in `If-None-Match`.",
  }),
};
