/** The ecosystem `generic_metrics_only` against the simulator: its bill, its usage and its gaps. */
import t, { type Test } from "tap";
import { dayOf, daysOfWindow } from "../../../src/common/days.js";
import { LOG_SIZE } from "../../../src/simulator/series.js";
import { type SimulatorOptions, startSimulator } from "../../../src/simulator/simulator.js";
import { simulatedTenants } from "../../../src/simulator/tenants.js";
import { holds } from "../../holds.js";
import { startScriptedPrometheus } from "../prometheus/scripted-prometheus.js";
import { recordingSink } from "../recording-sink.js";
import { connectGeneric, daysAgo, forever, withoutControl } from "./tenant.js";

t.jobs = 8; // the outages wait for real retries: side by side, they take as long as one

const even = { name: "X", product_category: "c", allocation_strategy: "even_split" } as const;
const fixed = { ...even, rate: "0.10", cost_quantity: { type: "fixed", count: 3 } } as const;
const staticSource = {
  source: "static",
  static_identities: [{ identity_id: "a", identity_type: "team", team: "red" }, { identity_id: "b" }],
};
const window = { start: daysAgo(6), end: daysAgo(2) };

t.test("fixed costs alone need no Prometheus, and every day is complete", async (t) => {
  const gatherer = connectGeneric({ cluster_id: "c1", cost_types: [fixed], identity_source: staticSource });
  const sink = recordingSink();
  const report = await gatherer.gatherWindow(window, sink, forever);
  t.same(withoutControl(report), { completeDays: daysOfWindow(window), dropped: {}, errors: [] });
  t.equal(sink.recorded.billing.length, 4);
  holds(t, sink.recorded.billing[0], {
    timestamp: `${window.start}T00:00:00Z`,
    env_id: "",
    resource_id: "c1",
    product_category: "c",
    product_type: "X",
    quantity: "72",
    unit_price: "0.10",
    total_cost: "7.2",
    currency: "USD",
    granularity: "daily",
    metadata: {},
  });
  t.same(
    sink.recorded.identitySets.slice(0, 2),
    ["a", "b"].map((identity_id) => ({
      day: window.start,
      scope: "resource_active",
      resource_id: "c1",
      identity_id,
    })),
  );
  t.equal(sink.recorded.identitySets.length, 8);
  await gatherer.gatherInventory(sink, forever);
  holds(t, sink.recorded.identities, [
    { identity_id: "a", identity_type: "team", metadata: { team: "red" } },
    { identity_id: "b", identity_type: "principal", metadata: { team: "UNASSIGNED" } },
  ]);
  await gatherer.close();
});

async function simulated(
  t: Test,
  options: SimulatorOptions = {},
  changes: Readonly<Record<string, unknown>> = {},
) {
  const simulator = await startSimulator({ size: "tiny", ...options });
  t.teardown(() => simulator.close());
  const [tenant] = simulatedTenants({ size: "tiny", ...options, url: simulator.url });
  if (tenant === undefined) throw new Error("the simulator has no tenant");
  const settings = { ...tenant.plugin_settings, ...changes };
  const gatherer = connectGeneric(settings);
  t.teardown(() => gatherer.close());
  const gather = async () => {
    const sink = recordingSink();
    return { report: await gatherer.gatherWindow(window, sink, forever), recorded: sink.recorded };
  };
  return { simulator, settings, gatherer, gather };
}

