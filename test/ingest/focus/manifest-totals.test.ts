/** Totals that the manifest of an export states are compared with what its files hold. */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import t from "tap";
import { loadDeliveries } from "../../../src/ingest/ecosystems/focus/deliveries/load-deliveries.js";
import type { BillSource } from "../../../src/ingest/ecosystems/focus/sources/delivery.js";
import { openBillSource } from "../../../src/ingest/ecosystems/focus/sources/open-source.js";
import { billFolder, type Files, sourceSettings, write } from "./bill-files.js";
import { csv, loadedRows, loadSettings, openDeliveryStore, recorded } from "./bills.js";

const store = await openDeliveryStore(t);
const range = "exp/20260501-20260531";
const rows = (count: number, resource: string) =>
  csv(Array.from({ length: count }, (_, at) => ({ ResourceId: `${resource}-${at}` })));
const ADVICE = ": run the export again, because rows may be missing or may be there twice";

interface Stated {
  readonly rows?: number | null;
  readonly bytes?: number;
  readonly parts: Readonly<Record<string, number | undefined>>;
  readonly totals?: unknown;
}

const manifestOf = (run: string, { rows, bytes, parts, totals }: Stated) =>
  JSON.stringify({
    blobCount: Object.keys(parts).length,
    dataRowCount: rows,
    byteCount: bytes,
    totals,
    exportConfig: { type: "FocusCost" },
    runInfo: { submittedTime: `2026-06-0${run}T04:00:00Z` },
    blobs: Object.entries(parts).map(([name, dataRowCount]) => ({
      blobName: `${range}/${run}/${name}`,
      dataRowCount,
    })),
  });

/** A run with `a.csv` of three rows and `b.csv` of two. */
const runOf = (run: string, stated: Stated, texts = { a: rows(3, "a"), b: rows(2, "b") }): Files => ({
  [`${range}/${run}/a.csv`]: texts.a,
  [`${range}/${run}/b.csv`]: texts.b,
  [`${range}/${run}/manifest.json`]: manifestOf(run, stated),
});
const EQUAL: Stated = { rows: 5, parts: { "a.csv": 3, "b.csv": 2 } };

async function load(...sources: readonly BillSource[]) {
  return await loadDeliveries(store, sources, loadSettings, AbortSignal.timeout(120_000));
}

function sourceIn(location: string): BillSource {
  const source = openBillSource(sourceSettings({ location, limits: { settle_seconds: 0 } }));
  t.teardown(() => source.close());
  return source;
}

async function chargedRows(): Promise<number> {
  const counted = await store.postgres.query("SELECT delivery_id FROM deliveries WHERE state = 'current'");
  const ids = counted.rows.map(({ delivery_id }) => delivery_id).join(", ") || "0";
  const [found] = await loadedRows<{ n: string }>(
    store,
    `SELECT count() AS n FROM focus_lines WHERE delivery IN (${ids})`,
  );
  return Number(found?.n);
}

t.beforeEach(async () => {
  await store.postgres.query("DELETE FROM deliveries");
});

t.test("a bill whose files match the manifest has no error", async (t) => {
  const bytes = rows(3, "a").length + rows(2, "b").length;
  for (const stated of [
    EQUAL,
    { ...EQUAL, bytes },
    { rows: 5, parts: { "a.csv": undefined, "b.csv": undefined } },
    { rows: null, parts: { "a.csv": 3, "b.csv": undefined } },
    { parts: { "a.csv": undefined, "b.csv": undefined } },
  ]) {
    await store.postgres.query("DELETE FROM deliveries");
    t.strictSame(await load(sourceIn(await billFolder(t, runOf("1", stated)))), {
      errors: [],
      warnings: [],
      notes: [],
    });
    t.equal(await chargedRows(), 5);
  }
});

t.test("a file with other rows than the manifest states is charged, and each run reports it", async (t) => {
  const folder = await billFolder(t, runOf("1", { rows: 7, parts: { "a.csv": 3, "b.csv": 4 } }));
  const source = sourceIn(folder);
  const problem = `"${range}/1/b.csv" has 2 rows, and "${range}/1/manifest.json" states 4${ADVICE}`;
  const report = { errors: [`bills 2026-05: ${problem}`], warnings: [], notes: [] };
  t.strictSame(await load(source), report);
  t.equal(await chargedRows(), 5, "the files are charged unchanged");
  t.strictSame(await load(source), report, "the next run reports it, too");
  const [delivery] = await recorded(store);
  t.strictSame(delivery?.remarks, [problem]);
  t.strictSame(delivery?.findings, [{ id: "manifest_totals", what: problem, lines: 2, examples: [] }]);

  await write(folder, runOf("2", EQUAL));
  t.strictSame((await load(source)).errors, [], "a newer run of the export with all rows ends the report");
  t.equal(await chargedRows(), 5);
});

t.test("a difference is reported while the bill counts, even if the export is gone", async (t) => {
  const folder = await billFolder(t, runOf("1", { parts: { "a.csv": 4, "b.csv": 2 } }));
  const source = sourceIn(folder);
  const { errors } = await load(source);
  t.equal(errors.length, 1);
  await rm(join(folder, "exp"), { recursive: true });
  t.strictSame((await load(source)).errors, errors);
  t.strictSame((await load()).errors, [], "a source that is not configured any more is not charged");
});

