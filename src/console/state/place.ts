/** A URL of the console, its path and query, and changes to it. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Undefined removes a parameter, a list repeats it. */
export type Changes = Readonly<Record<string, string | readonly string[] | undefined>>;
