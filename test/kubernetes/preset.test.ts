/** The preset `kubernetes` in the configuration, and as `chargehouse rules --preset kubernetes` prints it. */
import t from "tap";
import { parse, stringify } from "yaml";
import { UsageError } from "../../src/cli/command.js";
import { rulesCommand } from "../../src/cli/rules.js";
import { loadConfig } from "../../src/config/load.js";
import { formatProblem } from "../../src/config/reader/problem.js";
import { focus } from "../../src/ingest/ecosystems/focus/index.js";
import { kubernetesQueries } from "../../src/ingest/ecosystems/focus/usage/kubernetes/queries.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { settingsDigest } from "../../src/ingest/settings-digest.js";
import { commandIo } from "../cli/command-io.js";

const tenant = (
  usage: string,
  more = "",
  metrics = "\n      metrics: { url: http://127.0.0.1:9090 }",
) => `tenants:
  acme:
    ecosystem: focus
    tenant_id: acme
    storage: { connection_string: "embedded:acme" }
    allocation:
      rules:
        - name: nodes
          where: { resource_id: "i-*" }
          split: [{ by: usage, metric: kubernetes_nodes }]
        - name: volumes
          where: { resource_id: "vol-*" }
          split: [{ by: usage, metric: kubernetes_volumes }]
    plugin_settings:
      sources: [{ name: bills, location: /bills }]${metrics}${more}
      ${usage.replaceAll("\n", "\n      ").trimEnd()}
`;

const load = (text: string) => loadConfig(text, { file: "c.yaml", env: {}, ecosystems });

function tenantOf(text: string) {
  const loaded = load(text);
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join("\n"));
  const found = loaded.config.tenants.get("acme");
  if (found === undefined) throw new Error("no tenant");
  return found;
}

const problemsOf = (text: string) => {
  const loaded = load(text);
  return loaded.ok ? [] : loaded.problems.map((each) => formatProblem(each).replace(/^c.yaml:\d+: /, ""));
};

async function printed(...args: string[]) {
  const { io, written } = commandIo();
  t.equal(await rulesCommand.run(args, io), 0);
  return written.stdout;
}

t.test("what the command prints can be pasted in place of the preset, and means the same", async (t) => {
  const text = await printed("--preset", "kubernetes");
  const preset = tenantOf(tenant("usage: { preset: kubernetes }"));
  const pasted = tenantOf(tenant(text));
  t.strictSame(pasted, preset);
  t.equal(
    settingsDigest(focus, pasted.plugin_settings),
    settingsDigest(focus, preset.plugin_settings),
    "no window is gathered again",
  );
  t.strictSame(parse(text), { usage: { queries: kubernetesQueries() } });
  t.ok(text.startsWith("# Paste this into plugin_settings of a tenant"), text.slice(0, 100));
  t.notOk(/[^\n]{160}/.test(text), "lines are short enough to read");
});

t.test("the preset stands beside queries and uploads of the tenant", async (t) => {
  const own = "{ metric: requests, query: a, resource_id: b, identity_label: c }";
  const usage = `usage: { preset: kubernetes, uploads: { metrics: [gpu_hours] }, queries: [${own}] }`;
  const { plugin_settings: settings } = tenantOf(tenant(usage));
  t.strictSame(focus.usageMetrics?.(settings), [
    "requests",
    "kubernetes_nodes",
    "kubernetes_volumes",
    "gpu_hours",
  ]);
});

t.test("every setting changes the queries, and spelled-out defaults change nothing", async (t) => {
  const queriesOf = (settings: Record<string, string>) => {
    const { plugin_settings } = tenantOf(
      tenant(stringify({ usage: { preset: "kubernetes", kubernetes: settings } })),
    );
    const usage: unknown = Reflect.get(plugin_settings, "usage");
    return stringify(usage);
  };
  const usual = queriesOf({});
  t.equal(queriesOf({ idle: "keep", gib_per_core: "7.50" }), usual);
  const changed = [
    { metric_selector: 'cluster = "prod"' },
    { namespace_label: "label_team" },
    { gib_per_core: "9" },
    { idle: "spread" },
    { aws_arn: "arn:aws:ec2:eu-west-1:123456789012" },
  ].map(queriesOf);
  t.equal(new Set([usual, ...changed]).size, 6);
  const selectors = changed[0]?.match(/(kube|container)_\w+/g) ?? [];
  t.equal(changed[0]?.match(/cluster="prod"/g)?.length, selectors.length, "every selector is narrowed");
  t.equal(selectors.length, 16);
});

t.test("settings that do not fit are refused with their path", async (t) => {
  const path = "tenants.acme.plugin_settings";
  t.strictSame(problemsOf(tenant("usage: { preset: kubernetes }", "", "")), [
    `${path}.metrics: is required: the queries of usage.preset ask Prometheus`,
  ]);
  t.strictSame(problemsOf(tenant("usage: { preset: kubernetes }", "\n      metrics_step_seconds: 60")), [
    `${path}.metrics_step_seconds: must be a multiple of 300, not 60: the preset reads metrics every 300 seconds`,
  ]);
  t.strictSame(
    problemsOf(
      tenant(
        "usage: { uploads: { metrics: [kubernetes_nodes, kubernetes_volumes] }, kubernetes: { idle: keep } }",
      ),
    ),
    [`${path}.usage.kubernetes: has no effect without preset: kubernetes`],
  );
  const own = "{ metric: kubernetes_nodes, query: a, resource_id: b, identity_label: c }";
  const twice = "is a metric of the preset kubernetes too: give it another name";
  t.strictSame(
    problemsOf(
      tenant(`usage: { preset: kubernetes, queries: [${own}], uploads: { metrics: [kubernetes_volumes] } }`),
    ),
    [`${path}.usage.queries[0].metric: ${twice}`, `${path}.usage.uploads.metrics[0]: ${twice}`],
  );
});

t.test("a preset that does not exist is refused with the names of those that do", async (t) => {
  const { io, written } = commandIo();
  const refused = rulesCommand.run(["--preset", "kubernetis"], io);
  await t.rejects(
    refused,
    new UsageError(
      '--preset must be one of kubernetes, jmx, strimzi, redpanda, kafka_exporter, not "kubernetis"',
    ),
  );
  t.equal(written.stdout, "");
});
