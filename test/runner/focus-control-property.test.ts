/**
 * For random bills, windows and revisions, every line of the files is in exactly one class, and the run publishes the
 * class `charged`. The model reads the rows that the test wrote, in whole millionths, and does not use SQL.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { addDays } from "../../src/common/days.js";
import { readControlTotals } from "../../src/query/state/control-totals.js";
import { csv } from "../ingest/focus/bills.js";
import fc from "../property.js";
import { openTestStores, temporaryFolder } from "../stores.js";
import { daysBefore, runContext, runOnce, runRows } from "./runs.js";

const LOOKBACK = 8;
const CUTOFF = 1;
const FIRST = daysBefore(LOOKBACK);
const LAST = daysBefore(CUTOFF);

/** Each example has a tenant of its own, because published days of an earlier one would be kept. */
const EXAMPLES = 8;
const nameOf = (example: number) => `tenant_${example}`;

const tenants = (folder: string, spread: string) =>
  `tenants:\n${Array.from({ length: EXAMPLES }, (_, example) => tenant(nameOf(example), folder, spread)).join("")}`;

const tenant = (name: string, folder: string, spread: string) => `  ${name}:
    ecosystem: focus
    tenant_id: ${name}
    lookback_days: ${LOOKBACK}
    cutoff_days: ${CUTOFF}
    retention_days: 30
    storage: { connection_string: "embedded:${name}" }
    plugin_settings:
      spread: ${spread}
      sources:
        - name: cloud
          location: ${join(folder, name)}
          limits: { settle_seconds: 0 }
`;

interface Row {
  /** Days before today when the charge begins; undefined for a row without a readable date. */
  readonly age: number | undefined;
  readonly days: number;
  readonly micros: number;
  readonly effective: "same" | "zero" | "words";
  readonly currency: "USD" | "EUR" | "";
  readonly resource: string;
}

const row: fc.Arbitrary<Row> = fc.record({
  age: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constant(undefined)),
  days: fc.constantFrom(1, 1, 1, 3, 12),
  micros: fc.oneof(fc.integer({ min: -9_000_000, max: 90_000_000 }), fc.constantFrom(0, 1, -1)),
  effective: fc.constantFrom("same", "same", "same", "zero", "words"),
  currency: fc.constantFrom("USD", "USD", "EUR", ""),
  resource: fc.constantFrom("a", "b", "c"),
});

/** One row of each class. */
const oneOfEach: readonly Row[] = [
  { age: 3 },
  { age: 3, micros: 0 },
  { age: 0 },
  { age: 20 },
  { age: 40 },
  { age: undefined },
  { age: 3, currency: "" as const },
  { age: 3, effective: "words" as const },
].map((each) => ({
  days: 1,
  micros: 2_500_000,
  effective: "same",
  currency: "USD",
  resource: "a",
  ...each,
}));

const text = (micros: number) => `${micros < 0 ? "-" : ""}${(Math.abs(micros) / 1e6).toFixed(6)}`;
const start = ({ age }: Row) => (age === undefined ? "someday" : `${daysBefore(age)}T00:00:00Z`);
const fileRow = (each: Row) => ({
  ChargePeriodStart: start(each),
  ChargePeriodEnd: each.age === undefined ? "" : `${addDays(daysBefore(each.age), each.days)}T00:00:00Z`,
  BilledCost: text(each.micros),
  EffectiveCost: { same: text(each.micros), zero: "0", words: "much" }[each.effective],
  BillingCurrency: each.currency,
  ResourceId: each.resource,
});

/** Returns the class of a row whose charge is not spread, and its effective cost in millionths. */
function classify({ age, micros, effective, currency }: Row): {
  readonly of: string;
  readonly micros: number;
} {
  const day = age === undefined ? undefined : daysBefore(age);
  const cost = effective === "same" ? micros : 0;
  if (day === undefined) return { of: "left_out no_charge_date", micros: cost };
  if (effective === "words") return { of: "left_out unreadable_cost", micros: 0 };
  if (currency === "") return { of: "left_out no_currency", micros: cost };
  if (day >= FIRST && day < LAST) return { of: cost === 0 ? "zero" : "charged", micros: cost };
  if (day >= LAST) return { of: "outside_window within_cutoff", micros: cost };
  return {
    of: `outside_window ${day < daysBefore(30) ? "before_retention" : "before_lookback"}`,
    micros: cost,
  };
}

