/**
 * The queries of the preset `kubernetes`, on the metrics of kube-state-metrics and of cAdvisor. A user could have
 * written them by hand.
 *
 * All selectors are merged by `max`, so series that exist once for each replica count once. All joins choose one series
 * for each key, so a pod that moves between nodes does not make a query fail.
 */
import { DEFAULT_GIB_PER_CORE, type KubernetesSettings } from "./settings.js";

export const NODES = "kubernetes_nodes";
export const VOLUMES = "kubernetes_volumes";

/** Metrics of the preset. */
export const kubernetesMetrics = [NODES, VOLUMES] as const;

/** Seconds between the points of a step at which the metrics are read. */
export const RESOLUTION_SECONDS = 300;

export interface KubernetesQuery {
  readonly metric: string;
  readonly query: string;
  readonly identity_label: string;
  readonly resource_label: string;
  /** Microsoft writes the same resource id in different cases. */
  readonly ignore_case: true;
}

type Changes = Partial<KubernetesSettings>;

export function kubernetesQueries(changes: Changes = {}): KubernetesQuery[] {
  const common = {
    identity_label: identityLabel(changes),
    resource_label: "resource_id",
    ignore_case: true,
  } as const;
  return [
    { metric: NODES, query: overStep(nodeShares(changes)), ...common },
    { metric: VOLUMES, query: overStep(volumeSizes(changes)), ...common },
  ];
}

/** The average of a step. A step has a point more in Prometheus 2 than in Prometheus 3, hence the count. */
function overStep(expression: string): string {
  return `sum_over_time((
  ${indented(expression)}
)[$step:5m]) / scalar(count_over_time(vector(1)[$step:5m]))`;
}

/** The weight of each identity on each node, in GiB of memory. */
function nodeShares(changes: Changes): string {
  const identity = identityLabel(changes);
  const shares = `sum by (node, ${identity}) (
  ${indented(held(changes))}
  * on (resource) group_left ()
    ${indented(price(changes), 4)}${indented(ofOwners(changes))}
)`;
  const all =
    changes.idle === "spread"
      ? shares
      : `(
  ${indented(shares)}
  or
  label_replace(
    ${indented(idleOfNodes(changes), 4)},
    "${identity}", "idle", "", ""
  )
)`;
  return `sum by (resource_id, ${identity}) (
  ${indented(all)}
  * on (node) group_left (resource_id)
    ${indented(nodes(changes), 4)}
)`;
}

/** Cores and bytes that each container holds: the larger of its request and its use. */
function held(changes: Changes): string {
  const of = selectorOf(changes);
  const containers = ['container!=""', 'container!="POD"'];
  return `max by (node, namespace, pod, container, resource) (
  label_replace(
    max by (node, namespace, pod, container, resource) (
      ${of("kube_pod_container_resource_requests", 'node!=""', 'resource=~"cpu|memory"')}
    )
    * on (namespace, pod) group_left ()
      max by (namespace, pod) (${of("kube_pod_status_phase", 'phase=~"Pending|Running"')} == 1),
    "kind", "request", "", ""
  )
  or
  label_replace(
    max by (namespace, pod, container, resource) (
      label_replace(
        rate(${of("container_cpu_usage_seconds_total", ...containers)}[5m]),
        "resource", "cpu", "", ""
      )
      or
      label_replace(
        ${of("container_memory_working_set_bytes", ...containers)},
        "resource", "memory", "", ""
      )
    )
    * on (namespace, pod) group_left (node)
      topk by (namespace, pod) (1, max by (namespace, pod, node) (${of("kube_pod_info", 'node!=""')})),
    "kind", "use", "", ""
  )
)`;
}

/** The weight of a core and of a byte. */
function price({ gib_per_core: cores = DEFAULT_GIB_PER_CORE }: Changes): string {
  return `(
  label_replace(vector(${cores}), "resource", "cpu", "", "")
  or
  label_replace(vector(1 / 2^30), "resource", "memory", "", "")
)`;
}

/** The weight of what no container of a node holds. */
function idleOfNodes(changes: Changes): string {
  const capacity = `max by (node, resource) (${selectorOf(changes)("kube_node_status_capacity", 'resource=~"cpu|memory"')})`;
  return `sum by (node) (
  clamp_min(
    ${capacity}
    - on (node, resource) (
      sum by (node, resource) (
        ${indented(held(changes), 8)}
      )
      or
      0 * ${capacity}
    ),
    0
  )
  * on (resource) group_left ()
    ${indented(price(changes), 4)}
)`;
}

