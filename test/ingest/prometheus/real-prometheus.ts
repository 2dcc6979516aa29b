/** A real Prometheus over data that promtool wrote, behind a path prefix and a password. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";

export const PASSWORD = "test";
/** bcrypt of the password above, as in the documentation of Prometheus' web configuration. */
const PASSWORD_HASH = "$2b$12$hNf2lSsxfm0.i4a.1kVpSOVyBCfIB51VRjgBUyv6kdnyTlgWj81Ay";
const START_TIMEOUT_MS = 30_000;

export interface RealPrometheus {
  readonly url: string;
  /** Starts it again at the same address. Data older than this, counted from its newest sample, is dropped. */
  restart(retention: string): Promise<void>;
}

/**
 * `openMetrics`: text that ends with `# EOF`, or nothing. `config`: what it scrapes. Ended, and its files removed, at
 * the end of the test.
 */
export async function startRealPrometheus(
  t: Test,
  openMetrics: string,
  config = "global: {}\n",
): Promise<RealPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-prometheus-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const data = join(folder, "data");
  if (openMetrics !== "") {
    const written = file("metrics.txt", openMetrics);
    execFileSync("promtool", ["tsdb", "create-blocks-from", "openmetrics", written, data], {
      stdio: "pipe",
    });
  }
  const start = async (retention: string, port: string) => {
    const child = spawn(
      "prometheus",
      [
        `--config.file=${file("prometheus.yml", config)}`,
        `--web.config.file=${file("web.yml", `basic_auth_users:\n  me: ${PASSWORD_HASH}\n`)}`,
        `--storage.tsdb.path=${data}`,
        `--storage.tsdb.retention.time=${retention}`,
        // Retention drops whole blocks: short ones stay short.
        "--storage.tsdb.min-block-duration=2h",
        "--storage.tsdb.max-block-duration=2h",
        `--web.listen-address=127.0.0.1:${port}`,
        "--web.external-url=http://localhost/prometheus",
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    const gone = once(child, "exit");
    const listening = await listeningPort(child.stderr);
    const url = `http://127.0.0.1:${listening}/prometheus`;
    await untilReady(url);
    const stop = async () => {
      child.kill("SIGTERM");
      await gone;
    };
    return { url, port: listening, stop };
  };
  let running = await start("1y", "0");
  t.teardown(() => running.stop());
  return {
    url: running.url,
    async restart(retention) {
      await running.stop();
      running = await start(retention, running.port);
    },
  };
}

async function listeningPort(log: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  const found = new Promise<string>((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`Prometheus does not listen:\n${text}`)),
      START_TIMEOUT_MS,
    );
    log.on("data", (chunk) => {
      text += String(chunk);
      const port = /"?Listening on"?.*address=127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      clearTimeout(late);
      resolve(port);
    });
    log.on("end", () => {
      clearTimeout(late);
      reject(new Error(`Prometheus has ended:\n${text}`));
    });
  });
  return found;
}

async function untilReady(url: string): Promise<void> {
  const headers = { authorization: `Basic ${Buffer.from(`me:${PASSWORD}`).toString("base64")}` };
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const ready = await fetch(`${url}/-/ready`, { headers }).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    if (Date.now() > deadline) throw new Error("Prometheus does not become ready");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
