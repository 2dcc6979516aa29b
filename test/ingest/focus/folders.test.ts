/** Random folders of bills over several runs: nothing is charged twice, and what is not charged is reported. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import t from "tap";
import { loadDeliveries } from "../../../src/ingest/ecosystems/focus/deliveries/load-deliveries.js";
import { isCounted, type PartlyCounted } from "../../../src/ingest/ecosystems/focus/lines/counted.js";
import { openBillSource } from "../../../src/ingest/ecosystems/focus/sources/open-source.js";
import {
  type BillSourceSettings,
  billSourceSettings,
} from "../../../src/ingest/ecosystems/focus/sources/settings.js";
import fc from "../../property.js";
import { csv, loadedRows, loadSettings, openDeliveryStore } from "./bills.js";

const store = await openDeliveryStore(t);
const signal = new AbortController().signal;

/** `MONTH-DAY RESOURCE` → amount. */
type Lines = ReadonlyMap<string, number>;
const days = ["01", "02", "03"];
const linesOf = (month: string, resources: readonly string[], amount: number, of = days): Lines =>
  new Map(
    of.flatMap((day, at) =>
      resources.map((each, place): [string, number] => [`${month}-${day} ${each}`, amount + at * 10 + place]),
    ),
  );
const textOf = (lines: Lines) =>
  csv(
    [...lines].map(([key, amount]) => {
      const [day = "", resource = ""] = key.split(" ");
      return {
        EffectiveCost: String(amount),
        BilledCost: String(amount),
        ResourceId: resource,
        ChargePeriodStart: `${day}T00:00:00Z`,
        ChargePeriodEnd: `${day}T23:00:00Z`,
      };
    }),
  );

const classes = ["copy", "draft", "partial", "rolling", "part", "remove", "precedence"] as const;
type Class = (typeof classes)[number];
interface Step {
  readonly what: Class;
  readonly second: boolean;
  /** Whether there is a run before the next step. */
  readonly run: boolean;
}
const steps = fc.array(
  fc.record({
    what: fc.constantFrom(...classes),
    second: fc.boolean(),
    run: fc.boolean(),
  }) satisfies fc.Arbitrary<Step>,
  { minLength: 2, maxLength: 6 },
);

/** The draft never counted, so its removal removes nothing. */
const decidedDraftGoes: Step[] = [
  { what: "precedence", second: false, run: false },
  { what: "draft", second: false, run: true },
  { what: "remove", second: false, run: true },
];

const base = "first/2026-05/bill.csv";
const month = "2026-05";

async function charged(): Promise<Map<string, number[]>> {
  const { rows } = await store.postgres.query<PartlyCounted>(
    "SELECT delivery_id::text, retired, superseded FROM deliveries WHERE state = 'current'",
  );
  const ids = rows.map(({ delivery_id }) => delivery_id).join(", ") || "0";
  const found = await loadedRows<{ key: string; amounts: number[] }>(
    store,
    `SELECT concat(toString(charge_day), ' ', ResourceId) AS key, groupArray(toFloat64(EffectiveCost)) AS amounts FROM focus_lines
      WHERE delivery IN (${ids}) AND ${isCounted(rows)} GROUP BY key`,
  );
  return new Map(found.map(({ key, amounts }) => [key, amounts.map(Number)]));
}

const seen = new Map<string, number>();
const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);

async function play(folder: string, played: readonly Step[]): Promise<void> {
  await store.postgres.query("DELETE FROM deliveries");
  const sources = ["first", "second"].map((name) => {
    const written = { name, location: join(folder, name), layout: "plain", limits: { settle_seconds: 0 } };
    return openBillSource(Value.Default(billSourceSettings, written) as BillSourceSettings);
  });
  const files = new Map<string, Lines>();
  const put = async (name: string, lines: Lines) => {
    files.set(name, lines);
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), textOf(lines));
  };
  await put(base, linesOf(month, ["a", "b"], 1));
  await put("second/2026-04/other.csv", linesOf("2026-04", ["z"], 5));
  let precedence: readonly string[] = [];
  let rolled = 5;
  let before = new Map<string, number[]>();
  for (const [at, { what, second, run }] of played.entries()) {
    count(what);
    const source = second ? "second" : "first";
    if (what === "copy") await put(`${source}/copies/2026-05 (${at}).csv`, files.get(base) ?? new Map());
    if (what === "draft") await put(`${source}/2026-05-draft.csv`, linesOf(month, ["a", "b"], 100));
    if (what === "partial")
      await put(`${source}/2026-05-partial.csv`, linesOf(month, ["a", "b"], 200, ["02", "03"]));
    if (what === "part") await put(`first/2026-05/part-${at}.csv`, linesOf(month, [`p${at}`], 300 + at));
    if (what === "rolling") {
      rolled += 1;
      await put("second/latest.csv", linesOf(`2026-0${Math.min(rolled, 9)}`, ["r"], 400));
    }
    if (what === "precedence") precedence = [base, "first/**"];
    if (what === "remove")
      for (const name of [...files.keys()].filter((each) => /draft|partial/.test(each))) {
        files.delete(name);
        await rm(join(folder, name));
      }
    if (!run && at < played.length - 1) continue;
    count("run");
    const overlaps = { precedence, adding: new Set<string>() };
    const report = await loadDeliveries(store, sources, { ...loadSettings, overlaps }, signal);
    const now = await charged();
    const reported = [...report.errors, ...report.warnings, ...report.notes].join("\n");
    const state = JSON.stringify({ at, reported, files: [...files.keys()], now: [...now] });
    for (const [key, amounts] of now)
      if (amounts.length > 1) throw new Error(`${key} is charged twice: ${state}`);
    const conflict = [...files.keys()].some((name) => /draft|partial/.test(name));
    for (const [name, lines] of files)
      for (const [key, amount] of lines) {
        const amounts = now.get(key);
        if (amounts === undefined && !reported.includes(key.slice(0, 7)))
          throw new Error(`${key} of ${name} is not charged, and nobody says so: ${state}`);
        if (!conflict && amounts?.[0] !== amount)
          throw new Error(`${key} of ${name} is not charged as it is delivered: ${state}`);
      }
    if (!conflict && report.errors.length > 0) throw new Error(`an error without a conflict: ${state}`);
    for (const key of before.keys())
      if (!now.has(key) && !reported.includes(key.slice(0, 7)))
        throw new Error(`${key} was charged before, is not any more, and nobody says so: ${state}`);
    if (conflict) count(precedence.length > 0 ? "decided" : "conflict");
    before = now;
  }
  for (const source of sources) await source.close();
}

t.test("in random folders, nothing is charged twice, and nothing is left out without a report", async (t) => {
  await fc.assert(
    fc.asyncProperty(steps, async (played) => {
      const folder = await mkdtemp(join(tmpdir(), "chargehouse-folders-"));
      try {
        await play(folder, played);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }),
    { numRuns: 20, examples: [[decidedDraftGoes]], interruptAfterTimeLimit: 240_000 },
  );
  const lacking = [...classes, "run", "conflict", "decided"].filter((what) => !seen.has(what));
  t.strictSame(lacking, [], "all classes of cases occurred");
});
