/**
 * The check before a day is published finds lines that differ from their rows, lines without rows, and rows without a
 * line.
 */
import t from "tap";
import { chargebackLedger } from "../../src/allocate/ledger.js";
import { checkConservation, type DayCheck } from "../../src/allocate/sql/check-conservation.js";
import { claimStaging, stagedTable } from "../../src/clickhouse/staging.js";
import { readRows } from "../../src/clickhouse/statement.js";
import { openTestStores } from "../stores.js";

const epoch = 1;
const line = (day: string, resource_id: string, total_cost: string, currency = "USD") => ({
  timestamp: `${day} 00:00:00`,
  resource_id,
  product_type: "P",
  currency,
  total_cost,
});
const row = (day: string, resource_id: string, amount_lo: string, currency = "USD", amount_hi = "0") => ({
  timestamp: `${day} 00:00:00`,
  resource_id,
  product_type: "P",
  currency,
  amount_hi,
  amount_lo,
  identity_id: "web",
  component_ratio: "1",
});

t.test("lines of staged days are compared with their rows", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  await claimStaging(client, epoch);
  const check = async (lines: readonly object[], rows: readonly object[], hasOtherCosts = false) => {
    for (const [table, values] of [
      ["billing", lines],
      ["chargebacks", rows],
    ] as const) {
      await client.command({ query: `TRUNCATE TABLE ${stagedTable(table, epoch)}` });
      if (values.length > 0)
        await client.insert({ table: stagedTable(table, epoch), values, format: "JSONEachRow" });
    }
    const days = ["2026-05-01", "2026-05-02"];
    const found = await readRows<DayCheck>(
      client,
      checkConservation({ ledger: chargebackLedger, epoch, rulesHash: "none", days, hasOtherCosts }),
    );
    return found.map(
      ({ day, lines: n, rows: m, lines_off, billed, charged }) =>
        `${day}: ${n} lines, ${m} rows, ${lines_off} off, ${billed} billed, ${charged} charged`,
    );
  };
  const [first, second] = ["2026-05-01", "2026-05-02"];

  t.strictSame(
    await check([line(first, "a", "3")], [row(first, "a", "1"), row(first, "a", "1", "USD", "1")]),
    ["2026-05-01: 1 lines, 2 rows, 0 off, 3 USD billed, 3 USD charged"],
    "both parts of an amount count",
  );
  t.strictSame(
    await check([line(first, "a", "3"), line(second, "b", "5")], [row(first, "a", "3")]),
    [
      "2026-05-01: 1 lines, 1 rows, 0 off, 3 USD billed, 3 USD charged",
      "2026-05-02: 1 lines, 0 rows, 1 off, 5 USD billed, 0 USD charged",
    ],
    "a day without rows is off",
  );
  t.strictSame(
    await check([line(first, "free", "0")], []),
    ["2026-05-01: 1 lines, 0 rows, 1 off, 0 USD billed, 0 USD charged"],
    "a line of 0 has a row as well",
  );
  t.strictSame(
    await check([], [row(first, "a", "0")]),
    ["2026-05-01: 0 lines, 1 rows, 1 off, 0 USD billed, 0 USD charged"],
    "a row without a line is off, even of 0",
  );
  t.strictSame(
    await check([line(first, "a", "3"), line(first, "b", "3")], [row(first, "a", "4"), row(first, "b", "2")]),
    ["2026-05-01: 2 lines, 2 rows, 2 off, 6 USD billed, 6 USD charged"],
    "differences of two lines do not cancel out",
  );
  t.strictSame(
    await check([line(first, "a", "3")], [row(first, "a", "3", "EUR")]),
    ["2026-05-01: 1 lines, 1 rows, 2 off, 0 EUR, 3 USD billed, 3 EUR, 0 USD charged"],
    "differences in two currencies do not cancel out",
  );
  t.strictSame(
    await check([line(first, "a", "0.000000000001")], [row(first, "a", "0.000000000002")]),
    ["2026-05-01: 1 lines, 1 rows, 1 off, 0.000000000001 USD billed, 0.000000000002 USD charged"],
    "a difference in the last decimal place counts",
  );

  const costs = { billed_cost: "5", effective_cost: "4", list_cost: "-0.000000000001" };
  const parts = (changes: object) => [
    { ...row(first, "a", "1"), billed_cost: "2", effective_cost: "4", list_cost: "0", ...changes },
    { ...row(first, "a", "2"), billed_cost: "3", effective_cost: "0", list_cost: "-0.000000000001" },
  ];
  for (const [changes, off, title] of [
    [{}, 0, "the parts of every cost add up to the line"],
    [{ billed_cost: "2.000000000001" }, 1, "a wrong part of the billed cost counts"],
    [{ effective_cost: "4.5" }, 1, "a wrong part of the effective cost counts"],
    [{ list_cost: "0.000000000001" }, 1, "a wrong part of the list cost counts"],
    [{ billed_cost: null }, 1, "a missing part counts"],
  ] as const)
    t.strictSame(
      await check([{ ...line(first, "a", "3"), ...costs }], parts(changes), true),
      [`2026-05-01: 1 lines, 2 rows, ${off} off, 3 USD billed, 3 USD charged`],
      title,
    );
});
