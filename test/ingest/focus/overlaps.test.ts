/** Charges that two bills have in common are charged once: the month waits, or a setting decides. */
import t, { type Test } from "tap";
import { loadDeliveries } from "../../../src/ingest/ecosystems/focus/deliveries/load-deliveries.js";
import { isCounted, type PartlyCounted } from "../../../src/ingest/ecosystems/focus/lines/counted.js";
import type { OverlapSettings } from "../../../src/ingest/ecosystems/focus/overlaps/decide.js";
import { settleOverlaps } from "../../../src/ingest/ecosystems/focus/overlaps/settle.js";
import type { DeliveredFile, Delivery } from "../../../src/ingest/ecosystems/focus/sources/delivery.js";
import { acceptDelivery } from "../../../src/postgres/accept-delivery.js";
import { csv, deliveryOf, fileOf, loadedRows, loadSettings, openDeliveryStore } from "./bills.js";

const store = await openDeliveryStore(t);
const signal = new AbortController().signal;
t.beforeEach(async () => {
  await store.postgres.query("DELETE FROM deliveries");
});

type Lines = Readonly<Record<string, number>>;
/** A bill with a line of each `DAY RESOURCE`, at its amount. */
const text = (lines: Lines, month = "2026-05") =>
  csv(
    Object.entries(lines).map(([key, amount]) => {
      const [day = "01", resource = "i-1"] = key.split(" ");
      return {
        EffectiveCost: String(amount),
        BilledCost: String(amount),
        ResourceId: resource,
        ChargePeriodStart: `${month}-${day}T00:00:00Z`,
        ChargePeriodEnd: `${month}-${day}T23:00:00Z`,
      };
    }),
  );
const file = (name: string, lines: Lines, month?: string) => fileOf(name, text(lines, month));
const bill = (source: string, files: readonly DeliveredFile[], changes: Partial<Delivery> = {}) =>
  deliveryOf(files, { source, ...changes });

const undecided: OverlapSettings = { precedence: [], adding: new Set() };
async function run(
  sources: Readonly<Record<string, readonly Delivery[]>>,
  overlaps: OverlapSettings = undecided,
) {
  const opened = Object.entries(sources).map(([name, deliveries]) => ({
    name,
    list: async () => ({ deliveries, pending: [], waiting: [], remarks: [] }),
    close: async () => undefined,
  }));
  return await loadDeliveries(store, opened, { ...loadSettings, overlaps }, signal);
}

async function charged(): Promise<number> {
  const { rows } = await store.postgres.query<PartlyCounted>(
    "SELECT delivery_id::text, retired, superseded FROM deliveries WHERE state = 'current'",
  );
  const ids = rows.map(({ delivery_id }) => delivery_id).join(", ") || "0";
  const query = `SELECT toFloat64(sum(EffectiveCost)) AS sum FROM focus_lines WHERE delivery IN (${ids}) AND ${isCounted(rows)}`;
  return Number((await loadedRows<{ sum: number }>(store, query))[0]?.sum);
}

/** Asserts that there is one error with this text. */
function one(t: Test, errors: readonly string[], says: RegExp, why = "one error"): void {
  t.equal(errors.length, 1, why);
  t.ok(says.test(errors[0] ?? ""), `${why}: ${errors[0] ?? ""}`);
}

const decideBy =
  "To decide, name a source or a file first in `precedence`, leave files out with `exclude`, or set `overlap: add` if both are to be charged";

t.test("a draft beside its final version holds the month, until one of the two is gone", async (t) => {
  const [draft, final] = [
    file("2026-05-draft.csv", { "01 a": 10, "02 a": 5 }),
    file("2026-05-final.csv", { "01 a": 10, "02 a": 5.5 }),
  ];
  const both = { bills: [bill("bills", [draft, final])] };
  const { errors } = await run(both);
  t.strictSame(errors, [
    `"2026-05-draft.csv" of the source bills and "2026-05-final.csv" of the source bills have the same charges of account "payer" in 2026-05 (2 days from 2026-05-01 to 2026-05-02, 15 USD): neither is charged. ${decideBy}`,
  ]);
  t.equal(await charged(), 0);
  t.strictSame((await run(both)).errors, errors, "each run reports it");
  const { rows } = await store.postgres.query("SELECT state, waits_for FROM deliveries");
  t.strictSame(rows, [{ state: "waiting_for_acceptance", waits_for: "overlap" }]);
  const finalFirst = { ...undecided, precedence: ["bills/*-final.csv"] };
  t.strictSame((await run(both, finalFirst)).errors, []);
  t.equal(await charged(), 15.5, "a glob decides");
  t.strictSame((await run(both, { ...undecided, precedence: ["bills/*-draft.csv"] })).errors, []);
  t.equal(await charged(), 15, "each run decides again");
  t.strictSame((await run({ bills: [bill("bills", [final])] })).errors, []);
  t.equal(await charged(), 15.5, "one of the files is removed");
});

