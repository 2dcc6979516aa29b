/** The queries of Confluent Cloud's bill, and the days of queries that fail. */
import t from "tap";
import { type DayRange, daysOfWindow } from "../../../src/common/days.js";
import { requestWindows } from "../../../src/ingest/ecosystems/confluent_cloud/costs/request-windows.js";
import { cutWindow } from "../../../src/runner/window.js";
import { holds } from "../../holds.js";
import { recordingSink } from "../recording-sink.js";
import { startBill, type TestBill, testCostRow } from "./bill.js";
import { billed, march } from "./billed.js";
import { connectConfluentTenant } from "./tenant.js";

t.test(
  "a row without any date stays on the first day of its query's span, wherever the window is",
  async (t) => {
    const undated = {
      ...testCostRow("2026-03-20", { start_date: undefined, end_date: undefined }),
      hidden_day: "2026-03-20",
    };
    const { gather } = await billed(t, [undated]);
    for (const window of [
      march,
      { start: "2026-03-05", end: "2026-03-22" },
      { start: "2026-03-16", end: "2026-04-01" },
    ]) {
      const { lines, report } = await gather(window);
      t.same(
        lines.map((line) => line.timestamp),
        ["2026-03-16T00:00:00Z"],
        window.start,
      );
      t.same(report.dropped, {});
    }
    const late = await gather({ start: "2026-03-17", end: "2026-04-01" });
    t.same([late.lines, late.report.dropped], [[], { undated_outside_window: 1 }]);
  },
);

t.test("a row outside of the requested days is dropped and counted", async (t) => {
  const astray = [
    { ...testCostRow("2026-02-28"), hidden_day: "2026-03-02" },
    { ...testCostRow("2026-03-16"), hidden_day: "2026-03-02" },
    testCostRow("2026-03-15"),
  ];
  const { report, lines } = await (await billed(t, astray)).gather();
  t.same(
    lines.map((line) => line.timestamp.slice(0, 10)),
    ["2026-03-15"],
  );
  t.same(report.dropped, { outside_window: 2 });
});

t.test("queries start on calendar days, within a month, and at most a year ago", async (t) => {
  const spans = (window: DayRange, days: number, today = "2026-04-20") =>
    requestWindows(window, days, today).map(({ start, end, anchor }) => `${start} ${end} ${anchor}`);
  t.same(spans({ start: "2026-02-10", end: "2026-03-17" }, 15), [
    "2026-02-10 2026-02-16 2026-02-01",
    "2026-02-16 2026-03-01 2026-02-16",
    "2026-03-01 2026-03-16 2026-03-01",
    "2026-03-16 2026-03-17 2026-03-16",
  ]);
  t.same(spans({ start: "2026-01-31", end: "2026-03-02" }, 30), [
    "2026-01-31 2026-02-01 2026-01-31",
    "2026-02-01 2026-03-01 2026-02-01",
    "2026-03-01 2026-03-02 2026-03-01",
  ]);
  t.same(spans({ start: "2025-03-01", end: "2025-04-23" }, 30), ["2025-04-21 2025-04-23 2025-04-01"]);
  t.same(spans({ start: "2023-01-01", end: "2024-03-04" }, 30, "2025-03-01"), [
    "2024-03-02 2024-03-04 2024-03-01",
  ]);
  t.same(spans({ start: "2024-01-01", end: "2024-02-01" }, 30), []);
  for (const days of [1, 7, 28, 30]) {
    const window = { start: "2025-05-03", end: "2026-04-15" };
    const covered = requestWindows(window, days, "2026-04-20").flatMap(daysOfWindow);
    t.same(covered, daysOfWindow(window), `each day is covered once, by ${days}`);
  }
  t.same(cutWindow({ start: "2026-01-20", end: "2026-03-03" }, { daysPerWindow: 31, cutAtMonths: true }), [
    { start: "2026-03-01", end: "2026-03-03" },
    { start: "2026-02-01", end: "2026-03-01" },
    { start: "2026-01-20", end: "2026-02-01" },
  ]);
});

