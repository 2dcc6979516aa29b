/** The public REST API, typed by its own description. */
import createClient from "openapi-fetch";
import { askToken, tokenOf } from "../state/session.js";
import type { components, paths } from "./schema.js";

export const api = createClient<paths>({ baseUrl: location.origin });

api.use({
  onRequest({ request }) {
    const token = tokenOf();
    if (token !== undefined) request.headers.set("authorization", `Bearer ${token}`);
    return request;
  },
  onResponse({ response }) {
    if (response.status === 401) askToken();
    return undefined;
  },
});

export type Schemas = components["schemas"];

/** What went wrong, for people. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly requestId: string | undefined,
  ) {
    super(message);
  }
}

interface Answer<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** The body of a good response, of which 204 has none; throws `ApiFailure` for any other. */
export async function bodyOf<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked;
  if (data !== undefined || response.status === 204) return data as T;
  const problem: { title?: unknown; detail?: unknown; code?: unknown } =
    typeof error === "object" && error !== null ? error : {};
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  throw new ApiFailure(
    text(problem.detail) ?? text(problem.title) ?? `The service returned status ${response.status}.`,
    text(problem.code) ?? `http_${response.status}`,
    response.status,
    response.headers.get("x-request-id") ?? undefined,
  );
}
