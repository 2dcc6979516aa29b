/**
 * A simulated Kubernetes cluster on Amazon's machines: what its containers request and use on each day, and the series
 * that the queries of the preset `kubernetes` result in. Everything is a function of the seed.
 */
import { chance, hash } from "../hash.js";
import type { RawSeries, SeriesOf } from "../series.js";

export interface ClusterOptions {
  readonly seed: number;
  readonly nodes: number;
}

export interface SimulatedNode {
  readonly name: string;
  /** Amazon's id, which is the `ResourceId` of the bill. */
  readonly id: string;
  readonly providerId: string;
  readonly cores: number;
  readonly gib: number;
}

export interface SimulatedContainer {
  readonly node: SimulatedNode;
  readonly namespace: string;
  readonly pod: string;
  readonly requested: Held;
  used(day: number): Held;
}

/** Cores, and GiB of memory. */
export interface Held {
  readonly cpu: number;
  readonly memory: number;
}

export interface SimulatedVolume {
  readonly name: string;
  readonly id: string;
  readonly namespace: string;
  readonly claim: string;
  readonly gib: number;
}

export interface SimulatedCluster {
  readonly nodes: readonly SimulatedNode[];
  readonly containers: readonly SimulatedContainer[];
  readonly volumes: readonly SimulatedVolume[];
}

const NAMESPACES = ["shop", "search", "data", "ml", "kube-system", "monitoring"] as const;
/** The last namespaces are the platform's, and run on every node. */
const OF_PLATFORM = ["kube-system", "monitoring"];

export function simulatedCluster({ seed, nodes: count }: ClusterOptions): SimulatedCluster {
  const idOf = (kind: number, rank: number) =>
    [1, 2, 3].map((part) => hash(seed, kind, rank, part).toString(16).padStart(8, "0")).join("");
  const nodes = Array.from({ length: count }, (_, rank) => {
    const id = `i-${idOf(1, rank).slice(0, 17)}`;
    return {
      name: `ip-10-0-${rank >> 8}-${rank & 255}.eu-central-1.compute.internal`,
      id,
      providerId: `aws:///eu-central-1${"abc"[rank % 3]}/${id}`,
      cores: 8,
      gib: 32,
    };
  });
  const containers = nodes.flatMap((node, rank) =>
    NAMESPACES.flatMap((namespace, at) => {
      const isOfPlatform = OF_PLATFORM.includes(namespace);
      if (!isOfPlatform && chance(seed, 2, rank, at) < 0.25) return [];
      const size = isOfPlatform ? 0.5 : 1 + (hash(seed, 3, rank, at) % 4) / 2;
      const used = (day: number) => (0.3 + 0.9 * chance(seed, 4, rank, at, day)) * size;
      return [
        {
          node,
          namespace,
          pod: `${namespace}-${idOf(2, rank * NAMESPACES.length + at).slice(0, 10)}`,
          requested: { cpu: 0.75 * size, memory: 3 * size },
          used: (day: number) => ({ cpu: used(day), memory: 2.5 * used(day) }),
        },
      ];
    }),
  );
  const volumes = ["data", "ml", "monitoring"].map((namespace, rank) => ({
    name: `pvc-${idOf(3, rank).slice(0, 8)}`,
    id: `vol-${idOf(4, rank).slice(0, 17)}`,
    namespace,
    claim: `${namespace}-store`,
    gib: 100 * (rank + 1),
  }));
  return { nodes, containers, volumes };
}

/** Names of the results of the preset's queries. */
export interface ResultNames {
  readonly nodes: string;
  readonly volumes: string;
}

/** The results of the preset's queries with its default settings, as a Prometheus would calculate them. */
export function clusterSeries(
  cluster: SimulatedCluster,
  { gibPerCore, names }: { readonly gibPerCore: number; readonly names: ResultNames },
): SeriesOf {
  const series: Readonly<Record<string, readonly RawSeries[]>> = {
    [names.nodes]: cluster.nodes.flatMap((node) => seriesOfNode(cluster, node, gibPerCore)),
    [names.volumes]: cluster.volumes.map(({ id, namespace, gib }) => ({
      labels: { resource_id: id, namespace },
      inHour: () => gib,
    })),
  };
  return (metric) => series[metric] ?? [];
}

function seriesOfNode(
  { containers }: SimulatedCluster,
  node: SimulatedNode,
  gibPerCore: number,
): RawSeries[] {
  const weight = ({ cpu, memory }: Held) => gibPerCore * cpu + memory;
  const onNode = containers.filter((container) => container.node === node);
  const heldOn = (day: number, namespaces: (namespace: string) => boolean) =>
    onNode
      .filter(({ namespace }) => namespaces(namespace))
      .map(({ requested, used }) => larger(requested, used(day)))
      .reduce(({ cpu, memory }, held) => ({ cpu: cpu + held.cpu, memory: memory + held.memory }), NOTHING);
  const shares = [...new Set(onNode.map(({ namespace }) => namespace))].map((namespace) => ({
    labels: { resource_id: node.id, namespace },
    inHour: (hour: number) => weight(heldOn(dayOf(hour), (each) => each === namespace)),
  }));
  const idle = (hour: number) => {
    const { cpu, memory } = heldOn(dayOf(hour), () => true);
    return weight({ cpu: Math.max(0, node.cores - cpu), memory: Math.max(0, node.gib - memory) });
  };
  return [...shares, { labels: { resource_id: node.id, namespace: "idle" }, inHour: idle }];
}

const NOTHING: Held = { cpu: 0, memory: 0 };

function larger(one: Held, other: Held): Held {
  return { cpu: Math.max(one.cpu, other.cpu), memory: Math.max(one.memory, other.memory) };
}

const dayOf = (hour: number) => Math.floor(hour / 24);
