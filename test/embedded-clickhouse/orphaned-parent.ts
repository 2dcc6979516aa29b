/**
 * A test runs this as a process of its own and kills it. It starts an engine and a long query, and prints the child's
 * pid.
 */
import { createClient } from "@clickhouse/client";
import { pino } from "pino";
import { socketAgent } from "../../src/clickhouse/client.js";
import { createEmbeddedClickHouse } from "../../src/embedded-clickhouse/supervisor.js";
import { until } from "../until.js";

const [dataDir = "", query = ""] = process.argv.slice(2);
const engine = createEmbeddedClickHouse({ dataDir, logger: pino({ level: "silent" }) });

async function main(): Promise<void> {
  const { socketPath, ...address } = await engine.endpoint();
  const client = createClient({ ...address, http_agent: socketAgent(socketPath, 4) });
  void client.query({ query });
  await until("the query to run", async () => {
    const result = await client.query({ query: "SELECT count() FROM system.processes", format: "CSV" });
    return (await result.text()).trim() === "2";
  });
  process.stdout.write(`${engine.pid()}\n`);
}

void main();