t.test("charged bills stay charged if another source delivers the same charges", async (t) => {
  const first = [bill("first", [file("a.csv", { "01 a": 10, "02 a": 5 })])];
  const second = [bill("second", [file("b.csv", { "01 a": 11, "02 a": 6 })])];
  await run({ first });
  const { errors } = await run({ first, second });
  t.strictSame(errors, [
    `"b.csv" of the source second and "a.csv" of the source first have the same charges of account "payer" in 2026-05 (2 days from 2026-05-01 to 2026-05-02, 17 USD): what was charged before stays, which is "a.csv". ${decideBy}`,
  ]);
  t.equal(await charged(), 15);
  const next = [bill("first", [file("a.csv", { "01 a": 10, "02 a": 5, "03 a": 1 })])];
  t.strictSame(
    (await run({ first: next, second })).errors.map((error) => error.slice(0, 31)),
    ['"a.csv" of the source first and'],
    "the next delivery of the source counts nevertheless",
  );
  t.equal(await charged(), 16);
  const { notes } = await run({ first: next, second }, { ...undecided, precedence: ["second"] });
  t.strictSame(notes, [
    'first 2026-05: another bill is charged for 2026-05 of account "payer" from 2026-05-01 to 2026-05-02',
  ]);
  t.equal(await charged(), 18, "the second source is charged, with the day that it does not have");
  t.strictSame(
    (await run({ first: next, second }, { precedence: [], adding: new Set(["second"]) })).errors,
    [],
  );
  t.equal(await charged(), 33, "the setting charges both");
});

t.test("of two new sources with the same charges neither is charged, whichever is read first", async (t) => {
  const first = [bill("first", [file("a.csv", { "01 a": 10 })])];
  const second = [bill("second", [file("b.csv", { "01 a": 11 })])];
  one(t, (await run({ first, second })).errors, /neither is charged/);
  t.equal(await charged(), 0);
  one(t, (await run({ first, second })).errors, /neither is charged/);
  t.equal(await charged(), 0);
  const { rows } = await store.postgres.query("SELECT max(delivery_id)::int AS id FROM deliveries");
  await acceptDelivery(store.postgres, store.tenantName, rows[0].id);
  t.strictSame((await run({ first, second })).errors, []);
  t.equal(await charged(), 11, "the setting of a user decides");
});

t.test(
  "lines that differ only in the amount are all charged if their source has `overlap: add`",
  async (t) => {
    const adding = { ...undecided, adding: new Set(["bills"]) };
    const [a, b] = [file("a.csv", { "01 a": 10, "02 a": 5 }), file("b.csv", { "01 a": 12, "02 a": 5.5 })];
    const copy = fileOf("b (1).csv", text({ "01 a": 12, "02 a": 5.5 }));
    const both = { bills: [bill("bills", [a, b, copy])] };
    t.strictSame((await run(both, adding)).errors, []);
    t.equal(await charged(), 32.5, "each file counts, and the copy of one of them does not");
    t.strictSame((await run(both, adding)).errors, []);
    t.equal(await charged(), 32.5, "the next run adds nothing");
    one(t, (await run(both)).errors, /"b.csv" alone is charged/, "without the setting");
    t.equal(await charged(), 17.5);

    await store.postgres.query("DELETE FROM deliveries");
    const additions = [a, b].map((each) =>
      bill("bills", [each], { kind: "additive", billing_period: undefined }),
    );
    t.strictSame((await run({ bills: additions }, adding)).errors, []);
    t.equal(await charged(), 32.5, "additions of one source count in the same way");
  },
);

t.test("an addition that is gone from its source no longer holds another bill", async (t) => {
  const addition = (name: string, lines: Lines) =>
    bill("bills", [file(name, lines)], { kind: "additive", billing_period: undefined });
  const [a, b] = [addition("a.csv", { "01 a": 10 }), addition("b.csv", { "01 a": 12 })];
  one(t, (await run({ bills: [a, b] })).errors, /neither is charged/);
  t.equal(await charged(), 0);
  t.strictSame((await run({ bills: [a] })).errors, []);
  t.equal(await charged(), 10);
});

t.test("parts of one bill do not overlap", async (t) => {
  const parts = [
    file("part-0.csv", { "01 a": 1, "02 a": 2, "03 a": 3, "03 d": 1, "03 e": 1 }),
    file("part-1.csv", { "01 b": 4, "02 b": 5, "03 a": 6, "03 b": 1, "03 c": 2 }),
    file("part-2.csv", { "04 a": 7 }),
  ];
  t.strictSame(await run({ bills: [bill("bills", parts)] }), { errors: [], warnings: [], notes: [] });
  t.equal(await charged(), 33);
});

