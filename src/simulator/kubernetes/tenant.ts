/** The tenant of the configuration with the simulated Kubernetes cluster. */
import { type SimulatedTenant, wholeHistory } from "../tenants.js";
import type { KubernetesPlatform } from "./platform.js";

export function kubernetesTenant({ metrics, folder, days }: KubernetesPlatform): SimulatedTenant {
  return {
    tenant_name: "kubernetes",
    tenant_id: "sim-kubernetes",
    ecosystem: "focus",
    ...wholeHistory(days),
    plugin_settings: {
      spread: "daily",
      sources: [{ name: "aws", location: folder }],
      metrics: { url: metrics.url },
      usage: { preset: "kubernetes" },
    },
    allocation: {
      identity: [{ tag: "team" }],
      rules: [
        {
          name: "nodes",
          where: { ServiceName: "AmazonEC2" },
          split: [{ by: "usage", metric: "kubernetes_nodes" }, { by: "nobody" }],
        },
        {
          name: "volumes",
          where: { ServiceName: "AmazonEBS" },
          split: [{ by: "usage", metric: "kubernetes_volumes" }, { by: "nobody" }],
        },
        {
          name: "cluster-fee",
          where: { ServiceName: "AmazonEKS" },
          split: [{ by: "cost", exclude: ["marketing"] }],
        },
        { name: "support", where: { ServiceName: "*Support*" }, split: [{ by: "cost" }], stage: 3 },
        { name: "by-name", split: [{ by: "line" }] },
      ],
      pass_on: [
        {
          name: "idle-nodes",
          from: ["idle"],
          split: [{ by: "cost", within: "resource_id" }, { by: "cost" }],
        },
        { name: "platform", from: ["kube-system", "monitoring"], split: [{ by: "cost" }] },
      ],
    },
  };
}
