/** Client of the public REST API. Its types are generated from the OpenAPI description. */
import createClient from "openapi-fetch";
import { reloadForProxy, requireSignIn } from "../state/session.js";
import { signInTexts } from "../text/sign-in.js";
import type { components, paths } from "./schema.js";

/** The API never redirects, so a redirect is of a proxy in front of it. */
export const api = createClient<paths>({ baseUrl: location.origin, redirect: "manual" });

api.use({
  onResponse({ request, response }) {
    if (isOfProxy(response)) {
      // A reload would discard what the user has typed.
      if (request.method === "GET") reloadForProxy();
      throw new ApiRequestError(signInTexts.askedByProxy, "sign_in_at_proxy", response.status, undefined);
    }
    if (response.status === 401) requireSignIn();
    return undefined;
  },
});

/** Whether a proxy in front of the service wants the user to sign in: it redirects, or returns a page. */
function isOfProxy({ type, status, headers }: Response): boolean {
  const isPage = headers.get("content-type")?.startsWith("text/html") ?? false;
  return type === "opaqueredirect" || (isPage && status < 500);
}

export type Schemas = components["schemas"];

/** An error response of the API, with a message to show. */
export class ApiRequestError extends Error {
  override readonly name = "ApiRequestError";
  constructor(
    message: string,
    readonly code: string,
    readonly status: number,
    readonly requestId: string | undefined,
  ) {
    super(message);
  }
}

interface ApiResponse<T> {
  readonly data?: T | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

/** Returns the body of a successful response (undefined for 204). Throws `ApiRequestError` for any other response. */
export async function bodyOf<T>(pending: Promise<ApiResponse<T>>): Promise<T> {
  const { data, error, response } = await pending;
  if (data !== undefined || response.status === 204) return data as T;
  const problem: { title?: unknown; detail?: unknown; code?: unknown } =
    typeof error === "object" && error !== null ? error : {};
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  throw new ApiRequestError(
    text(problem.detail) ?? text(problem.title) ?? `The service returned status ${response.status}.`,
    text(problem.code) ?? `http_${response.status}`,
    response.status,
    response.headers.get("x-request-id") ?? undefined,
  );
}
