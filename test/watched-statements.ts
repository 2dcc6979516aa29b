/** Runs actions of a test at statements that the service sends to Postgres. */
import type pg from "pg";

type Query = (text: unknown, values?: unknown, callback?: Callback) => unknown;
type Callback = (error: Error | undefined, result?: unknown) => void;

export interface WatchedStatements {
  /**
   * Runs the action once, before or after the next statement that matches. The statement, or its result, waits for it.
   */
  at(when: "before" | "after", words: RegExp, act: () => Promise<void>): void;
  /** True if the action has run. */
  happened(): boolean;
}

/** Watches every connection that the pool lends from now on. */
export function watchStatements(pool: pg.Pool): WatchedStatements {
  let awaited: { when: "before" | "after"; words: RegExp; act: () => Promise<void> } | undefined;
  const watched = new WeakSet<pg.PoolClient>();
  pool.on("acquire", (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query.bind(client) as Query;
    const watch: Query = (text, values, callback) => {
      if (awaited === undefined || !awaited.words.test(textOf(text))) return query(text, values, callback);
      const { when, act } = awaited;
      awaited = undefined;
      const acting = async () => {
        if (when === "before") await act();
        const result = await query(text, values);
        if (when === "after") await act();
        return result;
      };
      const ended = acting();
      if (callback === undefined) return ended;
      ended.then(
        (result) => callback(undefined, result),
        (error) => callback(error),
      );
      return undefined;
    };
    Object.assign(client, { query: watch });
  });
  return {
    at(when, words, act) {
      awaited = { when, words, act };
    },
    happened: () => awaited === undefined,
  };
}

function textOf(text: unknown): string {
  if (typeof text === "string") return text;
  return typeof text === "object" && text !== null && "text" in text ? String(text.text) : "";
}
