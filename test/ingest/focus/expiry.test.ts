/**
 * Bills that are older than the retention: their lines are dropped, and they are read again only if the retention
 * becomes longer.
 */
import t from "tap";
import type { LoadSettings } from "../../../src/ingest/ecosystems/focus/deliveries/delivery-store.js";
import { loadDeliveries } from "../../../src/ingest/ecosystems/focus/deliveries/load-deliveries.js";
import type { Delivery } from "../../../src/ingest/ecosystems/focus/sources/delivery.js";
import { acceptDelivery } from "../../../src/postgres/accept-delivery.js";
import {
  csv,
  deliveryOf,
  fileOf,
  loadedRows,
  loadSettings,
  openDeliveryStore,
  testBillSource,
} from "./bills.js";

const store = await openDeliveryStore(t);
const signal = new AbortController().signal;

async function reported(deliveries: readonly Delivery[], changes: Partial<LoadSettings> = {}, of = store) {
  return await loadDeliveries(of, [testBillSource(...deliveries)], { ...loadSettings, ...changes }, signal);
}
const nothingToSay = { errors: [], warnings: [], notes: [] };

/** A charge that begins on the day of May 2026 and lasts this many days. */
const charge = (day: number, amount = "1", days = 1) => ({
  EffectiveCost: amount,
  BilledCost: amount,
  ChargePeriodStart: new Date(Date.UTC(2026, 4, day)).toISOString(),
  ChargePeriodEnd: new Date(Date.UTC(2026, 4, day + days)).toISOString(),
});
const bill = (rows: Parameters<typeof csv>[0], changes: Partial<Delivery> = {}) =>
  deliveryOf([fileOf("bill.csv", csv(rows))], changes);
const ofJune = { billing_period: "2026-06" };

/** A delivery with the same content that fails the test if it is read. */
const unread = (delivery: Delivery): Delivery => ({
  ...delivery,
  files: delivery.files.map((file) => ({ ...file, open: () => t.fail("opened") as never })),
});

/** State and effective cost of each recorded delivery, and the lines of each partition of both tables. */
async function kept() {
  const { rows } = await store.postgres.query<{ record: string }>(
    "SELECT concat_ws(' ', state, sums->0->>'effective_cost') AS record FROM deliveries ORDER BY delivery_id",
  );
  const partitions = await loadedRows<{ name: string; rows: string }>(
    store,
    `SELECT table AS name, toString(sum(rows)) AS rows FROM system.parts
      WHERE database = currentDatabase() AND active AND table IN ('focus_lines', 'focus_text_sums') GROUP BY table, partition ORDER BY table, toUInt64(partition)`,
  );
  const lines = partitions.filter(({ name }) => name === "focus_lines").map(({ rows }) => Number(rows));
  return {
    records: rows.map(({ record }) => record),
    lines,
    sums: partitions.length - lines.length,
  };
}

async function reasons() {
  const { rows } = await store.postgres.query<{ problem: string }>(
    "SELECT problem FROM deliveries WHERE state = 'expired' ORDER BY delivery_id",
  );
  return rows.map(({ problem }) => problem);
}

t.beforeEach(async () => {
  await store.postgres.query("DELETE FROM deliveries");
});

t.test(
  "the lines of a bill are dropped when its last day is older than the retention, and it is not read again",
  async (t) => {
    const may = bill([charge(1), charge(20)]);
    const june = bill([charge(33, "3")], ofJune);
    await reported([may, june], { keepFrom: "2026-05-20" });
    t.strictSame(
      await kept(),
      { records: ["current 2", "current 3"], lines: [2, 1], sums: 2 },
      "the last day of the bill is still kept",
    );
    const later = { keepFrom: "2026-05-21" };
    t.strictSame(await reported([unread(may), unread(june)], later), nothingToSay);
    const expired = { records: ["expired 2", "current 3"], lines: [1], sums: 1 };
    t.strictSame(await kept(), expired);
    t.strictSame(await reasons(), [
      "its last day is 2026-05-20, and retention_days keeps days from 2026-05-21 on",
    ]);
    t.strictSame(await reported([unread(may), unread(june)], { keepFrom: "2026-05-25" }), nothingToSay);
    t.strictSame(await kept(), expired, "the bills stay expired");
    t.strictSame(await reported([], { keepFrom: "2026-07-01" }), nothingToSay);
    t.strictSame(
      await kept(),
      { records: ["expired 2", "expired 3"], lines: [], sums: 0 },
      "bills that are not listed any more expire, too",
    );
  },
);

