/**
 * SQL for a timestamptz as `2026-01-01T00:00:00Z`, with microseconds if there are any. A JavaScript date would lose the
 * microseconds, and an event would then be later than the time that is shown for it.
 */
export function instantText(column: string): string {
  return `replace(to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '.000000Z', 'Z')`;
}
