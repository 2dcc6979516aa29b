/**
 * A simulated Confluent Cloud for the demo, the tests and the benchmarks: the Cloud API, the Flink API of every region
 * and a Prometheus with the metrics. Each is a real HTTP server over one synthetic organisation, and simulates faults
 * on request.
 */
import type { Fault } from "../faults.js";
import { type Simulator, startSimulator } from "../simulator.js";
import { type ApiFault, createApiFaults } from "./api-faults.js";
import { type ApiServer, type Credentials, startApiServer } from "./api-server.js";
import { type Correction, createBill, type SimulatedBill } from "./bill.js";
import { cloudRoutes, flinkRoutes } from "./endpoints.js";
import type { MalformedKind } from "./malformed.js";
import { type ConfluentOrganisation, createConfluentOrganisation } from "./organisation.js";
import { regions } from "./places.js";
import type { SimulatedRateLimit } from "./rate-limit.js";
import { confluentSeries } from "./series.js";
import type { ConfluentOptions } from "./size.js";

export interface ConfluentCloudOptions extends ConfluentOptions {
  /** First of consecutive ports: Cloud API, Prometheus, then Flink in each region. Default 0: any free ports. */
  readonly port?: number;
  readonly credentials?: Credentials;
  readonly faults?: readonly ApiFault[];
  readonly metricsFaults?: readonly Fault[];
  readonly corrections?: readonly Correction[];
  readonly malformed?: readonly MalformedKind[];
  /** Rate limit of each server. Default: none. */
  readonly rateLimit?: SimulatedRateLimit;
}

export interface ConfluentCloud {
  /** Base URL of the Cloud API. */
  readonly url: string;
  readonly credentials: Credentials;
  /** Base URL and key of the Flink API, by region. */
  readonly flink: Readonly<Record<string, Credentials & { readonly url: string }>>;
  /** The Prometheus. It also has the series of the other ecosystems. */
  readonly metrics: Simulator;
  readonly organisation: ConfluentOrganisation;
  readonly bill: SimulatedBill;
  /** Path and query of the latest 10,000 requests to the Cloud API and Flink, in order. */
  readonly requests: readonly string[];
  /** Replaces all faults of the Cloud API and Flink. */
  setFaults(faults: readonly ApiFault[]): void;
  /**
   * Deletes the objects with these ids, and restores all others. Lists leave them out; their costs stay on the bill.
   */
  setGone(ids: readonly string[]): void;
  close(): Promise<void>;
}

const MAX_RECORDED_REQUESTS = 10_000;

export async function startConfluentCloud(options: ConfluentCloudOptions = {}): Promise<ConfluentCloud> {
  const organisation = createConfluentOrganisation(options);
  const bill = createBill(organisation);
  bill.setCorrections(options.corrections ?? []);
  bill.setMalformed(options.malformed ?? []);
  const faults = createApiFaults(options.faults ?? []);
  const gone = new Set<string>();
  const requests: string[] = [];
  const { port = 0, credentials = { key: "SIMULATED", secret: "simulated-secret" } } = options;
  const shared = {
    world: { organisation, bill, gone },
    faults,
    rateLimit: options.rateLimit,
    onRequest: (address: string) => {
      requests.push(address);
      if (requests.length > MAX_RECORDED_REQUESTS) requests.shift();
    },
  };
  const portAt = (offset: number) => (port === 0 ? 0 : port + offset);
  const servers: (ApiServer | Simulator)[] = [];
  const close = async () => {
    await Promise.all(servers.map((server) => server.close()));
  };
  try {
    const cloud = await startApiServer({ ...shared, port: portAt(0), routes: cloudRoutes, credentials });
    servers.push(cloud);
    const moreSeries = confluentSeries(organisation);
    const metrics = await startSimulator({
      ...options,
      port: portAt(1),
      moreSeries,
      faults: options.metricsFaults ?? [],
    });
    servers.push(metrics);
    const flink: Record<string, Credentials & { url: string }> = {};
    for (const [index, { region }] of regions.entries()) {
      const own = { key: `FLINK-${region}`, secret: `flink-secret-${region}` };
      const routes = flinkRoutes(region);
      const server = await startApiServer({ ...shared, port: portAt(2 + index), routes, credentials: own });
      servers.push(server);
      flink[region] = { ...own, url: server.url };
    }
    return {
      url: cloud.url,
      credentials,
      flink,
      metrics,
      organisation,
      bill,
      requests,
      setFaults: (next) => faults.set(next),
      setGone(ids) {
        gone.clear();
        for (const id of ids) gone.add(id);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