t.test("a charge keeps its bill until the last day that it is charged to", async (t) => {
  const reserved = bill([charge(1, "30", 60), charge(3)]);
  const spread = "daily";
  await reported([reserved], { spread });
  for (const [changes, state] of [
    [{ spread, keepFrom: "2026-06-29" }, "current 31"],
    [{ spread, keepFrom: "2026-06-30" }, "expired 31"],
    [{ spread, keepFrom: "2026-06-29" }, "current 31"],
    [{ spread: "none", keepFrom: "2026-05-04" }, "expired 31"],
    [{ spread: "none", keepFrom: "2026-05-03" }, "current 31"],
  ] as const) {
    t.strictSame(await reported([reserved], changes), nothingToSay);
    const { records, lines } = await kept();
    const isThere = state === "current 31";
    t.strictSame(
      [records.at(-1), lines],
      [state, isThere ? [2] : []],
      `spread: ${changes.spread}, kept from ${changes.keepFrom}`,
    );
  }
  t.strictSame(
    (await kept()).records,
    ["replaced 31", "replaced 31", "current 31"],
    "each load is recorded, and one counts",
  );
  await store.postgres.query("DELETE FROM deliveries");
  await reported([bill([charge(1, "1", 3701)])], { spread, keepFrom: "2026-05-02" });
  t.strictSame(
    (await kept()).records,
    ["expired 1"],
    "a charge with an implausibly long period counts on its first day",
  );
});

t.test("a line without a date may be of any day of its month", async (t) => {
  const rows = [charge(1), { ...charge(1), ChargePeriodStart: "" }];
  for (const [billing_period, keepFrom, state] of [
    ["2026-05", "2026-05-31", "current"],
    ["2026-05", "2026-06-01", "expired"],
    [undefined, "2026-05-01", "current"],
    [undefined, "2026-05-02", "expired"],
  ] as const) {
    await store.postgres.query("DELETE FROM deliveries");
    const delivery = bill(rows, { billing_period });
    await reported([delivery], { keepFrom: "2026-01-01" });
    t.strictSame(await reported([unread(delivery)], { keepFrom }), nothingToSay);
    t.strictSame((await kept()).records, [`${state} 2`], `${billing_period}, kept from ${keepFrom}`);
  }
});

t.test(
  "a bill that was loaded before its last start was recorded expires by the end of its charges",
  async (t) => {
    const delivery = bill([charge(1, "1", 10)]);
    await reported([delivery]);
    await store.postgres.query("UPDATE deliveries SET last_start_day = NULL");
    await reported([unread(delivery)], { keepFrom: "2026-05-10" });
    t.strictSame((await kept()).records, ["current 1"]);
    await reported([unread(delivery)], { keepFrom: "2026-05-11" });
    t.strictSame((await kept()).records, ["expired 1"]);
  },
);

t.test("a bill that is already too old is read once, and its lines are dropped", async (t) => {
  const keepFrom = "2026-06-01";
  const old = bill([charge(1)]);
  t.strictSame(await reported([old], { keepFrom }), nothingToSay);
  t.strictSame(await kept(), { records: ["expired 1"], lines: [], sums: 0 });
  t.strictSame(await reported([unread(old)], { keepFrom }), nothingToSay);
  const corrected = bill([charge(2, "5")]);
  t.strictSame(await reported([corrected], { keepFrom }), nothingToSay);
  t.strictSame(
    await kept(),
    { records: ["replaced 1", "expired 5"], lines: [], sums: 0 },
    "each content is read once",
  );
  t.strictSame(await reported([unread(corrected)], { keepFrom }), nothingToSay);
  const additions = ["a.csv", "b.csv"].map((name, at) =>
    deliveryOf([fileOf(name, csv([charge(31 + at)]))], { kind: "additive", billing_period: undefined }),
  );
  await store.postgres.query("DELETE FROM deliveries");
  await reported(additions, { keepFrom });
  t.strictSame((await kept()).records, ["expired 1", "current 1"], "additions expire independently");
});

t.test("a bill within a longer retention is read again, with the same lines and sums", async (t) => {
  const delivery = bill([charge(1, "1.5"), charge(2, "2.25")]);
  const lines = async () =>
    await loadedRows(store, "SELECT * EXCEPT (delivery) FROM focus_lines ORDER BY file, line");
  await reported([delivery]);
  const before = await lines();
  t.equal(before.length, 2);
  await reported([delivery], { keepFrom: "2026-06-01" });
  t.strictSame(await lines(), []);
  t.strictSame(await reported([delivery], { keepFrom: "2026-05-02" }), nothingToSay);
  t.strictSame(await lines(), before);
  t.strictSame(await kept(), { records: ["replaced 3.75", "current 3.75"], lines: [2], sums: 1 });
  t.strictSame(
    await reported([unread(delivery)], { keepFrom: "2026-05-02" }),
    nothingToSay,
    "the bill is read once",
  );

  const unreadable = { ...delivery, files: [fileOf("bill.csv", "BilledCost\n1\n")] };
  await reported([unread(delivery)], { keepFrom: "2026-06-01" });
  const { errors } = await reported([unreadable]);
  t.equal(errors.length, 1, "a file that cannot be read any more is reported");
  const nothingOpened = { ...unreadable, files: unread(unreadable).files };
  t.strictSame((await reported([nothingOpened])).errors, errors, "the file is not read again");
});