t.test(
  "a total that the files do not add up to is reported with the manifest and both numbers",
  async (t) => {
    const none = { "a.csv": undefined, "b.csv": undefined };
    const manifest = `the files of "${range}/1/manifest.json" have`;
    const cases: readonly (readonly [Stated, string])[] = [
      [{ rows: 6, parts: none }, `${manifest} 5 rows, and it states 6`],
      [{ rows: 0, parts: none }, `${manifest} 5 rows, and it states 0`],
      [{ rows: 4, parts: EQUAL.parts }, `${manifest} 5 rows, and it states 4`],
      [
        { bytes: 1, parts: none },
        `${manifest} ${rows(3, "a").length + rows(2, "b").length} bytes, and it states 1`,
      ],
    ];
    for (const [stated, problem] of cases) {
      await store.postgres.query("DELETE FROM deliveries");
      const { errors } = await load(sourceIn(await billFolder(t, runOf("1", stated))));
      t.strictSame(errors, [`bills 2026-05: ${problem}${ADVICE}`]);
    }
  },
);

t.test("sums by currency are compared exactly, if a manifest has them", async (t) => {
  const sum = { BilledCost: "5", EffectiveCost: "5.000000000000", ListCost: "5", ContractedCost: "5" };
  const state = async (totals: unknown) => {
    await store.postgres.query("DELETE FROM deliveries");
    return (await load(sourceIn(await billFolder(t, runOf("1", { ...EQUAL, totals }))))).errors;
  };
  t.strictSame(await state([{ currency: "USD", rows: 5, ...sum }]), []);
  t.strictSame(await state([{ currency: "USD", total: 7 }]), [], "a total of another type is not compared");
  const differing = [
    { currency: "USD", ...sum, EffectiveCost: "5.000000000001" },
    { currency: "EUR", ...sum, BilledCost: "0", EffectiveCost: "-1", ListCost: "0", ContractedCost: "0" },
  ];
  const manifest = `bills 2026-05: the files of "${range}/1/manifest.json" have EffectiveCost`;
  t.strictSame(await state(differing), [
    `${manifest} 5 USD, and it states 5.000000000001 USD${ADVICE}`,
    `${manifest} 0 EUR, and it states -1 EUR${ADVICE}`,
  ]);
});

t.test(
  "rows are counted in compressed files, with line breaks in values, and in a copy that is not read",
  async (t) => {
    const broken = csv([{ ServiceName: "two\nlines" }, { ResourceId: "x" }]);
    const files: Files = {
      ...runOf("1", { rows: 4, parts: { "a.csv": 2, "b.csv": 2 } }, { a: broken, b: broken }),
    };
    const report = await load(sourceIn(await billFolder(t, files)));
    t.strictSame(report.errors, [], "the copy counts once, and has the stated rows");
    t.equal(await chargedRows(), 2);

    await store.postgres.query("DELETE FROM deliveries");
    const folder = await billFolder(t, {});
    await write(folder, { [`${range}/1/manifest.json`]: manifestOf("1", { parts: { "a.csv.gz": 3 } }) });
    const packed = gzipSync(rows(2, "z"));
    await write(folder, { [`${range}/1/a.csv.gz`]: "" });
    await writeFile(join(folder, range, "1/a.csv.gz"), packed);
    t.strictSame((await load(sourceIn(folder))).errors, [
      `bills 2026-05: "${range}/1/a.csv.gz" has 2 rows, and "${range}/1/manifest.json" states 3${ADVICE}`,
    ]);
  },
);

t.test("many files with other rows are reported by five sentences and a sum", async (t) => {
  const names = Array.from({ length: 8 }, (_, at) => `part_${at}.csv`);
  const folder = await billFolder(
    t,
    Object.fromEntries([
      ...names.map((name) => [`${range}/1/${name}`, rows(1, name)]),
      [
        `${range}/1/manifest.json`,
        manifestOf("1", { rows: 16, parts: Object.fromEntries(names.map((name) => [name, 2])) }),
      ],
    ]),
  );
  const { errors } = await load(sourceIn(folder));
  t.equal(errors.length, 6);
  t.equal(
    errors.at(-1),
    `bills 2026-05: 3 more files of "${range}/1/manifest.json" have other numbers of rows than it states${ADVICE}`,
  );
});

t.test("a manifest that names another dataset is not compared", async (t) => {
  const commitments = "ContractCommitmentId,ContractCommitmentCategory,ContractId\nc,Spend,k\n";
  const files = runOf(
    "1",
    { rows: 9, parts: { "a.csv": 3, "b.csv": 7 } },
    { a: rows(3, "a"), b: commitments },
  );
  const { errors, notes } = await load(sourceIn(await billFolder(t, files)));
  t.strictSame(errors, []);
  t.match(notes.join("\n"), /b\.csv" holds contract commitments of FOCUS, and is left alone/);
});
