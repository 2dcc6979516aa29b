/** An error response in the vendor's format. */
export class SimulatedApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Name of the invalid parameter. */
    readonly parameter?: string,
  ) {
    super(message);
  }
}

export function errorBody(status: number, code: string, detail: string, parameter?: string): string {
  const title = TITLES[status] ?? "Error";
  const source = parameter === undefined ? {} : { source: { parameter } };
  const id = `simulated-${status}-${code}`;
  return JSON.stringify({ errors: [{ id, status: String(status), code, title, detail, ...source }] });
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  405: "Method Not Allowed",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};
