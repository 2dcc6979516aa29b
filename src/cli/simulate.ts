import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { stringify } from "yaml";
import { type ApiFaultText, readApiFault } from "../simulator/confluent/api-fault-text.js";
import type { ApiFault } from "../simulator/confluent/api-faults.js";
import type { ConfluentCloud } from "../simulator/confluent/cloud.js";
import { type MalformedKind, malformedKinds } from "../simulator/confluent/malformed.js";
import { type Command, type CommandIo, parseOptions, UsageError } from "./command.js";
import { simulationOptions, simulationSize, startSimulation, tenantsSection, whole } from "./simulation.js";

/** The upstreams alone, in a process of their own: for trying a configuration, for benchmarks, and to see faults happen. */
export const simulate: Command = {
  name: "simulate",
  summary: "play the upstreams of every ecosystem: Confluent Cloud, Flink and a Prometheus",
  usage:
    "simulate [--size tiny|small|medium|large|huge] [--lines N] [--identities N] [--days N] [--seed N] [--port N]\n" +
    "  [--rate-limit REQUESTS/SECONDS] [--malformed all|KIND,...] [--fault KIND[,NAME=VALUE]...]... [--write-config FILE]",
  async run(args, io) {
    const options = simulateOptions(args);
    const simulation = await startSimulation(options);
    try {
      const config = stringify({ tenants: tenantsSection(simulation.tenants) });
      io.stdout.write(addresses(simulation.cloud));
      if (options.configFile === undefined)
        io.stdout.write(`\nA configuration with it as upstream:\n\n${config}\n`);
      else {
        writeFileSync(options.configFile, config);
        io.stdout.write(`\nA configuration with it as upstream was written to ${options.configFile}\n`);
      }
      io.stdout.write("Ctrl-C stops the simulator.\n");
      await untilAborted(io.signal);
      return 0;
    } finally {
      await simulation.close();
    }
  },
};

function simulateOptions(args: readonly string[]) {
  const options = parseOptions(args, {
    ...simulationOptions,
    lines: { type: "string" },
    identities: { type: "string" },
    port: { type: "string", default: "8090" },
    "rate-limit": { type: "string" },
    malformed: { type: "string" },
    fault: { type: "string", multiple: true, default: [] },
    "write-config": { type: "string" },
  });
  const file = options["write-config"];
  const { lines, identities, malformed } = options;
  const rateLimit = options["rate-limit"];
  return {
    ...simulationSize(options),
    ...(lines === undefined ? {} : { lines: whole("lines", lines, 1, 50_000) }),
    ...(identities === undefined ? {} : { identities: whole("identities", identities, 10, 50_000) }),
    ...(rateLimit === undefined ? {} : { rateLimit: rateLimitOf(rateLimit) }),
    ...(malformed === undefined ? {} : { malformed: malformedOf(malformed) }),
    port: whole("port", options.port, 0, 65_500),
    faults: options.fault.map(faultOf),
    configFile: file === undefined ? undefined : resolve(file),
  };
}

function rateLimitOf(text: string): { requests: number; seconds: number } {
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text) ?? [];
  if (requests === undefined) throw new UsageError(`--rate-limit must be such as 300/60, not "${text}"`);
  return { requests: Number(requests), seconds: Number(seconds) };
}

function malformedOf(text: string): MalformedKind[] {
  if (text === "all") return [...malformedKinds];
  return text.split(",").map((name) => {
    const kind = malformedKinds.find((each) => each === name);
    if (kind !== undefined) return kind;
    throw new UsageError(`--malformed takes all, or some of ${malformedKinds.join(", ")}, not "${name}"`);
  });
}

function faultOf(text: string): ApiFault {
  const read: ApiFaultText = readApiFault(text);
  if ("fault" in read) return read.fault;
  throw new UsageError(`--fault ${text}: ${read.problem}`);
}

function addresses({ url, metrics, flink, credentials }: ConfluentCloud): string {
  const regions = Object.entries(flink).map(([region, { url: address }]) => `Flink ${region}: ${address}\n`);
  return `Cloud API (key ${credentials.key}): ${url}\nPrometheus: ${metrics.url}\n${regions.join("")}`;
}

async function untilAborted(signal: CommandIo["signal"]): Promise<void> {
  if (signal.aborted) return;
  // An aborted wait does not keep a process alive, but the servers do.
  await new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
}