t.test("files of one manifest are disjoint, two exports of a month are not", async (t) => {
  const of = (unit: string, each: DeliveredFile) => ({ ...each, unit });
  const [a, b] = [file("a.csv", { "01 a": 10 }), file("b.csv", { "01 a": 12 })];
  t.strictSame((await run({ bills: [bill("bills", [of("daily", a), of("daily", b)])] })).errors, []);
  t.equal(await charged(), 22);
  await store.postgres.query("DELETE FROM deliveries");
  one(
    t,
    (await run({ bills: [bill("bills", [of("daily", a), of("once", b)])] })).errors,
    /^"daily" of the source bills and "once" of the source bills have the same charges/,
  );
  t.equal(await charged(), 0);
});

t.test("a bill that an earlier version charged twice is charged once", async (t) => {
  const both = { bills: [bill("bills", [file("a.csv", { "01 a": 10 }), file("b.csv", { "01 a": 12 })])] };
  await run(both);
  await store.postgres.query(
    "UPDATE deliveries SET state = 'current', problem = NULL, waits_for = NULL, shared_charges = NULL, periods = NULL",
  );
  t.equal(await charged(), 22, "the next run charges the same");
  one(t, (await run(both)).errors, /"b.csv" alone is charged/);
  t.equal(await charged(), 12);
  one(t, (await run(both)).errors, /"b.csv" alone is charged/, "each run says so");
});

t.test("a file that changes to the next month removes nothing of the last one", async (t) => {
  const rolling = (lines: Lines, month: string) =>
    bill("bills", [file("latest.csv", lines, month)], { billing_period: undefined });
  await run({ bills: [rolling({ "01 a": 10, "30 a": 20 }, "2026-05")] });
  t.strictSame((await run({ bills: [rolling({ "01 a": 3 }, "2026-06")] })).errors, []);
  t.equal(await charged(), 33);
  t.strictSame((await run({ bills: [rolling({ "01 a": 4, "02 a": 5 }, "2026-06")] })).errors, []);
  t.equal(await charged(), 39);
  t.strictSame((await run({ bills: [rolling({ "01 a": 10, "30 a": 20 }, "2026-05")] })).errors, []);
  t.equal(await charged(), 39, "the former file counts again");
});

t.test("a copy that gave way to a bill also gives way to its next delivery", async (t) => {
  const precedence = { ...undecided, precedence: ["first"] };
  const second = [bill("second", [file("copy.csv", { "01 a": 10 })])];
  const first = (...lines: Lines[]) => [
    bill(
      "first",
      lines.map((each, at) => file(`bill-${at}.csv`, each)),
    ),
  ];
  await run({ second, first: first({ "01 a": 11 }) }, precedence);
  t.equal(await charged(), 11);
  await run({ second, first: first({ "01 a": 11 }, { "02 a": 5 }) }, precedence);
  t.equal(await charged(), 16);
});

t.test("a bill that is replaced is not settled as well in the same pass", async (t) => {
  await run({ b: [bill("b", [file("may.csv", { "01 i-1": 1 })])] });
  // It waits, and a bill of the same month counts in part, both because of a third bill that is gone.
  await store.postgres.query(`
    INSERT INTO deliveries (tenant_name, source, scope, kind, content_id, settings_hash, billing_period, state, files, lines, epoch, loaded_at, periods, superseded)
    SELECT tenant_name, source, scope, kind, 'other', settings_hash, billing_period, state, files, lines, epoch, now(), periods,
      '[{"account": "x", "period": "2026-05", "from": "2026-05-01", "to": "2026-05-01", "files": null}]'
    FROM deliveries`);
  const waiting = await store.postgres.query(
    `UPDATE deliveries SET state = 'waiting_for_acceptance', waits_for = 'overlap', problem = 'it waits'
     WHERE content_id != 'other' RETURNING delivery_id::text AS id`,
  );
  const bills = { configured: ["b"], counted: new Set(""), scopes: new Set(""), listed: new Map() };
  const { errors, notes } = await settleOverlaps(store, bills, undecided, signal);
  t.strictSame([errors, notes], [[], []]);
  const states = await store.postgres.query(
    "SELECT delivery_id::text AS id, state FROM deliveries ORDER BY 1",
  );
  t.strictSame(
    states.rows.map(({ id, state }) => [id === waiting.rows[0].id, state]),
    [
      [true, "current"],
      [false, "replaced"],
    ],
  );
});
