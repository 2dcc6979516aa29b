/** The Helm chart, rendered by `scripts/render-chart.go`, is checked against the schemas of Kubernetes. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { Service } from "kubernetes-models/v1/Service";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { deployFiles, documentsOf, loaded } from "./files.js";

const rendered = readFileSync(join(projectRoot(), "test/deploy/chart.yaml"), "utf8");

interface Selector {
  readonly matchLabels: Readonly<Record<string, string>>;
}

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly securityContext: unknown;
    readonly volumes: readonly { readonly name: string; readonly secret?: unknown }[];
    readonly containers: readonly {
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
      readonly livenessProbe: unknown;
      readonly securityContext: unknown;
      readonly ports: unknown;
      readonly args: unknown;
    }[];
  };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  /** Set for a Deployment. */
  readonly spec?: { readonly template: PodTemplate; readonly selector: Selector };
}

const manifests = documentsOf<Manifest>(rendered);

const models = { Deployment, Ingress, NetworkPolicy, PodDisruptionBudget, ConfigMap, Service };

function problemWith(manifest: Manifest): string | undefined {
  const model = models[manifest.kind as keyof typeof models];
  if (model === undefined) return `no schema for ${manifest.kind}`;
  try {
    new model(manifest as never).validate();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

t.test("the rendered chart is up to date (scripts/render-chart.go)", async (t) => {
  const sources = deployFiles
    .filter((file) => file.startsWith("helm/"))
    .map((file) => `deploy/${file}`)
    .concat("test/deploy/chart-values.yaml");
  const digest = createHash("sha256");
  for (const file of sources.sort()) digest.update(readFileSync(join(projectRoot(), file)));
  t.match(rendered.split("\n")[0], new RegExp(` ${digest.digest("hex")}$`));
});

t.test("the manifests of the chart match the schemas of Kubernetes", async (t) => {
  const found = manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  t.strictSame(found, [
    "Deployment costs-api",
    "Service costs",
    "PodDisruptionBudget costs-api",
    "Ingress costs",
    "ConfigMap costs",
    "PodMonitor costs",
    "NetworkPolicy costs",
    "Deployment costs-worker",
  ]);
  for (const manifest of manifests.filter(({ kind }) => kind !== "PodMonitor"))
    t.equal(problemWith(manifest), undefined, manifest.kind);
  const broken = { ...manifests[0], spec: { replicas: "2" } } as unknown as Manifest;
  t.match(problemWith(broken), /replicas must be integer/, "the schemas refuse");
});

t.test("the processes of the chart have no rights, and their configuration is valid", async (t) => {
  const { data = {} } = manifests.find(({ kind }) => kind === "ConfigMap") ?? {};
  const env = { POSTGRES_PASSWORD: "p", CLICKHOUSE_PASSWORD: "c" };
  const { api } = loaded(t, data["chargehouse.yaml"] ?? "", "the ConfigMap", env);
  const ports = { api: api.port, worker: api.worker_port };
  for (const mode of ["api", "worker"] as const) {
    const spec = manifests.find(({ metadata }) => metadata.name === `costs-${mode}`)?.spec;
    if (spec === undefined) throw new Error(`no Deployment for ${mode}`);
    const { template, selector } = spec;
    for (const [label, value] of Object.entries(selector.matchLabels))
      t.equal(template.metadata.labels[label], value, label);
    t.strictSame(template.spec.securityContext, {
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
      seccompProfile: { type: "RuntimeDefault" },
    });
    const [container] = template.spec.containers;
    t.strictSame(container?.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    t.strictSame(container?.ports, [{ name: "http", containerPort: ports[mode] }]);
    t.strictSame(container?.livenessProbe, {
      httpGet: { path: "/health", port: "http", scheme: "HTTPS" },
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 6,
    });
    const mounted = container?.volumeMounts.find(({ name }) => name === "tls")?.mountPath ?? "nowhere";
    t.equal(api.tls?.key_file, `${mounted}/tls.key`);
    t.strictSame(
      template.spec.volumes.find(({ name }) => name === "tls")?.secret,
      { secretName: "costs-pods", defaultMode: 0o440 },
      "nobody but the service's user reads the key",
    );
    t.strictSame(container?.args, ["serve", "--mode", mode, "--config", "/etc/chargehouse/chargehouse.yaml"]);
  }
});
