/** An address of the console, and changes of it. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Undefined takes a parameter out, a list gives it several times. */
export type Changes = Readonly<Record<string, string | readonly string[] | undefined>>;
