/** The how-to about Kubernetes: its configuration charges its bill by its containers as its last table says. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { csv } from "../ingest/focus/bills.js";
import { PASSWORD, startRealPrometheus } from "../ingest/prometheus/real-prometheus.js";
import { ofContainer, ofNode, ofVolume, openMetricsOf } from "../kubernetes/exposition.js";
import { needs } from "../programs.js";
import { reconciled, runContext, runOnce, runRows } from "../runner/runs.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { markdownTable } from "./tables.js";

const page = readFileSync(join(projectRoot(), "docs/how-to/charge-kubernetes.md"), "utf8");
const [example = "", changes = "", passing = ""] = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(
  ([, text = ""]) => text,
);
const DAY = "2026-06-24";

/** Reads `0.5 cores, 2 GiB`. */
function held(text: string): readonly [number, number] {
  const [, cores, gib] = /^([\d.]+) cores?, ([\d.]+) GiB$/.exec(text) ?? [];
  return [Number(cores), Number(gib)];
}

const containers = markdownTable(page, "Node");
const metrics = openMetricsOf(
  [
    ...["i-0a", "i-0b"].flatMap((id) => ofNode(`ip-${id}`, `aws:///eu-west-1a/${id}`, [4, 16])),
    ...containers.flatMap(([node = "", namespace = "", requests = "", uses = ""]) => {
      const name = `ip-${node.replaceAll("`", "")}`;
      const pod = `${namespace}-${name}`;
      return ofContainer({ node: name, namespace, pod, requests: held(requests), uses: held(uses) });
    }),
    ...ofVolume({
      name: "pvc-1",
      namespace: "data",
      claim: "store",
      gib: 100,
      ids: { csi_volume_handle: "vol-0c" },
    }),
  ],
  DAY,
);

const bill = markdownTable(page, "SubAccountId").map(([account, service, resource, cost, tags = ""]) => ({
  ChargePeriodStart: `${DAY}T00:00:00Z`,
  ChargePeriodEnd: "2026-06-25T00:00:00Z",
  SubAccountId: account ?? "",
  ServiceName: service ?? "",
  ResourceId: resource ?? "",
  EffectiveCost: cost ?? "",
  BilledCost: cost ?? "",
  Tags: tags === "" ? "{}" : JSON.stringify(Object.fromEntries([tags.split("=")])),
}));

/** Returns amounts by identity and service. */
async function charged(
  t: Parameters<typeof startRealPrometheus>[0],
  url: string,
  change: (yaml: string) => string,
) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "2026-06"));
  writeFileSync(join(folder, "2026-06", "bill.csv"), csv(bill));
  const yaml = change(example)
    .replace("/bills", folder)
    .replace("location:", "limits: { settle_seconds: 0 }, location:")
    .replace(
      'url: "http://prometheus:9090"',
      `url: "${url}", auth_type: basic, username: me, password: ${PASSWORD}`,
    )
    .replace("tenant_id: cloud", "tenant_id: cloud\n    lookback_days: 8");
  const { config, stores } = await openTestStores(t, yaml);
  const { status, errors } = await runOnce(runContext(stores), config, "cloud");
  t.strictSame([status, errors], ["completed", []]);
  t.strictSame((await reconciled(stores, "cloud")).off, []);
  const rows = await runRows<{ who: string; product: string; amount: string }>(
    stores,
    "cloud",
    `SELECT identity_id AS who, product_type AS product, toString(sum(amount)) AS amount
     FROM chargebacks WHERE day = '${DAY}' GROUP BY who, product`,
  );
  return new Map(rows.map(({ who, product, amount }) => [`${who} ${product}`, amount]));
}

const products = ["AmazonEC2", "AmazonEBS", "AmazonS3", "AmazonEKS", "AWS Support (Business)"];

t.test("the page charges each identity what its table says", needs("prometheus", "promtool"), async (t) => {
  const { url } = await startRealPrometheus(t, metrics);
  const rows = markdownTable(page, "Identity");
  const expected = rows.flatMap(([who, ...amounts]) =>
    products.flatMap((product, at) => {
      const amount = amounts[at] ?? "";
      return amount === "" ? [] : [[`${who} ${product}`, String(Number(amount))]];
    }),
  );
  const found = await charged(t, url, (yaml) => yaml);
  t.strictSame([...found].sort(), expected.sort());
  for (const [who = "", ...amounts] of rows) {
    const parts = amounts.slice(0, -1).reduce((sum, amount) => sum + Math.round(Number(amount) * 1e4), 0);
    t.equal(parts, Math.round(Number(amounts.at(-1)) * 1e4), `the row of ${who} adds up`);
  }
  t.equal(rows.length, 5);

  const idle = /idle: spread/.exec(changes)?.[0] ?? "";
  const spread = await charged(t, url, (yaml) =>
    yaml.replace("preset: kubernetes", `preset: kubernetes, kubernetes: { ${idle} }`),
  );
  // 4.60 × 11.5 ÷ 27 on one node, and 4.60 × 23 ÷ 25 on the other.
  const onNodes = Number(spread.get("shop AmazonEC2"));
  t.ok(Math.abs(onNodes - (4.6 * 11.5) / 27 - (4.6 * 23) / 25) <= 0.0002, `shop pays ${onNodes}`);
  t.equal(spread.get("idle AmazonEC2"), undefined);

  const steps = passing
    .slice(passing.indexOf("\n") + 1)
    .replaceAll(/^/gm, "    ")
    .trimEnd();
  const passed = await charged(t, url, (yaml) =>
    yaml.replace("    allocation:\n", `    allocation:\n${steps}\n`),
  );
  for (const [who = "", before, after] of markdownTable(page, "Pays")) {
    t.equal(rows.find(([each]) => each === who)?.at(-1), before, who);
    const sum = products.reduce((total, product) => total + Number(passed.get(`${who} ${product}`) ?? 0), 0);
    t.equal(sum.toFixed(2), after, who);
  }
});
