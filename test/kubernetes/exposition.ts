/** Texts for promtool with the metrics of kube-state-metrics and cAdvisor, as these exporters name them. */
import { midnightSeconds } from "../../src/common/days.js";

const GIB = 2 ** 30;

export type Labels = Readonly<Record<string, string>>;

export interface Series {
  readonly metric: string;
  readonly labels: Labels;
  /** The value at an instant, in seconds since 1970. Undefined if there is no sample. */
  readonly at: (second: number) => number | undefined;
}

export interface Container {
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container?: string;
  /** Cores and GiB. */
  readonly requests?: readonly [cores: number, gib: number];
  readonly uses?: readonly [cores: number, gib: number];
  readonly phase?: "Pending" | "Running" | "Succeeded";
  /** Whether it exists at an instant. Always by default. */
  readonly exists?: (second: number) => boolean;
  /** Labels of every series, such as that of a replica. */
  readonly more?: Labels;
}

const always = () => true;

export function ofContainer(given: Container): Series[] {
  const { node, namespace, pod, container = "main", requests, uses, exists = always, more = {} } = given;
  const phase = given.phase ?? "Running";
  const ofPod = { ...more, namespace, pod };
  const gauge = (metric: string, labels: Labels, value: number): Series => ({
    metric,
    labels: { ...ofPod, ...labels },
    at: (second) => (exists(second) ? value : undefined),
  });
  const requested = (resource: string, unit: string, value: number) =>
    gauge("kube_pod_container_resource_requests", { container, node, resource, unit }, value);
  const used = (inner: string, cores: number, gib: number): Series[] => [
    {
      metric: "container_cpu_usage_seconds_total",
      labels: { ...ofPod, container: inner, id: `/kubepods/${pod}/${inner}` },
      at: (second) => (exists(second) ? cores * (second - 1.7e9) : undefined),
    },
    gauge(
      "container_memory_working_set_bytes",
      { container: inner, id: `/kubepods/${pod}/${inner}` },
      gib * GIB,
    ),
  ];
  return [
    gauge("kube_pod_info", { node, host_ip: "10.0.0.1", created_by_kind: "ReplicaSet" }, 1),
    ...["Pending", "Running", "Succeeded"].map((each) =>
      gauge("kube_pod_status_phase", { phase: each }, each === phase ? 1 : 0),
    ),
    ...(requests === undefined
      ? []
      : [requested("cpu", "core", requests[0]), requested("memory", "byte", requests[1] * GIB)]),
    // cAdvisor also has the sum of a pod, and the container that holds its network.
    ...(uses === undefined
      ? []
      : [...used(container, ...uses), ...used("", ...uses), ...used("POD", 0.01, 0.01)]),
  ];
}

export function ofNode(node: string, providerId: string, [cores, gib]: readonly [number, number]): Series[] {
  const gauge = (metric: string, labels: Labels, value: number): Series => ({
    metric,
    labels: { node, ...labels },
    at: () => value,
  });
  return [
    gauge("kube_node_info", { provider_id: providerId, kernel_version: "6.1.0" }, 1),
    gauge("kube_node_status_capacity", { resource: "cpu", unit: "core" }, cores),
    gauge("kube_node_status_capacity", { resource: "memory", unit: "byte" }, gib * GIB),
    gauge("kube_node_status_capacity", { resource: "pods", unit: "integer" }, 110),
  ];
}

export function ofVolume(volume: {
  readonly name: string;
  readonly namespace: string;
  readonly claim: string;
  readonly gib: number;
  /** Labels of `kube_persistentvolume_info` with the provider's id. */
  readonly ids: Labels;
}): Series[] {
  const claim = { namespace: volume.namespace, persistentvolumeclaim: volume.claim };
  const at = (value: number) => () => value;
  return [
    {
      metric: "kube_persistentvolumeclaim_info",
      labels: { ...claim, volumename: volume.name, storageclass: "gp3" },
      at: at(1),
    },
    {
      metric: "kube_persistentvolumeclaim_resource_requests_storage_bytes",
      labels: claim,
      at: at(volume.gib * GIB),
    },
    {
      metric: "kube_persistentvolume_info",
      labels: { persistentvolume: volume.name, storageclass: "gp3", ...volume.ids },
      at: at(1),
    },
  ];
}

export function ofNamespace(namespace: string, labels: Labels): Series[] {
  return [
    { metric: "kube_namespace_created", labels: { namespace }, at: () => 1.7e9 },
    { metric: "kube_namespace_labels", labels: { namespace, ...labels }, at: () => 1 },
  ];
}

/** Samples of every minute, from ten minutes before the day to its end. */
export function openMetricsOf(series: readonly Series[], day: string): string {
  const midnight = midnightSeconds(day);
  const lines: string[] = [];
  for (const { metric, labels, at } of series) {
    const written = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    for (let second = midnight - 600; second <= midnight + 86_400; second += 60) {
      const value = at(second);
      if (value !== undefined) lines.push(`${metric}{${written.join(",")}} ${value} ${second}`);
    }
  }
  return [...lines, "# EOF", ""].join("\n");
}
