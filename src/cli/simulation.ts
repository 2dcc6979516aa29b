import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubernetesQueries, NODES, VOLUMES } from "../ingest/ecosystems/focus/usage/kubernetes/queries.js";
import { DEFAULT_GIB_PER_CORE } from "../ingest/ecosystems/focus/usage/kubernetes/settings.js";
import {
  type CloudBills,
  type ConfluentCloud,
  type ConfluentCloudOptions,
  cloudBillsTenant,
  confluentTenant,
  kubernetesTenant,
  type SimulatedTenant,
  type Size,
  selfManagedTenant,
  simulatedTenants,
  sizes,
  startCloudBills,
  startConfluentCloud,
  startKubernetesPlatform,
} from "../simulator/index.js";
import { type Options, UsageError } from "./command.js";

/** Simulated upstreams, and tenants that use them. Not every ecosystem has a tenant. */
export interface Simulation {
  readonly cloud: ConfluentCloud;
  readonly bills: CloudBills;
  readonly tenants: readonly SimulatedTenant[];
  close(): Promise<void>;
}

export interface SimulationOptions extends Omit<ConfluentCloudOptions, "size"> {
  readonly size: Size;
}

/** Bills are built in memory as a whole. */
const MOST_BILLED_RESOURCES = 2000;
const FEWEST_NODES = 4;
const MOST_NODES = 200;

/**
 * The simulated organisation has a cluster for each tenant of metrics: the last is a self-managed Kafka cluster, the
 * others are metered systems with prices of their own. With at least two tenants there is one of each kind.
 */
export async function startSimulation(options: SimulationOptions): Promise<Simulation> {
  const { tenants, principals } = sizes[options.size];
  const of = { ...options, tenants: Math.max(2, tenants) };
  const cloud = await startConfluentCloud(of);
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-bills-"));
  const servers: { close(): Promise<void> }[] = [cloud];
  const close = async () => {
    await Promise.all(servers.map((server) => server.close()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const history = {
      seed: options.seed ?? 1,
      days: options.days ?? 30,
      ...(options.now && { now: options.now }),
    };
    const bills = await startCloudBills({
      ...history,
      folder: join(folder, "clouds"),
      resources: Math.min(2 * principals, MOST_BILLED_RESOURCES),
    });
    servers.push(bills);
    const kubernetes = await startKubernetesPlatform({
      ...history,
      folder: join(folder, "kubernetes"),
      nodes: Math.min(Math.max(FEWEST_NODES, Math.round(principals / 20)), MOST_NODES),
      queries: { nodes: presetQuery(NODES), volumes: presetQuery(VOLUMES) },
      gibPerCore: Number(DEFAULT_GIB_PER_CORE),
    });
    servers.push(kubernetes);
    const metered = { ...of, url: cloud.metrics.url };
    return {
      cloud,
      bills,
      tenants: [
        confluentTenant(cloud),
        ...simulatedTenants(metered).slice(0, -1),
        selfManagedTenant(metered),
        cloudBillsTenant(bills),
        kubernetesTenant(kubernetes),
      ],
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function presetQuery(metric: string): string {
  const found = kubernetesQueries().find((each) => each.metric === metric);
  if (found === undefined) throw new Error(`the preset has no query ${metric}`);
  return found.query;
}

/** The `tenants` section of a configuration. Each tenant has an embedded store of its name. */
export function tenantsSection(tenants: readonly SimulatedTenant[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    tenants.map(({ tenant_name, ...tenant }) => [
      tenant_name,
      { ...tenant, storage: { connection_string: `embedded:${tenant_name}` } },
    ]),
  );
}

/** Options for the size of a simulation. */
export const simulationOptions = {
  size: {
    type: "string",
    value: "SIZE",
    default: "small",
    help: "tiny, small, medium, large or huge",
  },
  days: {
    type: "string",
    value: "N",
    default: "30",
    help: "length of the history, which ends yesterday; at most 364",
  },
  seed: {
    type: "string",
    value: "N",
    default: "1",
    help: "another organisation; the same seed on the same day gives the same one",
  },
} as const satisfies Options;

export function simulationSize(options: { size: string; days: string; seed: string }) {
  const names = Object.keys(sizes) as Size[];
  const size = names.find((each) => each === options.size);
  if (size === undefined)
    throw new UsageError(`--size must be one of ${names.join(", ")}, not "${options.size}"`);
  return {
    size,
    days: whole("days", options.days, 2, 364),
    seed: whole("seed", options.seed, 0, 2 ** 31 - 1),
  };
}

export function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`--${name} must be a whole number from ${least} to ${most}, not "${text}"`);
}
