/** The simulated Kubernetes cluster: a real Prometheus calculates the same from its containers, and its bill conforms. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { midnightSeconds } from "../../src/common/days.js";
import { checkFile } from "../../src/focus/check/check-file.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { kubernetesQueries } from "../../src/ingest/ecosystems/focus/usage/kubernetes/queries.js";
import { csvGzOf } from "../../src/simulator/bills/files.js";
import { clusterBill } from "../../src/simulator/kubernetes/bill.js";
import { clusterSeries, simulatedCluster } from "../../src/simulator/kubernetes/cluster.js";
import { startRealPrometheus } from "../ingest/prometheus/real-prometheus.js";
import { ofContainer, ofNode, ofVolume, openMetricsOf } from "../kubernetes/exposition.js";
import { wholeDayOf } from "../kubernetes/results.js";
import { needs } from "../programs.js";
import { temporaryFolder, testLogger } from "../stores.js";

const DAY = "2026-06-24";
const cluster = simulatedCluster({ seed: 3, nodes: 5 });

t.test(
  "the results that it returns are those of a real Prometheus with its containers",
  needs("prometheus", "promtool"),
  async (t) => {
    const day = midnightSeconds(DAY) / 86_400;
    const metrics = [
      ...cluster.nodes.flatMap(({ name, providerId, cores, gib }) => ofNode(name, providerId, [cores, gib])),
      ...cluster.containers.flatMap(({ node, namespace, pod, requested, used }) =>
        ofContainer({
          node: node.name,
          namespace,
          pod,
          requests: [requested.cpu, requested.memory],
          uses: [used(day).cpu, used(day).memory],
        }),
      ),
      ...cluster.volumes.flatMap(({ name, id, namespace, claim, gib }) =>
        ofVolume({ name, namespace, claim, gib, ids: { csi_volume_handle: id } }),
      ),
    ];
    const { url } = await startRealPrometheus(t, openMetricsOf(metrics, DAY));
    const seriesOf = clusterSeries(cluster, {
      gibPerCore: 7.5,
      names: { nodes: "nodes", volumes: "volumes" },
    });
    for (const [at, name] of ["nodes", "volumes"].entries()) {
      const simulated = seriesOf(name, {}).map(({ labels, inHour }) => [
        `${labels.resource_id} ${labels.namespace}`,
        Math.round((inHour(day * 24) ?? 0) * 1e6) / 1e6,
      ]);
      const real = await wholeDayOf(url, kubernetesQueries()[at]?.query ?? "", DAY);
      t.strictSame(Object.entries(real).sort(), simulated.sort(), name);
      t.ok(simulated.length >= 3, `${simulated.length} series`);
    }
  },
);

t.test("its bill has no findings, and the same seed produces the same bill", async (t) => {
  const lines = clusterBill(cluster, ["2026-06-05", "2026-07-01"], true);
  const file = join(temporaryFolder(t), "bill.csv.gz");
  writeFileSync(file, csvGzOf(lines));
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());
  const { findings, rows } = await checkFile(engine, file);
  t.strictSame(findings, []);
  // On each of 26 days, 5 nodes, 3 volumes, the fee and a bucket; once, support.
  t.equal(rows, 10 * 26 + 1);
  const again = clusterBill(simulatedCluster({ seed: 3, nodes: 5 }), ["2026-06-05", "2026-07-01"], true);
  t.ok(JSON.stringify(again) === JSON.stringify(lines));
});
