/**
 * Accepts statements that inactive replicas have yet to carry out. A statement that replaces or drops a partition waits
 * for the active replicas and then fails if others are inactive, although it was carried out, and those follow when
 * they are back (ReplicatedMergeTree, 26.7; the setting that suppresses the error is for tables of another engine).
 */
import { type ClickHouseClient, ClickHouseError } from "@clickhouse/client";

export function acceptInactiveReplicas(client: ClickHouseClient): ClickHouseClient {
  const command = client.command.bind(client);
  client.command = async (statement) => {
    try {
      return await command(statement);
    } catch (error) {
      if (!isUnfinishedElsewhere(error)) throw error;
      return { query_id: "", response_headers: {}, http_status_code: 200 };
    }
  };
  return client;
}

function isUnfinishedElsewhere(error: unknown): boolean {
  return (
    error instanceof ClickHouseError &&
    error.type === "UNFINISHED" &&
    /\breplicas are inactive\b/.test(error.message)
  );
}
