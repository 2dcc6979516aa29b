/** The Prometheus of the README: sizes of the databases of a Postgres over the whole lookback. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { temporaryFolder } from "../stores.js";
import { until } from "../until.js";

const days = 205;
/** Sizes in GiB. The last two are databases of the system. */
const sizes = { orders_db: 40, analytics_db: 120, template0: 1, postgres: 1 } as const;

export async function startDatabasesPrometheus(t: Test, port: number): Promise<void> {
  const folder = temporaryFolder(t);
  const now = Math.floor(Date.now() / 3_600_000) * 3600;
  const hours = Array.from({ length: days * 24 }, (_, hour) => now - 3600 * (days * 24 - 1 - hour));
  const family = (name: string, of: (gib: number) => number) => [
    `# TYPE ${name} gauge`,
    ...Object.entries(sizes).flatMap(([database, gib]) =>
      hours.map((at) => `${name}{datname="${database}"} ${of(gib)} ${at}`),
    ),
  ];
  const text = [
    ...family("pg_database_size_bytes", (gib) => gib * 2 ** 30),
    ...family("pg_stat_database_numbackends", () => 3),
    "# EOF\n",
  ];
  const metrics = join(folder, "metrics.txt");
  const config = join(folder, "prometheus.yml");
  writeFileSync(metrics, text.join("\n"));
  writeFileSync(config, "global: {}\n");
  const data = join(folder, "data");
  const blocks = ["tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=4320h", metrics, data];
  execFileSync("promtool", blocks, { stdio: "pipe" });
  const child = spawn(
    "prometheus",
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${data}`,
      "--storage.tsdb.retention.time=1y",
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: "ignore" },
  );
  t.teardown(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null) await once(child, "exit");
  });
  await until("Prometheus is ready", async () => {
    const response = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => undefined);
    return response?.ok === true;
  });
}
