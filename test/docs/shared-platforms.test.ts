/** The recipes for shared platforms, with data in the form that these platforms export. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { parse, stringify } from "yaml";
import { midnightSeconds } from "../../src/common/days.js";
import { projectRoot } from "../../src/common/project.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { csv } from "../ingest/focus/bills.js";
import { PASSWORD, startRealPrometheus } from "../ingest/prometheus/real-prometheus.js";
import { ofNode, openMetricsOf, type Series } from "../kubernetes/exposition.js";
import { needs } from "../programs.js";
import { chargedOn, reconciled, runContext, runOnce } from "../runner/runs.js";
import { openTestStores, temporaryFolder, testLogger } from "../stores.js";

const page = readFileSync(join(projectRoot(), "docs/how-to/charge-shared-platforms.md"), "utf8");
const DAY = "2026-06-24";
const REAL = needs("prometheus", "promtool");

function recipe(name: string) {
  const [, text] = new RegExp(`^\`\`\`yaml ${name}\\n([\\s\\S]*?)^\`\`\`$`, "m").exec(page) ?? [];
  if (text === undefined) throw new Error(`the page has no recipe ${name}`);
  return parse(text).tenants.cloud;
}

interface Platform {
  readonly name: string;
  readonly bill: readonly Readonly<Record<string, string>>[];
  /** Address of a Prometheus. */
  readonly url?: string;
  /** Usage file. */
  readonly usage?: string;
}

async function charge(t: Test, { name, bill, url, usage }: Platform) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "bills", "2026-06"), { recursive: true });
  mkdirSync(join(folder, "usage"));
  const day = { ChargePeriodStart: `${DAY}T00:00:00Z`, ChargePeriodEnd: "2026-06-25T00:00:00Z" };
  writeFileSync(join(folder, "bills", "2026-06", "bill.csv"), csv(bill.map((line) => ({ ...day, ...line }))));
  if (usage !== undefined) writeFileSync(join(folder, "usage", "usage.csv"), usage);
  const { plugin_settings: plugin, allocation } = recipe(name);
  const { uploads } = plugin.usage;
  const tenant = {
    ecosystem: "focus",
    tenant_id: "cloud",
    lookback_days: 8,
    storage: { connection_string: "embedded:cloud" },
    allocation,
    plugin_settings: {
      ...plugin,
      ...(url !== undefined && { metrics: { url, auth_type: "basic", username: "me", password: PASSWORD } }),
      ...(uploads !== undefined && {
        usage: { uploads: { ...uploads, folder: join(folder, "usage"), settle_seconds: 0 } },
      }),
      sources: [{ name: "bills", location: join(folder, "bills"), limits: { settle_seconds: 0 } }],
    },
  };
  const { config, stores } = await openTestStores(t, stringify({ tenants: { cloud: tenant } }));
  const { status, errors } = await runOnce(runContext(stores), config, "cloud");
  t.strictSame([status, errors], ["completed", []]);
  t.strictSame((await reconciled(stores, "cloud")).off, []);
  return stores;
}

/** Runs the page's statement on rows of the view, which it can read in this engine as well, and returns its CSV. */
async function attributed(t: Test, queries: readonly string[]): Promise<string> {
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());
  const [, statement = ""] = /^```sql\n[\s\S]*?^(SELECT[\s\S]*?)^```$/m.exec(page) ?? [];
  await engine.client.command({
    query: `CREATE TABLE query_attribution_history (query_id String, warehouse_name String, user_name String,
      query_tag String, start_time DateTime('UTC'), credits_attributed_compute Float64) ENGINE = Memory`,
  });
  await engine.client.command({
    query: `INSERT INTO query_attribution_history VALUES ${queries.join(", ")}`,
  });
  const query = statement.replace("snowflake.account_usage.", "");
  return await (await engine.client.query({ query, format: "CSVWithNames" })).text();
}

