/** A simulated Kubernetes cluster as upstreams: its Prometheus, and a folder with the bill of its account. */
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addDays, addMonths, dayOf, earliest, firstOfMonth } from "../../common/days.js";
import { csvGzOf } from "../bills/files.js";
import { type Simulator, startSimulator } from "../simulator.js";
import { clusterBill } from "./bill.js";
import { clusterSeries, simulatedCluster } from "./cluster.js";

export interface KubernetesPlatformOptions {
  readonly seed: number;
  readonly nodes: number;
  /** Number of days the bill covers, up to yesterday. */
  readonly days: number;
  /** Folder for the bill. Nothing else may write there. */
  readonly folder: string;
  /** The preset's queries with its default settings. The simulated Prometheus knows their results. */
  readonly queries: { readonly nodes: string; readonly volumes: string };
  readonly gibPerCore: number;
  readonly now?: () => number;
}

export interface KubernetesPlatform {
  readonly metrics: Simulator;
  readonly folder: string;
  readonly days: number;
  close(): Promise<void>;
}

const RESULTS = { nodes: "result_of_nodes", volumes: "result_of_volumes" };

export async function startKubernetesPlatform(
  options: KubernetesPlatformOptions,
): Promise<KubernetesPlatform> {
  const { days, folder, queries, gibPerCore, now = Date.now } = options;
  const cluster = simulatedCluster(options);
  const today = dayOf(new Date(now()));
  // Bills that were modified less than an hour ago would have to wait.
  const modified = new Date(Date.now() - 3_600_000);
  for (let from = addDays(today, -days); from < today; ) {
    const next = addMonths(firstOfMonth(from), 1);
    const lines = clusterBill(cluster, [from, earliest(next, today)], next <= today);
    const month = join(folder, from.slice(0, 7));
    mkdirSync(month, { recursive: true });
    const file = join(month, "bill.csv.gz");
    writeFileSync(file, csvGzOf(lines));
    utimesSync(file, modified, modified);
    from = next;
  }
  const metrics = await startSimulator({
    tenants: 0,
    days,
    now,
    moreSeries: clusterSeries(cluster, { gibPerCore, names: RESULTS }),
    known: new Map([
      [queries.nodes, RESULTS.nodes],
      [queries.volumes, RESULTS.volumes],
    ]),
  });
  return { metrics, folder, days, close: () => metrics.close() };
}