t.test("a whole window has four lines a day, usage per hour, and principals of the inventory", async (t) => {
  const { gather, gatherer } = await simulated(t);
  const { report, recorded } = await gather();
  t.same(withoutControl(report), { completeDays: daysOfWindow(window), dropped: {}, errors: [] });
  t.equal(recorded.billing.length, 16);
  t.same(new Set(recorded.usage.map((fact) => fact.metric)), new Set(METRICS));
  const keys = new Set(recorded.usage.map((f) => `${f.metric} ${f.timestamp} ${f.identity_id}`));
  t.equal(keys.size, recorded.usage.length, "there is one fact for each metric, hour and identity");
  t.ok(recorded.usage.every((fact) => fact.timestamp >= window.start && fact.timestamp < `${window.end}T`));
  t.same(recorded.usageGaps, []);
  const sink = recordingSink();
  const inventory = await gatherer.gatherInventory(sink, forever);
  holds(t, inventory, {
    completeResourceTypes: ["cluster"],
    completeIdentityTypes: ["principal"],
    errors: [],
  });
  holds(t, sink.recorded.resources, [{ resource_id: "kafka-orders", display_name: "Kafka of orders" }]);
  const teams = new Map(
    sink.recorded.identities.map(({ identity_id, metadata }) => [identity_id, metadata.team]),
  );
  t.equal(teams.get("User:orders-gateway-1"), "edge");
  const found = (id: string) => sink.recorded.identities.find(({ identity_id }) => identity_id === id);
  t.strictSame(
    found("User:orders-gateway-1"),
    {
      identity_id: "User:orders-gateway-1",
      identity_type: "principal",
      display_name: "edge",
      created_at: null,
      metadata: { raw_principal: "User:orders-gateway-1", team: "edge" },
    },
    "the display name is that of the team",
  );
  t.equal(found("User:orders-indexer-3")?.display_name, "User:orders-indexer-3");
  t.equal(teams.get("User:orders-indexer-3"), "UNASSIGNED");
});

const METRICS = ["discovery", "alloc_KAFKA_NETWORK_IN", "alloc_KAFKA_NETWORK_OUT"];

t.test("usage per identity adds up to the billed quantity", async (t) => {
  const { gather } = await simulated(t);
  const { recorded } = await gather();
  const used = recorded.usage.filter((fact) => fact.metric === "alloc_KAFKA_NETWORK_IN");
  const microBytes = used.reduce((sum, fact) => sum + BigInt(fact.micro_units), 0n);
  const lines = recorded.billing.filter((line) => line.product_type === "KAFKA_NETWORK_IN");
  const gib = lines.reduce((sum, line) => sum + Number(line.quantity), 0);
  t.ok(Math.abs(Number(microBytes / 1_000_000n) / 2 ** 30 - gib) < 1e-6, `${gib} GiB`);
});

t.test("two gatherings of the same data are equal, and a corrected day differs", async (t) => {
  const { gather, simulator } = await simulated(t);
  const byDay = (recorded: Awaited<ReturnType<typeof gather>>["recorded"], day: string) =>
    [...recorded.billing, ...recorded.usage]
      .filter(({ timestamp }) => timestamp.startsWith(day))
      .map((record) => JSON.stringify(record))
      .sort();
  const [first, second] = [await gather(), await gather()];
  for (const day of daysOfWindow(window)) t.same(byDay(first.recorded, day), byDay(second.recorded, day));
  simulator.setFaults([{ kind: "revision", day: daysAgo(4), factor: 2 }]);
  const third = await gather();
  t.same(byDay(third.recorded, daysAgo(5)), byDay(first.recorded, daysAgo(5)));
  t.notSame(byDay(third.recorded, daysAgo(4)), byDay(first.recorded, daysAgo(4)));
});

t.test("a day without samples, or with a failed cost query, is incomplete and not free", async (t) => {
  const day = daysAgo(4);
  for (const fault of [
    { kind: "missing_days", days: [day], metric: LOG_SIZE },
    { kind: "outage", days: [day], match: LOG_SIZE },
  ] as const) {
    const { gather } = await simulated(t, { faults: [fault] });
    const { report, recorded } = await gather();
    t.same(report.completeDays, [daysAgo(6), daysAgo(5), daysAgo(3)], fault.kind);
    t.equal(report.errors.length, 1);
    t.ok(report.errors[0]?.startsWith(`${day}: KAFKA_STORAGE:`), `${report.errors[0]}`);
    t.notOk(
      recorded.billing.some((line) => line.timestamp.startsWith(day)),
      "the day has no fixed line either",
    );
  }
});