/** The bill's `ResourceId` of each node. Nodes of other providers keep their name. */
function nodes(changes: Changes): string {
  const { aws_arn: arn } = changes;
  const named = resourceIds(selectorOf(changes)("kube_node_info"), [
    ["node", "(.+)", "$1"],
    ["provider_id", "aws:///[^/]+/(i-.+)", arn === undefined ? "$1" : `${arn}:instance/$1`],
    ["provider_id", "azure://(.+)", "$1"],
    ["provider_id", "azure://(.+/virtualMachineScaleSets/[^/]+)/virtualMachines/.+", "$1"],
    [
      "provider_id",
      "gce://([^/]+)/([^/]+)/([^/]+)",
      "//compute.googleapis.com/projects/$1/zones/$2/instances/$3",
    ],
  ]);
  return `topk by (node) (1, max by (node, resource_id) (
  ${indented(named)}
))`;
}

/** The requested size of each claim on each volume, in GiB. */
function volumeSizes(changes: Changes): string {
  const of = selectorOf(changes);
  const { aws_arn: arn } = changes;
  const volume = arn === undefined ? "$1" : `${arn}:volume/$1`;
  const named = resourceIds(of("kube_persistentvolume_info"), [
    ["persistentvolume", "(.+)", "$1"],
    ["csi_volume_handle", "(.+)", "$1"],
    ["csi_volume_handle", "(vol-.+)", volume],
    ["ebs_volume_id", "(?:aws://[^/]+/)?(vol-.+)", volume],
    ["csi_volume_handle", "(fs-[0-9a-f]+)(?:::.*)?", "$1"],
    ["csi_volume_handle", "(projects/.+/disks/.+)", "//compute.googleapis.com/$1"],
  ]);
  return `sum by (resource_id, ${identityLabel(changes)}) (
  label_replace(
    max by (namespace, persistentvolumeclaim, volumename) (
      ${of("kube_persistentvolumeclaim_info", 'volumename!=""')}
    ),
    "persistentvolume", "$1", "volumename", "(.+)"
  )
  * on (namespace, persistentvolumeclaim) group_left ()
    max by (namespace, persistentvolumeclaim) (
      ${of("kube_persistentvolumeclaim_resource_requests_storage_bytes")}
    ) / 2^30
  * on (persistentvolume) group_left (resource_id)
    topk by (persistentvolume) (1, max by (persistentvolume, resource_id) (
      ${indented(named, 6)}
    ))${indented(ofOwners(changes))}
)`;
}

/** The join with the identity of each namespace, if it is the value of a label. */
function ofOwners(changes: Changes): string {
  const { namespace_label: label } = changes;
  if (label === undefined) return "";
  const of = selectorOf(changes);
  return `
* on (namespace) group_left (identity)
  topk by (namespace) (1,
    label_replace(label_replace(
      group by (namespace, ${label}) (${of("kube_namespace_labels")} or on (namespace) ${of("kube_namespace_created")}),
      "identity", "$1", "namespace", "(.+)"),
      "identity", "$1", "${label}", "(.+)")
  )`;
}

const identityLabel = ({ namespace_label: label }: Changes) =>
  label === undefined ? "namespace" : "identity";

/** Returns a function that writes a selector. */
function selectorOf({ metric_selector: selector }: Changes) {
  return (metric: string, ...matchers: readonly string[]) => {
    const all = selector === undefined ? matchers : [...matchers, selector];
    return all.length === 0 ? metric : `${metric}{${all.join(",")}}`;
  };
}

/** Sets the label `resource_id`. The last pattern that matches counts. */
function resourceIds(
  series: string,
  rules: readonly (readonly [label: string, pattern: string, id: string])[],
): string {
  const lines = rules.map(([label, pattern, id]) => `"resource_id", "${id}", "${label}", "${pattern}")`);
  return `${"label_replace(".repeat(rules.length)}${series},\n  ${lines.join(",\n  ")}`;
}

function indented(text: string, spaces = 2): string {
  return text.replaceAll("\n", `\n${" ".repeat(spaces)}`);
}