t.test("each query requests its own days, and days of more than a year ago stay as they are", async (t) => {
  const { bill, gather } = await billed(t, [], {
    today: "2026-03-20",
    settings: { billing_api: { days_per_query: 10 } },
  });
  const { report } = await gather({ start: "2025-03-01", end: "2025-04-01" });
  t.same(
    bill.requested.map((query) => [query.get("start_date"), query.get("end_date"), query.get("page_size")]),
    [
      ["2025-03-21", "2025-03-31", "5000"],
      ["2025-03-31", "2025-04-01", "5000"],
    ],
  );
  holds(t, report, {
    completeDays: daysOfWindow({ start: "2025-03-21", end: "2025-04-01" }),
    dropped: {},
    errors: [],
  });
});

const fails = (bill: TestBill, start: string, status = 500) =>
  bill.setInstead((query, _request, response) => {
    if (query.get("start_date") !== start) return false;
    response.writeHead(status).end(JSON.stringify({ errors: [{ detail: "out of order" }] }));
    return true;
  });

t.test("a failed query makes only its own days incomplete", async (t) => {
  const rows = daysOfWindow(march).map((day) => testCostRow(day));
  const { bill, gather } = await billed(t, rows, { pageSize: 4 });
  for (const [status, name] of [
    [500, "in trouble"],
    [400, "refused"],
  ] as const) {
    fails(bill, "2026-03-16", status);
    const { report, lines } = await gather();
    t.same(
      report.completeDays,
      daysOfWindow(march).filter((day) => day < "2026-03-16" || day > "2026-03-30"),
      name,
    );
    t.same(
      lines.map((line) => line.timestamp.slice(0, 10)),
      report.completeDays,
    );
    t.equal(report.errors.length, 1);
    t.match(report.errors[0], /^costs of 2026-03-16 to 2026-03-31: .*out of order/);
  }
  bill.setInstead((query, _request, response) => {
    if (query.get("start_date") !== "2026-03-01" || query.get("page_token") !== "at-8") return false;
    response.writeHead(500).end();
    return true;
  });
  const halfway = await gather();
  t.equal(
    halfway.report.completeDays[0],
    "2026-03-16",
    "days of the failed query are incomplete even if some rows arrived",
  );
  t.notOk(halfway.lines.some((line) => line.timestamp < "2026-03-16"));
  fails(bill, "none");
  t.same((await gather()).report.completeDays, daysOfWindow(march));
});

t.test(
  "a bill without any response fails the window, but after an earlier success only days are incomplete",
  async (t) => {
    const { bill, gather } = await billed(t);
    const dead: Parameters<TestBill["setInstead"]>[0] = (_query, _request, response) => {
      response.writeHead(503).end();
      return true;
    };
    bill.setInstead(dead);
    await t.rejects(gather(), { code: "bad_status", status: 503 });
    t.equal(bill.requested.length, 3 * 3, "three queries have three attempts each");
    bill.setInstead(() => false);
    await gather();
    bill.setInstead(dead);
    const { report } = await gather({ start: "2026-02-28", end: "2026-03-01" });
    t.same(report.completeDays, []);
    holds(t, report.errors, [/^costs of 2026-02-28 to 2026-03-01: .*503/]);
  },
);

t.test("a key without access to the bill is reported at once, and the window fails", async (t) => {
  const { bill, gather } = await billed(t);
  bill.setInstead((_query, _request, response) => {
    response.writeHead(403).end(JSON.stringify({ errors: [{ detail: "needs BillingAdmin" }] }));
    return true;
  });
  await t.rejects(gather(), { code: "unauthorized", message: /needs BillingAdmin/ });
  t.equal(bill.requested.length, 1, "the other queries are not sent, because they would be refused as well");
});

t.test("an abort ends the window with its reason", async (t) => {
  const bill = await startBill(t);
  const giveUp = new AbortController();
  bill.setInstead(() => {
    giveUp.abort(new Error("Execution timed out after 1 seconds"));
    return true;
  });
  const gathering = connectConfluentTenant(t, bill.url).gatherWindow(march, recordingSink(), giveUp.signal);
  await t.rejects(gathering, { message: "Execution timed out after 1 seconds" });
});