t.test("failed usage is a gap of its day and metric, and the bill stands", { buffered: true }, async (t) => {
  const day = daysAgo(4);
  const { gather } = await simulated(t, {
    faults: [{ kind: "outage", days: [day], match: "sum by (principal)" }],
  });
  const { report, recorded } = await gather();
  t.same(report.completeDays, daysOfWindow(window));
  t.same(report.errors, []);
  t.same(
    recorded.usageGaps.map((gap) => [gap.day, gap.metric]).sort(),
    METRICS.slice(1).map((metric) => [day, metric]),
  );
});

t.test("a wrong allocation query is a gap of every day", async (t) => {
  const base = simulatedTenants({ size: "tiny", url: "http://127.0.0.1:9" })[0]?.plugin_settings.cost_types;
  const cost_types = (base as Record<string, unknown>[]).map((costType) =>
    costType.name === "KAFKA_NETWORK_IN" ? { ...costType, allocation_query: "sum by (" } : costType,
  );
  const { gather } = await simulated(t, {}, { cost_types });
  const { report, recorded } = await gather();
  t.equal(report.completeDays.length, 4);
  t.same(recorded.usageGaps.map((gap) => gap.day).sort(), daysOfWindow(window));
});

t.test("an upstream that is down fails the window, and a failed discovery only its types", async (t) => {
  const { gatherer, simulator } = await simulated(t, { faults: [{ kind: "status", status: 401 }] });
  await t.rejects(gatherer.gatherWindow(window, recordingSink(), forever), { code: "unauthorized" });
  const report = await gatherer.gatherInventory(recordingSink(), forever);
  holds(t, report, { completeResourceTypes: ["cluster"], completeIdentityTypes: [] });
  holds(t, report.errors, [/discovery of identities failed/]);
  simulator.setFaults([]);
  t.equal((await gatherer.gatherWindow(window, recordingSink(), forever)).completeDays.length, 4);
});

t.test("an abort ends a gathering with its reason", async (t) => {
  const { gatherer } = await simulated(t, { faults: [{ kind: "latency", ms: 5000 }] });
  const giveUp = new AbortController();
  const gathering = gatherer.gatherWindow(window, recordingSink(), giveUp.signal);
  giveUp.abort(new Error("Execution timed out after 1 seconds"));
  await t.rejects(gathering, { message: "Execution timed out after 1 seconds" });
});

t.test("6 of 24 hours are a gap, neither lower usage nor a mean of the day", async (t) => {
  const [first, broken, short] = [daysAgo(6), daysAgo(4), daysAgo(3)];
  const prometheus = await startScriptedPrometheus(t, (query) => [
    {
      ...(query.includes("sessions") && { labels: { user: "a" } }),
      at: (point) => {
        const day = dayOf(new Date((point - 1) * 1000));
        const hour = Math.floor(((point - 1) % 86_400) / 3600);
        if (day < first || (day === broken && (hour < 8 || hour > 13))) return undefined;
        return day === short && hour > 21 ? undefined : 2 ** 30;
      },
    },
  ]);
  const gathered = async (changes: Record<string, unknown>) => {
    const gatherer = connectGeneric({
      metrics: { type: "prometheus", url: prometheus.url, auth_type: "none" },
      cluster_id: "db",
      identity_source: { source: "prometheus", label: "user", discovery_query: "group by (user) (sessions)" },
      ...changes,
    });
    t.teardown(() => gatherer.close());
    const sink = recordingSink();
    const { completeDays, partialDays, errors } = await gatherer.gatherWindow(window, sink, forever);
    const { recorded } = sink;
    return {
      completeDays,
      partialDays,
      errors,
      gaps: recorded.usageGaps.map(({ day, metric, reason }) => `${day} ${metric}: ${reason}`),
      billed: recorded.billing
        .filter(({ timestamp }) => timestamp.startsWith(broken))
        .map(({ product_type }) => product_type),
    };
  };
  const storage = {
    ...even,
    name: "S",
    rate: "1",
    cost_quantity: { type: "storage_gib", query: "sum(size)" },
  };
  const network = {
    ...even,
    name: "N",
    rate: "1",
    cost_quantity: { type: "network_gib", query: "sum(sent)" },
  };
  const usage = {
    ...fixed,
    allocation_strategy: "usage_ratio",
    allocation_query: "sum by (user) (sessions)",
    allocation_label: "user",
  };
  const days = [first, daysAgo(5), short, daysAgo(2)].filter((day) => day < window.end);
  const why = "only 6 of 24 hours were measured";
  const all = await gathered({ cost_types: [storage, network, usage] });
  t.strictSame(all.completeDays, days);
  t.strictSame(all.partialDays, [broken], "the day is billed for the other hours, and is provisional");
  t.strictSame(
    all.gaps.sort(),
    ["N", "S", "alloc_X"].map((metric) => `${broken} ${metric}: ${why}`),
  );
  t.strictSame(all.billed, ["X"]);
  const alone = await gathered({ cost_types: [storage] });
  t.strictSame(alone.errors, [`${broken}: S: ${why}`], "a day without any other line has no bill");
  t.strictSame(alone.billed, []);
});

