/**
 * The mock cluster of librdkafka, which runs in kcat: brokers of another implementation that speak Kafka's wire
 * protocol. The packaged versions support its older versions, without authentication.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import type { Test } from "tap";

const START_TIMEOUT_MS = 30_000;

/** Starts brokers that live until the end of the test, and creates each topic by producing a message. */
export async function startMockKafka(
  t: Test,
  { brokers, topics }: { readonly brokers: number; readonly topics: readonly string[] },
): Promise<{ readonly servers: readonly string[] }> {
  // The producer and its brokers stay while its input is open.
  const child = spawn(
    "kcat",
    ["-P", "-t", "first", "-b", "127.0.0.1:1", "-X", `test.mock.num.brokers=${brokers}`],
    { stdio: ["pipe", "ignore", "pipe"] },
  );
  const gone = once(child, "exit");
  t.teardown(async () => {
    child.kill("SIGKILL");
    await gone;
  });
  const servers = await printedServers(child.stderr);
  for (const topic of topics) {
    execFileSync("kcat", ["-P", "-t", topic, "-b", servers.join(",")], {
      input: "x\n",
      stdio: ["pipe", "ignore", "ignore"],
      timeout: START_TIMEOUT_MS,
    });
  }
  return { servers };
}

async function printedServers(log: NodeJS.ReadableStream): Promise<string[]> {
  let text = "";
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no mock cluster:\n${text}`)), START_TIMEOUT_MS);
    log.on("data", (chunk) => {
      text += String(chunk);
      const servers = /replaced with ([0-9.:,]+)\s/.exec(text)?.[1];
      if (servers === undefined) return;
      clearTimeout(late);
      resolve(servers.split(","));
    });
  });
}
