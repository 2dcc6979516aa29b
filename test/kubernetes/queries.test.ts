/** The queries of the preset `kubernetes` on a real Prometheus. */
import t from "tap";
import { midnightSeconds } from "../../src/common/days.js";
import {
  kubernetesQueries,
  NODES,
  VOLUMES,
} from "../../src/ingest/ecosystems/focus/usage/kubernetes/queries.js";
import { startRealPrometheus } from "../ingest/prometheus/real-prometheus.js";
import { needs } from "../programs.js";
import { ofContainer, ofNamespace, ofNode, ofVolume, openMetricsOf, type Series } from "./exposition.js";
import { hoursOf, wholeDayOf } from "./results.js";

const DAY = "2026-06-24";
const REAL = needs("prometheus", "promtool");

const queryOf = (metric: string, changes: Parameters<typeof kubernetesQueries>[0] = {}) => {
  const found = kubernetesQueries(changes).find((each) => each.metric === metric);
  if (found === undefined) throw new Error(metric);
  return found.query;
};

const VMSS =
  "/subscriptions/1f/resourceGroups/mc_shop/providers/Microsoft.Compute/virtualMachineScaleSets/aks-1";
const [SCALE_SET, MACHINE] = [VMSS, VMSS.replace("virtualMachineScaleSets/aks-1", "virtualMachines/vm-1")];
const ON_GOOGLE = "//compute.googleapis.com/projects/acme/zones/europe-west3-a/instances/gke-1";

const nodes = [
  ...ofNode("a", "aws:///eu-west-1a/i-0abc", [4, 16]),
  ...ofNode("b", `azure://${SCALE_SET}/virtualMachines/0`, [2, 8]),
  ...ofNode("c", `azure://${SCALE_SET}/virtualMachines/1`, [2, 8]),
  ...ofNode("d", `azure://${MACHINE}`, [2, 8]),
  ...ofNode("e", "gce://acme/europe-west3-a/gke-1", [2, 8]),
  ...ofNode("f", "kind://docker/kind/worker", [2, 8]),
  ...ofNode("g", "kind://docker/kind/full", [2, 8]),
];
const namespaces = [
  ...ofNamespace("shop", { label_team: "checkout" }),
  ...ofNamespace("data", { label_team: "" }),
  ...ofNamespace("kube-system", {}),
];
const onMachine = (node: string, namespace: string) =>
  ofContainer({ node, namespace, pod: `${namespace}-${node}`, requests: [1, 4], uses: [0.5, 2] });

const whole: Series[] = [
  ...nodes,
  ...namespaces,
  ...onMachine("a", "shop"),
  ...ofContainer({ node: "a", namespace: "data", pod: "data-0", requests: [0.5, 2], uses: [1, 1] }),
  ...ofContainer({ node: "a", namespace: "data", pod: "data-1", uses: [0.25, 0.5] }),
  ...ofContainer({ node: "a", namespace: "kube-system", pod: "proxy", requests: [0.2, 0.5] }),
  ...ofContainer({ node: "a", namespace: "data", pod: "done", requests: [1, 1], phase: "Succeeded" }),
  ...ofContainer({ node: "a", namespace: "data", pod: "next", requests: [0.1, 0], phase: "Pending" }),
  ...onMachine("b", "shop"),
  ...onMachine("c", "shop"),
  ...onMachine("c", "data"),
  ...onMachine("e", "shop"),
  ...onMachine("f", "shop"),
  ...ofContainer({ node: "g", namespace: "data", pod: "burst", requests: [1, 4], uses: [2.5, 6] }),
];

t.test(
  "containers weigh by the larger of request and use, and the rest of a node is idle",
  REAL,
  async (t) => {
    const { url } = await startRealPrometheus(t, openMetricsOf(whole, DAY));
    const kept = {
      // Cores weigh 7.5: 1 × 7.5 + 4; (1 + 0.25 + 0.1) × 7.5 + 2 + 0.5; 0.2 × 7.5 + 0.5; of 4 × 7.5 + 16.
      "i-0abc data": 12.625,
      "i-0abc idle": 46 - 12.625 - 2 - 11.5,
      "i-0abc kube-system": 2,
      "i-0abc shop": 11.5,
      // Two machines of the scale set, and a machine without containers.
      [`${SCALE_SET} data`]: 11.5,
      [`${SCALE_SET} idle`]: 11.5,
      [`${SCALE_SET} shop`]: 23,
      [`${MACHINE} idle`]: 23,
      [`${ON_GOOGLE} idle`]: 11.5,
      [`${ON_GOOGLE} shop`]: 11.5,
      "f idle": 11.5,
      "f shop": 11.5,
      // It uses more than its cores, which does not make up for idle memory.
      "g data": 24.75,
      "g idle": 2,
    };
    t.strictSame(await wholeDayOf(url, queryOf(NODES), DAY), kept);

    const isIdle = ([name]: readonly [string, number]) => name.endsWith(" idle");
    const spread = Object.fromEntries(Object.entries(kept).filter((each) => !isIdle(each)));
    t.strictSame(await wholeDayOf(url, queryOf(NODES, { idle: "spread" }), DAY), spread, "nothing is idle");

    const labelled = await wholeDayOf(url, queryOf(NODES, { namespace_label: "label_team" }), DAY);
    const owned = Object.entries(kept).map(([name, value]) => [name.replace(" shop", " checkout"), value]);
    t.strictSame(
      Object.entries(labelled).sort(),
      owned.sort(),
      "a namespace without the label has its own name",
    );

    const arn = { aws_arn: "arn:aws:ec2:eu-west-1:123456789012" };
    const named = Object.keys(await wholeDayOf(url, queryOf(NODES, arn), DAY));
    t.strictSame(
      named.sort(),
      Object.keys(kept)
        .map((name) => name.replace("i-0abc", `${arn.aws_arn}:instance/i-0abc`))
        .sort(),
    );
    const byCore = await wholeDayOf(url, queryOf(NODES, { gib_per_core: "10" }), DAY);
    t.equal(byCore["i-0abc shop"], 14);
  },
);