t.test("storage of the first sampled day is priced by its measured hours, with a note", async (t) => {
  const first = daysAgo(5);
  const start = async (step: number, from: number) => {
    const prometheus = await startScriptedPrometheus(t, () => [
      {
        at: (point) => (point > Date.parse(`${first}T00:00:00Z`) / 1000 + from * 3600 ? 2 ** 30 : undefined),
      },
    ]);
    const cost = (name: string, type: string) => ({
      ...even,
      name,
      rate: "1",
      cost_quantity: { type, query: `sum(${name})` },
    });
    const gatherer = connectGeneric({
      metrics: { type: "prometheus", url: prometheus.url, auth_type: "none" },
      metrics_step_seconds: step,
      cluster_id: "db",
      identity_source: staticSource,
      cost_types: [cost("S", "storage_gib"), cost("N", "network_gib"), fixed],
    });
    t.teardown(() => gatherer.close());
    const sink = recordingSink();
    const { completeDays, dayNotes } = await gatherer.gatherWindow(window, sink, forever);
    const costs = sink.recorded.billing.map(
      ({ timestamp, product_type, total_cost }) => `${timestamp.slice(0, 10)} ${product_type} ${total_cost}`,
    );
    return { completeDays, remarks: dayNotes, costs };
  };
  const days = [first, daysAgo(4), daysAgo(3)];
  const whole = days.slice(1).flatMap((day) => [`${day} S 24`, `${day} N 24`, `${day} X 7.2`]);
  const note = (name: string, size: string) => ({
    day: first,
    remark: `${first} is the first day with samples: ${name} is priced by the ${size} that were measured`,
  });
  t.strictSame(await start(3600, 18), {
    completeDays: days,
    remarks: [note("S", "6 of 24 hours"), note("N", "6 of 24 hours")],
    costs: [`${first} S 6`, `${first} N 6`, `${first} X 7.2`, ...whole],
  });
  const halves = await start(1800, 18.5);
  t.strictSame(halves.remarks, [note("S", "11 of 48 samples"), note("N", "11 of 48 samples")]);
  t.equal(halves.costs[0], `${first} S 5.5`, "eleven half hours are billed");
  const nearly = await start(3600, 2);
  t.strictSame(
    [nearly.remarks, nearly.costs[0]],
    [undefined, `${first} S 24`],
    "a short interruption is not a gap",
  );
});

