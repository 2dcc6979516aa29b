import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { stringify } from "yaml";
import type { ApiFault, ConfluentCloud } from "../simulator/index.js";
import {
  type ApiFaultText,
  apiFaultKinds,
  type MalformedKind,
  malformedKinds,
  readApiFault,
} from "../simulator/index.js";
import { type Command, type Options, parseOptions, UsageError } from "./command.js";
import { cannotListen } from "./free-port.js";
import { simulationOptions, simulationSize, startSimulation, tenantsSection, whole } from "./simulation.js";
import { untilStopped } from "./until-stopped.js";
import { writing } from "./writing.js";

const options = {
  ...simulationOptions,
  lines: {
    type: "string",
    value: "N",
    help: "lines per day of the Confluent bill; by default from --size",
  },
  identities: { type: "string", value: "N", help: "number of identities; by default from --size" },
  port: {
    type: "string",
    value: "N",
    default: "8090",
    help: "port of the Cloud API; the next ones are for the other APIs; 0: free ports",
  },
  "rate-limit": { type: "string", value: "REQUESTS/SECONDS", help: "return 429 beyond this, such as 300/60" },
  malformed: {
    type: "string",
    value: "all|KIND,...",
    help: `add malformed rows to the bill: ${malformedKinds.join(", ")}`,
  },
  fault: {
    type: "string",
    value: "KIND[,NAME=VALUE]...",
    multiple: true,
    default: [] as string[],
    help: `a fault; may be repeated: ${apiFaultKinds.join(", ")}`,
  },
  "write-config": {
    type: "string",
    value: "FILE",
    help: "write the configuration to this file instead of standard output",
  },
} as const satisfies Options;

/** Runs only the simulated upstreams: to try a configuration, for benchmarks, and to see the effect of faults. */
export const simulate: Command = {
  usage:
    "simulate [--size tiny|small|medium|large|huge] [--lines N] [--identities N] [--days N] [--seed N] [--port N] " +
    "[--rate-limit REQUESTS/SECONDS] [--malformed all|KIND,...] [--fault KIND[,NAME=VALUE]...]... [--write-config FILE]",
  options,
  async run(args, io) {
    const chosen = simulateOptions(args);
    const simulation = await startSimulation(chosen).catch((error) => {
      const { port } = chosen;
      throw cannotListen(error, { host: "127.0.0.1", port }, "choose others with --port");
    });
    try {
      const config = stringify({ tenants: tenantsSection(simulation.tenants) });
      io.stdout.write(addresses(simulation.cloud));
      const { configFile } = chosen;
      if (configFile === undefined) io.stdout.write(`\nA configuration with it as upstream:\n\n${config}\n`);
      else {
        await writing("write-config", configFile, () => writeFileSync(configFile, config));
        io.stdout.write(`\nA configuration with it as upstream was written to ${configFile}\n`);
      }
      io.stdout.write("Ctrl-C stops the simulator.\n");
      await untilStopped(io.signal);
      return 0;
    } finally {
      await simulation.close();
    }
  },
};

function simulateOptions(args: readonly string[]) {
  const given = parseOptions(args, options);
  const file = given["write-config"];
  const { lines, identities, malformed } = given;
  const rateLimit = given["rate-limit"];
  return {
    ...simulationSize(given),
    ...(lines === undefined ? {} : { lines: whole("lines", lines, 1, 50_000) }),
    ...(identities === undefined ? {} : { identities: whole("identities", identities, 10, 50_000) }),
    ...(rateLimit === undefined ? {} : { rateLimit: rateLimitOf(rateLimit) }),
    ...(malformed === undefined ? {} : { malformed: malformedOf(malformed) }),
    port: whole("port", given.port, 0, 65_500),
    faults: given.fault.map(faultOf),
    configFile: file === undefined ? undefined : resolve(file),
  };
}

function rateLimitOf(text: string): { requests: number; seconds: number } {
  const [, requests, seconds] = /^([1-9]\d{0,8})\/([1-9]\d{0,8})$/.exec(text) ?? [];
  if (requests === undefined) throw new UsageError(`--rate-limit must look like 300/60, not "${text}"`);
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