async function totalsOf(postgres: Parameters<typeof readControlTotals>[0], name: string) {
  const totals = await readControlTotals(postgres, name);
  const micros = (amount: string) => Math.round(Number(amount) * 1e6);
  return totals.map(({ currency, delivered, classes, difference, published_only }) => ({
    currency,
    delivered: [delivered.rows, micros(delivered.cost), micros(delivered.billed)],
    classes: Object.fromEntries(
      classes.map((each) => [`${each.class} ${each.reason}`.trim(), [each.rows, micros(each.cost)]]),
    ),
    difference,
    published_only,
  }));
}

const nothing = { rows: 0, cost: "0", billed: "0", effective: "0" };

for (const spread of ["none", "daily"]) {
  t.test(`each line of any bill is in one class, with spread: ${spread}`, async (t) => {
    const folder = temporaryFolder(t);
    const { config, stores } = await openTestStores(t, tenants(folder, spread));
    let example = 0;
    const found = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 5, maxLength: 25 }), async (drawn) => {
        // A file without any date is refused, which another test covers.
        const rows: Row[] = [
          ...drawn,
          { age: 3, days: 1, micros: 1_500_000, effective: "same", currency: "USD", resource: "d" },
        ];
        const name = nameOf(example++);
        mkdirSync(join(folder, name, "2026-06"), { recursive: true });
        writeFileSync(join(folder, name, "2026-06", "bill.csv"), csv(rows.map(fileRow)));
        await runOnce(runContext(stores), config, name);
        for (const total of await totalsOf(stores.postgres, name)) {
          const own = rows.filter(({ currency }) => currency === total.currency);
          const sum = (of: (each: Row) => number) => own.reduce((all, each) => all + of(each), 0);
          t.strictSame(total.delivered, [
            own.length,
            sum((each) => (each.effective === "same" ? each.micros : 0)),
            sum(({ micros }) => micros),
          ]);
          t.strictSame([total.difference, total.published_only], [nothing, "0"]);
          for (const name of Object.keys(total.classes)) found.add(name);
          if (spread !== "none") continue;
          const expected = new Map<string, [number, number]>();
          for (const { of, micros } of own.map(classify)) {
            const [count, cost] = expected.get(of) ?? [0, 0];
            expected.set(of, [count + 1, cost + micros]);
          }
          t.strictSame(
            total.classes,
            Object.fromEntries([...expected].sort(([a], [b]) => (a < b ? -1 : 1))),
            total.currency,
          );
        }
        const published = await runRows<{ currency: string; amount: string }>(
          stores,
          name,
          "SELECT currency, toString(sum(total_cost)) AS amount FROM billing GROUP BY currency HAVING sum(total_cost) != 0",
        );
        const charged = (await readControlTotals(stores.postgres, name)).flatMap(({ currency, classes }) =>
          classes
            .filter((each) => each.class === "charged" && each.cost !== "0")
            .map(({ cost }) => `${cost} ${currency}`),
        );
        t.strictSame(
          published.map(({ currency, amount }) => `${amount} ${currency}`).sort(),
          charged.sort(),
          "the published amounts are those of the class",
        );
      }),
      { numRuns: EXAMPLES, examples: [[[...oneOfEach]]], endOnFailure: true },
    );
    t.strictSame(
      [...found].sort(),
      [
        "charged",
        "left_out no_charge_date",
        "left_out no_currency",
        "left_out unreadable_cost",
        "outside_window before_lookback",
        "outside_window before_retention",
        "outside_window within_cutoff",
        "zero",
      ],
      "each class occurs",
    );
  });
}