t.test("a waiting bill expires together with the bill that it would replace", async (t) => {
  const [whole, less] = [bill([charge(1, "10"), charge(9, "10")]), bill([charge(1, "1"), charge(2, "1")])];
  await reported([whole]);
  const { errors } = await reported([less]);
  t.equal(errors.length, 1);
  t.strictSame(await reported([unread(less)], { keepFrom: "2026-05-09" }), { ...nothingToSay, errors });
  t.strictSame(
    await kept(),
    { records: ["current 20", "waiting_for_acceptance 2"], lines: [2, 2], sums: 2 },
    "a day that the waiting bill would remove is kept",
  );
  t.strictSame(await reported([unread(less)], { keepFrom: "2026-05-10" }), nothingToSay);
  t.strictSame(await kept(), { records: ["expired 20", "expired 2"], lines: [], sums: 0 });
  t.strictSame(await reported([less]), nothingToSay);
  t.strictSame(await kept(), {
    records: ["replaced 20", "replaced 2", "current 2"],
    lines: [2],
    sums: 1,
  });
});

t.test("a bill that is accepted replaces one that has expired", async (t) => {
  await reported([bill([charge(1, "10")])]);
  await reported([bill([charge(9, "1")])]);
  await reported([bill([charge(9, "1")])], { keepFrom: "2026-05-05" });
  t.strictSame((await kept()).records, ["expired 10", "waiting_for_acceptance 1"]);
  const { rows } = await store.postgres.query<{ id: number }>(
    "SELECT max(delivery_id)::int AS id FROM deliveries",
  );
  t.strictSame(await acceptDelivery(store.postgres, store.tenantName, rows[0]?.id ?? 0), {
    state: "waiting_for_acceptance",
  });
  t.strictSame((await kept()).records, ["replaced 10", "current 1"]);
});

t.test("a source that changes to months misses nothing that is older than the retention", async (t) => {
  const spread = "daily";
  const rows = [charge(1, "1", 1), charge(2, "1", 1), charge(20, "1", 20), charge(40, "10")];
  await reported([bill(rows, { billing_period: undefined })], { spread });
  t.strictSame((await kept()).records, ["current 13"]);
  const keepFrom = "2026-06-01";
  const june = bill(rows.slice(3), ofJune);
  const lost =
    "bills: the bill of 2026-06 would take the place of the bill without a month, because the source delivers in another way now; but 1 day of what is there now would be lost, from 2026-05-20 on";
  t.strictSame(
    (await reported([june], { keepFrom, spread })).errors,
    [lost],
    "a charge that continues within the retention would be lost",
  );
  const may = bill(rows.slice(2, 3), { billing_period: "2026-05" });
  const april = bill([charge(-5, "1")], { billing_period: "2026-04" });
  t.strictSame(await reported([april, may, unread(june)], { keepFrom, spread }), nothingToSay);
  t.strictSame(await kept(), {
    records: ["replaced 13", "current 10", "expired 1", "current 1"],
    lines: [1, 1],
    sums: 2,
  });
  t.strictSame(await reported([april, may, june].map(unread), { keepFrom, spread }), nothingToSay);
});

t.test("a source that lists nothing reports what became of its bills", async (t) => {
  await reported([bill([charge(1)])], { keepFrom: "2026-06-01" });
  const source = {
    ...testBillSource(),
    list: async () => ({
      deliveries: [],
      pending: [],
      waiting: [],
      remarks: [],
      nothing: "/bills has no files",
    }),
  };
  const { notes } = await loadDeliveries(
    store,
    [source],
    { ...loadSettings, keepFrom: "2026-06-01" },
    signal,
  );
  t.strictSame(notes, [
    "bills: no bill is there any more: /bills has no files. All bills that were read before are older than retention_days",
  ]);
});

t.test("a lost lease expires nothing", async (t) => {
  const delivery = bill([charge(1)]);
  await reported([delivery]);
  await reported([unread(delivery)], { keepFrom: "2026-06-01" }, { ...store, epoch: store.epoch - 1 });
  t.strictSame(await kept(), { records: ["current 1"], lines: [1], sums: 1 });
});
