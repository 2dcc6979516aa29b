/** Everything in `examples/` works: configurations, files for compose, and the dashboard, with simulated tenants. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { parse, stringify } from "yaml";
import { startSimulation, tenantsSection } from "../../src/cli/simulation.js";
import { projectRoot } from "../../src/common/project.js";
import { loadConfig } from "../../src/config/load.js";
import { parseDotEnv } from "../../src/config/reader/dotenv.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";
import { holds } from "../holds.js";
import { needs } from "../programs.js";
import { reconciled, runContext, runDay, runOnce, runRows } from "../runner/runs.js";
import { openTestStores, temporaryFolder } from "../stores.js";

const folder = join(projectRoot(), "examples");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
const textOf = (file: string) => readFileSync(join(folder, file), "utf8");

function envOf(file: string): Record<string, string> {
  const example = join(dirname(file), "env.example");
  if (!files.includes(example)) return {};
  const { values, problems } = parseDotEnv(textOf(example), example);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return values;
}

const configs = files.filter((file) => file === "chargehouse.yaml" || file.endsWith("config.yaml"));

t.test("every ecosystem has a configuration, which is valid with its documented environment", async (t) => {
  const shown = new Set<string>();
  for (const file of configs) {
    const loaded = loadConfig(textOf(file), { file, env: envOf(file), ecosystems });
    t.ok(loaded.ok, loaded.ok ? file : JSON.stringify(loaded.problems));
    if (loaded.ok) for (const { ecosystem } of loaded.config.tenants.values()) shown.add(ecosystem);
    t.equal(
      loadConfig(textOf(file), { file, env: {}, ecosystems }).ok,
      !file.includes("/"),
      "secrets have no default",
    );
  }
  t.strictSame([...shown].sort(), ["confluent_cloud", "focus", "generic_metrics_only", "self_managed_kafka"]);
});

interface Compose {
  readonly include?: readonly { readonly path: string }[];
  readonly services: Readonly<
    Record<
      string,
      { readonly image: string; readonly volumes?: readonly string[]; readonly ports?: readonly string[] }
    >
  >;
}

t.test(
  "compose files: pinned images, ports on loopback, files that exist, variables of env.example",
  async (t) => {
    const composed = files.filter((file) => file.endsWith("compose.yaml"));
    t.equal(composed.length, 3);
    for (const file of composed) {
      const { include = [], services }: Compose = parse(textOf(file));
      const here = join(folder, dirname(file));
      for (const { path } of include) t.ok(existsSync(join(here, path)), path);
      for (const [name, { image, volumes = [], ports = [] }] of Object.entries(services)) {
        t.match(image, /:v?\d/, name);
        for (const port of ports) t.match(port, /^127\.0\.0\.1:/, name);
        for (const volume of volumes.filter((each) => each.startsWith("."))) {
          t.ok(existsSync(join(here, volume.split(":")[0] ?? "")), volume);
        }
      }
      const variables = [
        ...textOf(file).matchAll(/\$\{(\w+)/g),
        ...textOf(file).matchAll(/environment: (\w+) }/g),
      ];
      const including = include.length > 0 ? [file] : composed.filter((each) => each !== file);
      for (const each of including) {
        for (const [, variable = ""] of variables) t.ok(variable in envOf(each), `${each}: ${variable}`);
      }
    }
  },
);

t.test("every other file is YAML or JSON", async (t) => {
  for (const file of files.filter((each) => each.endsWith(".yaml")))
    t.type(parse(textOf(file)), "object", file);
  for (const file of files.filter((each) => each.endsWith(".json")))
    t.type(JSON.parse(textOf(file)), "object", file);
});

t.test("promtool accepts the files for Prometheus", needs("promtool"), async (t) => {
  const at = temporaryFolder(t);
  writeFileSync(join(at, "secret"), "secret");
  for (const file of files.filter((each) => each.endsWith("prometheus.yaml"))) {
    const copy = join(at, "prometheus.yaml");
    writeFileSync(copy, textOf(file).replaceAll("/run/secrets/confluent_cloud_secret", join(at, "secret")));
    t.match(execFileSync("promtool", ["check", "config", copy], { encoding: "utf8" }), /SUCCESS/, file);
  }
});

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly rawSql: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly query: string }[] };
}

t.test(
  "simulated tenants of four ecosystems add up, and every panel of the dashboard shows them",
  async (t) => {
    const now = () => Date.parse(`${runDay}T12:00:00Z`);
    const simulation = await startSimulation({ size: "tiny", days: 6, now });
    t.teardown(() => simulation.close());
    const simulated = simulation.tenants.map(({ ecosystem }) => ecosystem);
    t.strictSame(simulated.sort(), [
      "confluent_cloud",
      "focus",
      "focus",
      "generic_metrics_only",
      "self_managed_kafka",
    ]);
    const { stores, config } = await openTestStores(
      t,
      stringify({ tenants: tenantsSection(simulation.tenants) }),
    );
    const context = runContext(stores, { now: () => new Date(now()) });
    for (const { tenant_name: name } of simulation.tenants) {
      const result = await runOnce(context, config, name);
      holds(t, result, { status: "completed", dates_calculated: 5 }, name);
      // A day counts once per currency.
      const days = name === "clouds" ? 10 : 5;
      holds(t, await reconciled(stores, name), { days, off: [] }, name);
    }
    const dashboard: Dashboard = JSON.parse(
      readFileSync(join(projectRoot(), "deploy/grafana/dashboards/chargebacks.json"), "utf8"),
    );
    const databases = await runRows<{ database: string }>(
      stores,
      "cloud",
      dashboard.templating.list[0]?.query ?? "",
    );
    t.strictSame(databases.map(({ database }) => database).sort(), [...config.tenants.keys()].sort());
    const currencies = (dashboard.templating.list[1]?.query ?? "").replaceAll(/\$\{database\}/g, "cloud");
    t.strictSame(await runRows(stores, "cloud", currencies), [{ currency: "USD" }]);
    for (const { title, targets } of dashboard.panels) {
      for (const { rawSql } of targets) {
        const query = rawSql
          .replaceAll(/\$\{database\}/g, "cloud")
          .replaceAll(/\$\{currency\}/g, "USD")
          .replaceAll(/\$__dateFilter\((\w+)\)/g, `$1 >= toDate('2026-01-01') AND $1 <= toDate('${runDay}')`);
        t.notMatch(query, /\$/, "no variable is left to replace");
        t.ok((await runRows(stores, "cloud", query)).length > 0, title);
      }
    }
  },
);
