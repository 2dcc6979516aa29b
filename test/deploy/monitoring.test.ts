/** Alerts and the dashboard: promtool accepts every expression, and every name is one of `/metrics`. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { stringify } from "yaml";
import { projectRoot } from "../../src/common/project.js";
import { needs } from "../programs.js";
import { temporaryFolder } from "../stores.js";
import { deployFolder, deployText, seriesNames, yamlOf } from "./files.js";

interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly query: { readonly query: string } }[] };
}

const alerts = yamlOf<Alerts>(deployText("prometheus/alerts.yaml")).groups.flatMap(({ rules }) => rules);
const dashboard: Dashboard = JSON.parse(deployText("grafana/dashboards/service.json"));
const panels = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => ({
    title,
    expr: expr
      .replaceAll("$__rate_interval", "5m")
      .replaceAll("$job", "chargehouse")
      .replaceAll("$tenant", ".*"),
  })),
);
const variables = dashboard.templating.list.map(({ query }) => query.query);

t.test("alerts and panels only use series of GET /metrics, and `up`", async (t) => {
  const known = await seriesNames();
  const expressions = [...alerts, ...panels].map(({ expr }) => expr);
  for (const expr of [...expressions, ...variables]) {
    const named = expr.match(/\bchargehouse_\w+/g) ?? [];
    t.strictSame(
      named.filter((name) => !known.has(name)),
      [],
      expr,
    );
    if (named.length === 0) t.equal(expr.replace(/ == 0$/, ""), 'up{job="chargehouse"}');
  }
  t.ok(alerts.length > 5 && panels.length > 10);
  const page = readFileSync(join(projectRoot(), "docs/how-to/run-in-production.md"), "utf8");
  for (const { alert } of alerts) t.ok(page.includes(`\`${alert}\``), `the page says what to do: ${alert}`);
});

t.test(
  "promtool accepts alerts and panels, and alerts fire when they should",
  needs("promtool"),
  async (t) => {
    const folder = temporaryFolder(t);
    const promtool = (...args: string[]) => execFileSync("promtool", args, { encoding: "utf8", cwd: folder });
    const rules = join(deployFolder, "prometheus/alerts.yaml");
    t.match(promtool("check", "rules", rules), /SUCCESS: \d+ rules found/);

    const recorded = panels.map(({ expr }, index) => ({ record: `panel_${index}`, expr }));
    writeFileSync(join(folder, "panels.yaml"), stringify({ groups: [{ name: "panels", rules: recorded }] }));
    t.match(promtool("check", "rules", "panels.yaml"), new RegExp(`SUCCESS: ${panels.length} rules found`));

    const cases = readFileSync(join(projectRoot(), "test/deploy/alerts.test.yaml"), "utf8");
    writeFileSync(join(folder, "cases.yaml"), cases.replace("ALERTS", rules));
    t.match(promtool("test", "rules", "cases.yaml"), /SUCCESS/);

    writeFileSync(join(folder, "alerts.yaml"), deployText("prometheus/alerts.yaml"));
    writeFileSync(join(folder, "prometheus.yaml"), deployText("compose/prometheus.yaml"));
    t.match(promtool("check", "config", "prometheus.yaml"), /SUCCESS: prometheus.yaml is valid/);
  },
);
