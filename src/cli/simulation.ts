import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CloudBills,
  type ConfluentCloud,
  type ConfluentCloudOptions,
  cloudBillsTenant,
  confluentTenant,
  type SimulatedTenant,
  type Size,
  selfManagedTenant,
  simulatedTenants,
  sizes,
  startCloudBills,
  startConfluentCloud,
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

/**
 * The simulated organisation has a cluster for each tenant of metrics: the last is a self-managed Kafka cluster, the
 * others are metered systems with prices of their own. With at least two tenants there is one of each kind.
 */
export async function startSimulation(options: SimulationOptions): Promise<Simulation> {
  const { tenants, principals } = sizes[options.size];
  const of = { ...options, tenants: Math.max(2, tenants) };
  const cloud = await startConfluentCloud(of);
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-bills-"));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  try {
    const bills = await startCloudBills({
      seed: options.seed ?? 1,
      days: options.days ?? 30,
      folder,
      ...(options.now && { now: options.now }),
      resources: Math.min(2 * principals, MOST_BILLED_RESOURCES),
    });
    const metered = { ...of, url: cloud.metrics.url };
    return {
      cloud,
      bills,
      tenants: [
        confluentTenant(cloud),
        ...simulatedTenants(metered).slice(0, -1),
        selfManagedTenant(metered),
        cloudBillsTenant(bills),
      ],
      async close() {
        await Promise.all([cloud.close(), bills.close()]);
        removeFolder();
      },
    };
  } catch (error) {
    await cloud.close();
    removeFolder();
    throw error;
  }
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
