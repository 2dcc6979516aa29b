/**
 * Rewrites the schema for a cluster. The database is `Replicated`, so it applies every statement that changes tables on
 * all replicas, and its tables are `Replicated…MergeTree`, which share their rows (docs/decisions/0043-replicas.md).
 */
const STRINGS_AND_COMMENTS = /'(?:[^'\\]|\\[\s\S]|'')*'|`(?:[^`\\]|\\[\s\S])*`|--[^\n]*|\/\*[\s\S]*?\*\//;
const ENGINE = new RegExp(
  `${STRINGS_AND_COMMENTS.source}|\\b(ENGINE\\s*=\\s*)(?!Replicated|Shared)([A-Za-z]*MergeTree)\\b`,
  "g",
);

/**
 * Returns the migration's statement with replicated engines. In a Replicated database they need neither a path nor a
 * replica name.
 */
export function replicated(statement: string): string {
  return statement.replace(ENGINE, (found: string, assignment?: string, engine?: string) =>
    engine === undefined ? found : `${assignment}Replicated${engine}`,
  );
}
