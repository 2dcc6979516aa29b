/** An address of the console, and changes to it. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Undefined removes a parameter, a list repeats it. */
export type Changes = Readonly<Record<string, string | readonly string[] | undefined>>;
