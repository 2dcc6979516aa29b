/** What an error says. Node gives none of its own to one that stands for several: a name has two addresses, say, and both refuse. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError && error.message === "")
    return [...new Set(error.errors.map(errorMessage))].join("; ");
  return error instanceof Error ? error.message : String(error);
}
