/**
 * The same schema on a cluster: the database is `Replicated`, which carries every statement that changes tables to all replicas, and its
 * tables are `Replicated…MergeTree`, which share their rows (docs/decisions/0043-replicas.md).
 */
const STRINGS_AND_COMMENTS = /'(?:[^'\\]|\\[\s\S]|'')*'|`(?:[^`\\]|\\[\s\S])*`|--[^\n]*|\/\*[\s\S]*?\*\//;
const ENGINE = new RegExp(
  `${STRINGS_AND_COMMENTS.source}|\\b(ENGINE\\s*=\\s*)(?!Replicated|Shared)([A-Za-z]*MergeTree)\\b`,
  "g",
);

/** The statement of a migration with replicated engines. In a Replicated database they need no path and no name of a replica. */
export function replicated(statement: string): string {
  return statement.replace(ENGINE, (found: string, assignment?: string, engine?: string) =>
    engine === undefined ? found : `${assignment}Replicated${engine}`,
  );
}
