/** Adds up the time of a client's statements by step. */
import type { ClickHouseClient } from "@clickhouse/client";

/** Wraps the client. Parallel statements of a step count once. Adds seconds to `spent`. */
export function timedClient<Step extends string>(
  client: ClickHouseClient,
  spent: Record<Step, number>,
  stepOf: (query: string) => Step,
): ClickHouseClient {
  const running = new Map<Step, { count: number; since: number }>();
  const book = async <T>(query: string, send: () => Promise<T>): Promise<T> => {
    const step = stepOf(query);
    const mine = running.get(step) ?? { count: 0, since: 0 };
    running.set(step, mine);
    if (mine.count++ === 0) mine.since = performance.now();
    try {
      return await send();
    } finally {
      if (--mine.count === 0) spent[step] += (performance.now() - mine.since) / 1000;
    }
  };
  const timed: Pick<ClickHouseClient, "command" | "query" | "exec" | "insert"> = {
    command: (params) => book(params.query, () => client.command(params)),
    query: (params) => book(params.query, () => client.query(params)),
    exec: (params: Parameters<typeof client.exec>[0]) => book(params.query, () => client.exec(params)),
    insert: (params) => book(`INSERT INTO ${params.table}`, () => client.insert(params)),
  };
  return Object.assign(Object.create(client) as ClickHouseClient, timed);
}
