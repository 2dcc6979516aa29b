import type { ClickHouseClient } from "@clickhouse/client";

/** Wraps the client to record its commands. */
export function recordCommands(client: ClickHouseClient): { client: ClickHouseClient; sent: string[] } {
  const sent: string[] = [];
  const recording = new Proxy(client, {
    get(target, name) {
      if (name !== "command") return Reflect.get(target, name, target);
      return async (command: Parameters<typeof client.command>[0]) => {
        sent.push(command.query);
        return await target.command(command);
      };
    },
  });
  return { client: recording, sent };
}
