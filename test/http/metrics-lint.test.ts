import { spawnSync } from "node:child_process";
import t from "tap";
import { appWithoutStores } from "../../src/http/description/write-documents.js";
import { createServiceMetrics } from "../../src/http/metrics.js";
import { needs } from "../programs.js";

t.test("promtool finds no problem in GET /metrics", needs("promtool"), async (t) => {
  const app = await appWithoutStores("1.2.3");
  t.teardown(() => app.close());
  await app.inject({ url: "/health" });
  const { body } = await app.inject({ url: "/metrics" });
  t.match(
    body,
    /^chargehouse_http_request_duration_seconds_count\{method="GET",route="\/health",status="200"\} 1$/m,
  );
  const { registry, runs } = createServiceMetrics();
  runs.resumed("acme");
  runs.skipped("acme");
  const counts = { rows: 1, calculated: 1, failedDays: 1, conservationFailures: 1, seconds: 1 };
  const control = [
    { currency: "USD", class: "delivered" as const, reason: "", rows: 3, cost: "12.5" },
    { currency: "USD", class: "outside_window" as const, reason: "before_lookback", rows: 1, cost: "2.5" },
  ];
  const published = { newestDay: "2026-03-01", lostDays: 1, provisionalDays: 2, control };
  runs.finished("acme", { status: "completed", ...counts, published });
  const afterRuns = await registry.metrics();
  t.match(afterRuns, /^chargehouse_provisional_dates\{tenant="acme"\} 2$/m);
  t.match(
    afterRuns,
    /^chargehouse_delivered_cost\{tenant="acme",currency="USD",class="outside_window",reason="before_lookback"\} 2\.5$/m,
  );
  t.match(afterRuns, /^chargehouse_lost_dates\{tenant="acme"\} 1$/m);
  runs.finished("acme", {
    status: "completed",
    ...counts,
    published: { ...published, control: control.slice(0, 1) },
  });
  const later = await registry.metrics();
  t.match(
    later,
    /^chargehouse_delivered_rows\{tenant="acme",currency="USD",class="delivered",reason=""\} 3$/m,
  );
  t.notMatch(later, /before_lookback/, "a class without rows has no series");
  for (const [text, wanted] of [
    [body, [0, ""]],
    [afterRuns, [0, ""]],
    [
      "# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n",
      [3, 'a_total non-counter metrics should not have "_total" suffix'],
    ],
  ] as const) {
    const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], {
      input: text,
      encoding: "utf8",
    });
    t.strictSame([status, `${stdout}${stderr}`.trim()], wanted);
  }
});
