/** The same bytes count once, whatever the names and sources of the files. */
import t from "tap";
import { loadDeliveries } from "../../../src/ingest/ecosystems/focus/deliveries/load-deliveries.js";
import type { DeliveredFile, Delivery } from "../../../src/ingest/ecosystems/focus/sources/delivery.js";
import { csv, deliveryOf, fileOf, loadedRows, loadSettings, openDeliveryStore } from "./bills.js";

const store = await openDeliveryStore(t);
const signal = new AbortController().signal;
t.beforeEach(async () => {
  await store.postgres.query("DELETE FROM deliveries");
});

const text = (amount: string, resource = "i-1") =>
  csv([{ EffectiveCost: amount, BilledCost: amount, ResourceId: resource }]);
const bill = (source: string, files: readonly DeliveredFile[], changes: Partial<Delivery> = {}) =>
  deliveryOf(files, { source, ...changes });

/** Runs with these deliveries in the sources. */
async function run(sources: Readonly<Record<string, readonly Delivery[]>>) {
  const opened = Object.entries(sources).map(([name, deliveries]) => ({
    name,
    list: async () => ({ deliveries, pending: [], waiting: [], remarks: [] }),
    close: async () => undefined,
  }));
  return await loadDeliveries(store, opened, loadSettings, signal);
}

/** Returns the counting lines of all configured sources. */
async function charged(...sources: readonly string[]): Promise<number> {
  const { rows } = await store.postgres.query<{ id: string }>(
    "SELECT delivery_id::text AS id FROM deliveries WHERE state = 'current' AND (source = ANY ($1) OR $1 = '{}')",
    [sources],
  );
  const ids = rows.map(({ id }) => id).join(", ") || "0";
  const [row] = await loadedRows<{ sum: number }>(
    store,
    `SELECT toFloat64(sum(EffectiveCost)) AS sum FROM focus_lines WHERE delivery IN (${ids})`,
  );
  return Number(row?.sum);
}
const states = async () =>
  (await store.postgres.query("SELECT source, state FROM deliveries ORDER BY delivery_id")).rows.map(
    ({ source, state }) => `${source} ${state}`,
  );

t.test("a copy of a file in one bill counts once, with a remark and its sums", async (t) => {
  const files = [fileOf("2026-05 (1).csv", text("10")), fileOf("2026-05.csv", text("10"))];
  const remark = '"2026-05.csv" has the same bytes as "2026-05 (1).csv", and counts once.';
  t.strictSame(await run({ bills: [bill("bills", files)] }), {
    errors: [],
    warnings: [],
    notes: [`bills 2026-05: ${remark}`],
  });
  t.equal(await charged(), 10);
  const { rows } = await store.postgres.query("SELECT remarks, duplicates, files FROM deliveries");
  t.strictSame(rows[0].remarks, [remark]);
  const [duplicate] = rows[0].duplicates;
  t.strictSame(
    [duplicate.name, duplicate.same_as, duplicate.same_as_source, duplicate.sums[0].effective_cost],
    ["2026-05.csv", "2026-05 (1).csv", "bills", "10"],
  );
  t.equal(duplicate.sha256, rows[0].files[0].sha256);
  t.strictSame(rows[0].files[0].periods, [["payer", "2026-05"]]);
});

t.test("a bill of two sources counts once, and the second one is not an error", async (t) => {
  const sources = {
    first: [bill("first", [fileOf("a.csv", text("10"))])],
    second: [bill("second", [fileOf("b.csv", text("10"))])],
  };
  const note =
    'second 2026-05: all of it counts already: "b.csv" has the same bytes as "a.csv" of the source first, and counts once.';
  t.strictSame(await run(sources), { errors: [], warnings: [], notes: [note] });
  t.strictSame(await run(sources), { errors: [], warnings: [], notes: [note] }, "each run reports it");
  t.equal(await charged(), 10);
  t.strictSame(await states(), ["first current", "second superseded"]);
  await run({ second: sources.second });
  t.equal(await charged("second"), 10, "the first source is not configured any more");
  t.strictSame(await states(), ["first current", "second replaced", "second current"]);
});

t.test("a file that was left out is loaded once the file that counted is gone", async (t) => {
  const shared = text("10");
  await run({
    first: [bill("first", [fileOf("a.csv", shared)])],
    second: [bill("second", [fileOf("b.csv", shared), fileOf("c.csv", text("3", "i-2"))])],
  });
  t.equal(await charged(), 13);
  await run({
    first: [bill("first", [fileOf("a.csv", text("11", "i-3"))])],
    second: [bill("second", [fileOf("b.csv", shared), fileOf("c.csv", text("3", "i-2"))])],
  });
  t.equal(await charged(), 24, "the file is loaded in the same run");
});

t.test("a file of another size is not read twice", async (t) => {
  const opened: string[] = [];
  const counted = (file: DeliveredFile): DeliveredFile => ({
    ...file,
    open: async (signal) => {
      opened.push(file.name);
      return await file.open(signal);
    },
  });
  const files = [
    fileOf("a.csv", text("10")),
    fileOf("b.csv", text("200", "i-2")),
    fileOf("c.csv", text("30", "i-3")),
  ];
  await run({ bills: [bill("bills", files.map(counted))] });
  t.strictSame(opened, ["a.csv", "b.csv", "c.csv", "c.csv"], "c.csv has the size of a.csv and other bytes");
  t.equal(await charged(), 240);
});

t.test("a bill whose files are delivered again beside new ones replaces the one before", async (t) => {
  const [a, b] = [fileOf("a.csv", text("10")), fileOf("b.csv", text("20", "i-2"))];
  await run({ bills: [bill("bills", [a])] });
  await run({ bills: [bill("bills", [a, b])] });
  t.strictSame([await charged(), await states()], [30, ["bills replaced", "bills current"]]);
});
