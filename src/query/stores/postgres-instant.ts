/**
 * A timestamptz as `2026-01-01T00:00:00Z`, with microseconds where there are any. As a JavaScript date it would lose them, and
 * what happened at a time that was shown would not have happened yet when somebody asks for that time.
 */
export function instantText(column: string): string {
  return `replace(to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z')`;
}