t.test("a pod weighs for the time that it exists, wherever it runs", REAL, async (t) => {
  const noon = midnightSeconds(DAY) + 43_200;
  const half = { namespace: "shop", pod: "db-0", requests: [1, 4] as const, uses: [0.5, 2] as const };
  const moving = [
    ...ofNode("a", "aws:///eu-west-1a/i-a", [4, 16]),
    ...ofNode("b", "aws:///eu-west-1b/i-b", [4, 16]),
    ...ofContainer({ ...half, node: "a", exists: (second) => second < noon - 1800 }),
    ...ofContainer({ ...half, node: "b", exists: (second) => second >= noon - 1800 }),
  ];
  const { url } = await startRealPrometheus(t, openMetricsOf(moving, DAY));
  const { "i-a shop": a = [], "i-b shop": b = [] } = await hoursOf(url, queryOf(NODES), DAY);
  t.strictSame(a.slice(0, 11), Array(11).fill(11.5));
  t.strictSame(b.slice(-12), Array(12).fill(11.5));
  const moved = (a[11] ?? 0) + (b[0] ?? 0);
  t.ok(
    moved >= 11.5 && moved <= 13.5,
    `the hour of the move counts once, as far as samples can tell: ${moved}`,
  );
});

t.test(
  "replicas of the exporters count once, and other clusters do not count with a selector",
  REAL,
  async (t) => {
    const replica = (name: string, cluster: string) =>
      [
        ...ofNode("a", "aws:///eu-west-1a/i-a", [4, 16]),
        ...ofContainer({ node: "a", namespace: "shop", pod: "web", requests: [1, 4], uses: [2, 2] }),
        ...ofVolume({
          name: "pv",
          namespace: "shop",
          claim: "web",
          gib: 10,
          ids: { csi_volume_handle: "vol-1" },
        }),
      ].map((series) => ({ ...series, labels: { ...series.labels, cluster, prometheus_replica: name } }));
    const other = ofContainer({
      node: "a",
      namespace: "other",
      pod: "web",
      requests: [1, 4],
      more: { cluster: "test" },
    });
    const text = openMetricsOf([...replica("0", "prod"), ...replica("1", "prod"), ...other], DAY);
    const { url } = await startRealPrometheus(t, text);
    const changes = { metric_selector: 'cluster="prod"' };
    t.strictSame(await wholeDayOf(url, queryOf(NODES, changes), DAY), { "i-a idle": 27, "i-a shop": 19 });
    t.strictSame(await wholeDayOf(url, queryOf(VOLUMES, changes), DAY), { "vol-1 shop": 10 });
  },
);

t.test("volumes weigh by the size of their claims, under the id of the provider", REAL, async (t) => {
  const volume = (name: string, namespace: string, gib: number, ids: Record<string, string>) =>
    ofVolume({ name, namespace, claim: `claim-of-${name}`, gib, ids });
  const disk = "/subscriptions/1f/resourceGroups/mc_shop/providers/Microsoft.Compute/disks/pvc-2";
  const series = [
    ...namespaces,
    ...volume("pvc-1", "shop", 20, { csi_driver: "ebs.csi.aws.com", csi_volume_handle: "vol-0a" }),
    ...volume("pvc-2", "shop", 30, { csi_driver: "disk.csi.azure.com", csi_volume_handle: disk }),
    ...volume("pvc-3", "data", 40, {
      csi_driver: "pd.csi.storage.gke.io",
      csi_volume_handle: "projects/acme/zones/europe-west3-a/disks/pvc-3",
    }),
    ...volume("pvc-4", "data", 50, { ebs_volume_id: "aws://eu-west-1a/vol-0b" }),
    ...volume("pvc-5", "data", 1, { csi_driver: "efs.csi.aws.com", csi_volume_handle: "fs-0c::fsap-0d" }),
    ...volume("pvc-6", "shop", 2, { csi_driver: "efs.csi.aws.com", csi_volume_handle: "fs-0c::fsap-0e" }),
    ...volume("pvc-7", "shop", 3, { nfs_server: "10.0.0.9", csi_volume_handle: "" }),
  ];
  const { url } = await startRealPrometheus(t, openMetricsOf(series, DAY));
  t.strictSame(await wholeDayOf(url, queryOf(VOLUMES), DAY), {
    [`${disk} shop`]: 30,
    "//compute.googleapis.com/projects/acme/zones/europe-west3-a/disks/pvc-3 data": 40,
    "fs-0c data": 1,
    "fs-0c shop": 2,
    "pvc-7 shop": 3,
    "vol-0a shop": 20,
    "vol-0b data": 50,
  });
  const arn = { aws_arn: "arn:aws:ec2:eu-west-1:123456789012", namespace_label: "label_team" };
  const named = await wholeDayOf(url, queryOf(VOLUMES, arn), DAY);
  t.equal(named[`${arn.aws_arn}:volume/vol-0a checkout`], 20);
  t.equal(named[`${arn.aws_arn}:volume/vol-0b data`], 50);
});