t.test("usage without the label of the identity is UNALLOCATED, and nobody else pays for it", async (t) => {
  const prometheus = await startScriptedPrometheus(t, () => [
    { labels: { user: "a" }, at: () => 1 },
    { labels: { host: "h1" }, at: () => 4 },
    { labels: { user: "" }, at: () => 5 },
  ]);
  const gatherer = connectGeneric({
    metrics: { type: "prometheus", url: prometheus.url, auth_type: "none" },
    cluster_id: "db",
    cost_types: [
      {
        ...fixed,
        allocation_strategy: "usage_ratio",
        allocation_query: "sum by (user) (sessions)",
        allocation_label: "user",
      },
    ],
    identity_source: { source: "prometheus", label: "user", discovery_query: "group by (user) (sessions)" },
  });
  t.teardown(() => gatherer.close());
  const sink = recordingSink();
  const day = { start: daysAgo(3), end: daysAgo(2) };
  const { dropped } = await gatherer.gatherWindow(day, sink, forever);
  const used = new Map<string, number>();
  for (const { metric, identity_id, micro_units } of sink.recorded.usage) {
    const key = `${metric} ${identity_id}`;
    used.set(key, (used.get(key) ?? 0) + Number(micro_units));
  }
  t.strictSame(Object.fromEntries(used), {
    "alloc_X a": 24_000_000,
    "alloc_X UNALLOCATED": 9 * 24_000_000,
    "discovery a": 24_000_000,
  });
  t.strictSame(
    dropped,
    { without_identity: 2 * 24 },
    "series that only show active identities are not usage",
  );
});

t.test("samples without the label are counted, and charged to no identity", async (t) => {
  const { gather } = await simulated(
    t,
    {},
    {
      identity_source: {
        source: "prometheus",
        label: "user",
        discovery_query: `group by (broker) (${LOG_SIZE})`,
      },
    },
  );
  const { report, recorded } = await gather();
  t.equal(report.dropped.without_identity, 4 * 24 * 3);
  t.notOk(recorded.usage.some((fact) => fact.metric === "discovery"));
});

t.test(
  "with a gauge that is off at midnight, days with samples are billed, whichever day has none",
  async (t) => {
    const [off, first] = [daysAgo(3), daysAgo(5)];
    const prometheus = await startScriptedPrometheus(t, (query) => [
      {
        ...(query.includes("sessions") && { labels: { user: "a" } }),
        at: (point) => {
          if (Math.abs(point - Date.now() / 1000) < 60) return 2 ** 30;
          const day = dayOf(new Date((point - 1) * 1000));
          const hour = new Date(point * 1000).getUTCHours();
          return day >= first && day !== off && hour >= 1 ? 2 ** 30 : undefined;
        },
      },
    ]);
    const metrics = { type: "prometheus", url: prometheus.url, auth_type: "none" };
    const note = `the upstream has samples from ${first} on; days before are not there, and are left out`;
    const gathered = async (settings: Record<string, unknown>, of = window) => {
      const gatherer = connectGeneric({ metrics, cluster_id: "db", ...settings });
      t.teardown(() => gatherer.close());
      const sink = recordingSink();
      const { completeDays, errors, notes } = await gatherer.gatherWindow(of, sink, forever);
      return { completeDays, errors, notes };
    };
    const storage = { ...even, rate: "1", cost_quantity: { type: "storage_gib", query: "sum(size_bytes)" } };
    const lacks =
      "the cost query has no samples, so the cost is unknown (when the upstream does not keep data so long, lower lookback_days)";
    t.strictSame(await gathered({ cost_types: [storage], identity_source: staticSource }), {
      completeDays: [first, daysAgo(4)],
      errors: [`${off}: X: ${lacks}`],
      notes: [note],
    });
    const usage = {
      ...fixed,
      allocation_strategy: "usage_ratio",
      allocation_query: "sum by (user) (sessions)",
    };
    const source = { source: "prometheus", label: "user", discovery_query: "group by (user) (sessions)" };
    t.strictSame(
      await gathered({ cost_types: [{ ...usage, allocation_label: "user" }], identity_source: source }),
      { completeDays: [first, daysAgo(4), off], errors: [], notes: [note] },
      "the day is billed without the costs that need usage",
    );
  },
);