t.test("GPU nodes are charged to the namespaces that hold their GPUs", REAL, async (t) => {
  const noon = midnightSeconds(DAY) + 43_200;
  const gpu = (
    node: string,
    index: number,
    namespace: string,
    exists = (_second: number) => true,
  ): Series => ({
    metric: "DCGM_FI_DEV_GPU_UTIL",
    labels: {
      gpu: `${index}`,
      UUID: `GPU-${node}-${index}`,
      device: `nvidia${index}`,
      modelName: "NVIDIA A10G",
      Hostname: node,
      container: namespace === "" ? "" : "train",
      namespace,
      pod: namespace === "" ? "" : `train-${index}`,
    },
    at: (second) => (exists(second) ? 80 : undefined),
  });
  const series = [
    ...ofNode("gpu-0", "aws:///eu-west-1a/i-0gpu", [48, 192]),
    ...ofNode("gpu-1", "aws:///eu-west-1b/i-1gpu", [48, 192]),
    gpu("gpu-0", 0, "ml"),
    gpu("gpu-0", 1, "ml"),
    gpu("gpu-0", 2, "search"),
    gpu("gpu-0", 3, ""),
    gpu("gpu-1", 0, "search", (second) => second <= noon),
    gpu("gpu-1", 0, "", (second) => second > noon),
  ];
  const { url } = await startRealPrometheus(t, openMetricsOf(series, DAY));
  const bill = [
    { ResourceId: "i-0gpu", EffectiveCost: "80" },
    { ResourceId: "i-1gpu", EffectiveCost: "10" },
  ];
  const stores = await charge(t, { name: "gpu", bill, url });
  const [idle = "", ml = "", search = "", ...other] = await chargedOn(stores, "cloud", DAY);
  t.strictSame([idle, ml, search], ["idle: 20", "ml: 40", "search: 20"]);
  const amounts = other.map((each) => Number(each.split(": ")[1]));
  t.strictSame(
    other.map((each) => each.split(":")[0]),
    ["idle", "search"],
  );
  // The samples of the minutes before noon are still looked up at noon.
  for (const amount of amounts) t.ok(Math.abs(amount - 5) < 0.05, `${amount} is half of the node`);
});

t.test("warehouses are charged to users by the credits of their queries", async (t) => {
  const bill = [
    { ResourceId: "REPORTS_WH", ServiceName: "Snowflake", EffectiveCost: "30" },
    { ResourceId: "LOAD_WH", ServiceName: "Snowflake", EffectiveCost: "12" },
    { ResourceId: "IDLE_WH", ServiceName: "Snowflake", EffectiveCost: "4.2" },
  ];
  const queries = [
    "('q1', 'REPORTS_WH', 'ANN', '', '2026-06-24 08:00:00', 2.5)",
    "('q2', 'REPORTS_WH', 'ANN', '', '2026-06-24 23:59:59', 0.5)",
    "('q3', 'REPORTS_WH', 'BOB', '', '2026-06-24 00:00:00', 1)",
    "('q4', 'REPORTS_WH', 'BOB', '', '2026-06-25 00:00:00', 9)",
    "('q5', 'LOAD_WH', 'ETL', 'nightly', '2026-06-24 03:00:00', 0.0000125)",
    "('q6', 'LOAD_WH', 'ETL', 'nightly', '2026-06-23 03:00:00', 7)",
  ];
  const stores = await charge(t, { name: "warehouse", bill, usage: await attributed(t, queries) });
  t.strictSame(await chargedOn(stores, "cloud", DAY), [
    "data: 4.2 fixed_ratio_allocation",
    "ETL: 12",
    "ANN: 22.5",
    "BOB: 7.5",
  ]);
});

t.test("models are charged to services by their tokens, of which output weighs more", REAL, async (t) => {
  const tokens = (job: string, model: string, type: string, perMinute: number): Series => ({
    metric: "gen_ai_client_token_usage_sum",
    labels: {
      job,
      gen_ai_operation_name: "chat",
      gen_ai_provider_name: "openai",
      gen_ai_request_model: model,
      gen_ai_token_type: type,
    },
    at: (second) => (perMinute * (second - 1.7e9)) / 60,
  });
  const series = [
    tokens("shop/assistant", "gpt-4o", "input", 1000),
    tokens("shop/assistant", "gpt-4o", "output", 250),
    tokens("support/triage", "gpt-4o", "input", 2000),
    tokens("support/triage", "gpt-4o-mini", "input", 10),
  ];
  const { url } = await startRealPrometheus(t, openMetricsOf(series, DAY));
  const ai = { ServiceCategory: "AI and Machine Learning", ServiceName: "OpenAI API" };
  const bill = [
    { ...ai, ResourceId: "gpt-4o", EffectiveCost: "8" },
    { ...ai, ResourceId: "gpt-4o-mini", EffectiveCost: "0.5" },
  ];
  const stores = await charge(t, { name: "tokens", bill, url });
  t.strictSame(await chargedOn(stores, "cloud", DAY), [
    "shop/assistant: 4",
    "support/triage: 4",
    "support/triage: 0.5",
  ]);
});
