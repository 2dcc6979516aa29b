/**
 * Makes the address for the servers of a connection string: a single host as it is, or the host in use of a cluster.
 */
import type { ClickHouseClient } from "@clickhouse/client";
import type { Logger } from "pino";
import { type ClickHouseClientOptions, openClickHouseClient } from "../clickhouse/client.js";
import { catchUp, clusterSettings } from "../clickhouse/replicas/cluster.js";
import { createHostChoice } from "../clickhouse/replicas/host-choice.js";
import type { ServerStorage } from "../config/settings/storage.js";

export type ServerAddress = Omit<ClickHouseClientOptions, "database" | "applicationName">;

/** Throws `MigrationRefused` if the cluster cannot keep the database as one. Without a cluster, sends no request. */
export async function serverAddress(storage: ServerStorage, logger: Logger): Promise<ServerAddress> {
  const { urls, username, password, database, cluster } = storage;
  const [url = ""] = urls;
  if (cluster === undefined) return { url, username, password };
  const withClient = async <Result>(
    address: Pick<ServerAddress, "url" | "hosts">,
    run: (client: ClickHouseClient) => Promise<Result>,
  ): Promise<Result> => {
    const client = openClickHouseClient({
      ...address,
      username,
      password,
      database: "default",
      maxOpenConnections: 1,
      applicationName: "chargehouse replicas",
    });
    try {
      return await run(client);
    } finally {
      await client.close();
    }
  };
  const choice = createHostChoice({
    urls,
    prepare: (host) => withClient({ url: host }, (client) => catchUp(client, database)),
    onChange: (host, from) => logger.warn({ database, host, from }, "another replica of a cluster is used"),
  });
  const hosts = { choice, count: urls.length };
  const settings = await withClient({ url, hosts }, (client) =>
    clusterSettings(client, { name: cluster, database }),
  );
  return { url, username, password, hosts, settings };
}
