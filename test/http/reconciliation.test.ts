import t from "tap";
import { lineFilterColumns } from "../../src/query/chargebacks/scan.js";
import { get, insertBilling, insertChargebacks, startService } from "./service.js";

type Day = Readonly<Record<string, unknown>>;

const base = "/api/v1/tenants/acme/reconciliation";

t.test("GET /api/v1/tenants/{tenant_name}/reconciliation", async (t) => {
  const { app, stores } = await startService(t);
  const send = async (query = "start_date=2026-03-01&end_date=2026-03-02") => {
    const { status, body } = await get(app, `${base}?${query}`);
    t.equal(status, 200, query);
    return body;
  };

  await t.test("without rows the response is empty", async (t) => {
    t.strictSame(await send(), { days: [], totals: [], control: [] });
  });

  await insertBilling(stores, "acme", [
    { timestamp: "2026-03-01T00:00:00Z", total_cost: "10", resource_id: "r-1", product_type: "STORAGE" },
    { timestamp: "2026-03-02T00:00:00Z", total_cost: "4.5", resource_id: "r-1", product_type: "STORAGE" },
    { timestamp: "2026-03-03T00:00:00Z", total_cost: "1", resource_id: "r-1", product_type: "STORAGE" },
  ]);
  await insertChargebacks(stores, "acme", [
    { timestamp: "2026-03-01T00:00:00Z", amount: "6.25" },
    { timestamp: "2026-03-01T00:00:00Z", amount: "3.75", identity_id: "UNALLOCATED" },
    { timestamp: "2026-03-02T00:00:00Z", amount: "4.4" },
  ]);

  await t.test(
    "allocated and unallocated amounts add up to the bill, and differences are reported",
    async (t) => {
      const first = {
        currency: "USD",
        billing_amount: "10",
        allocated_amount: "6.25",
        unallocated_amount: "3.75",
        difference: "0",
        billing_lines: 1,
        chargeback_rows: 2,
        lines_off: 0,
      };
      const second = {
        currency: "USD",
        billing_amount: "4.5",
        allocated_amount: "4.4",
        unallocated_amount: "0",
        difference: "-0.1",
        billing_lines: 1,
        chargeback_rows: 1,
        lines_off: 1,
      };
      t.strictSame(await send(), {
        days: [
          { date: "2026-03-01", ...first, provisional: false },
          { date: "2026-03-02", ...second, provisional: false },
        ],
        control: [],
        totals: [
          {
            currency: "USD",
            billing_amount: "14.5",
            allocated_amount: "10.65",
            unallocated_amount: "3.75",
            difference: "-0.1",
            billing_lines: 2,
            chargeback_rows: 3,
            lines_off: 1,
          },
        ],
      });
    },
  );

  await t.test("without by_line the sums are the same", async (t) => {
    const window = "start_date=2026-03-01&end_date=2026-03-03";
    const withoutLines = ({ billing_lines: _, lines_off: __, ...sums }: Record<string, unknown>) => sums;
    const whole = await send(window);
    t.strictSame(await send(`${window}&by_line=false`), {
      days: whole.days.map(withoutLines),
      totals: whole.totals.map(withoutLines),
      control: [],
    });
    t.strictSame(
      whole.days.map((each: Record<string, unknown>) => [each.difference, each.lines_off]),
      [
        ["0", 0],
        ["-0.1", 1],
        ["-1", 1],
      ],
    );
  });

  await t.test("by_line finds differences that cancel out in the sums of their day", async (t) => {
    const day = "2026-03-05T00:00:00Z";
    await insertBilling(stores, "acme", [
      { timestamp: day, total_cost: "2", resource_id: "r-1", product_type: "STORAGE" },
      { timestamp: day, total_cost: "3", resource_id: "r-2", product_type: "STORAGE" },
      { timestamp: day, total_cost: "1", resource_id: "r-2", product_type: "STORAGE" },
    ]);
    await insertChargebacks(stores, "acme", [
      { timestamp: day, amount: "2.5", resource_id: "r-1", product_type: "STORAGE" },
      { timestamp: day, amount: "3.5", resource_id: "r-2", product_type: "STORAGE" },
    ]);
    const { totals } = await send("start_date=2026-03-05&end_date=2026-03-05");
    t.strictSame(totals, [
      {
        currency: "USD",
        billing_amount: "6",
        allocated_amount: "6",
        unallocated_amount: "0",
        difference: "0",
        billing_lines: 2,
        chargeback_rows: 2,
        lines_off: 2,
      },
    ]);
  });

  await t.test("amounts of different currencies are never added", async (t) => {
    const day = "2026-03-06T00:00:00Z";
    await insertBilling(stores, "acme", [
      { timestamp: day, total_cost: "2", currency: "USD" },
      { timestamp: day, total_cost: "5", currency: "EUR" },
    ]);
    await insertChargebacks(stores, "acme", [
      { timestamp: day, amount: "2", currency: "USD" },
      { timestamp: day, amount: "4.5", currency: "EUR", identity_id: "UNALLOCATED" },
    ]);
    const { days, totals } = await send("start_date=2026-03-06&end_date=2026-03-06&by_line=false");
    const sums = ({ currency, billing_amount, allocated_amount, unallocated_amount, difference }: Day) => [
      currency,
      billing_amount,
      allocated_amount,
      unallocated_amount,
      difference,
    ];
    for (const each of [days, totals])
      t.strictSame(each.map(sums), [
        ["EUR", "5", "0", "4.5", "-0.5"],
        ["USD", "2", "2", "0", "0"],
      ]);
  });

  await t.test("provisional days are marked, with filters and without", async (t) => {
    const [day, last] = ["2026-03-07T00:00:00Z", "2026-03-08T00:00:00Z"];
    await insertBilling(stores, "acme", [
      { timestamp: day, total_cost: "3", resource_id: "r-1" },
      { timestamp: last, total_cost: "4", resource_id: "r-1" },
    ]);
    await insertChargebacks(stores, "acme", [
      { timestamp: day, amount: "2", resource_id: "r-1", provisional: true },
      { timestamp: day, amount: "1", resource_id: "r-1", provisional: true, identity_id: "UNALLOCATED" },
      { timestamp: last, amount: "4", resource_id: "r-1" },
    ]);
    for (const more of ["", "&by_line=false", "&currency=USD", "&resource_id=r-1"]) {
      const { days } = await send(`start_date=2026-03-07&end_date=2026-03-08${more}`);
      t.strictSame(
        days.map((each: Day) => [
          each.date,
          each.allocated_amount,
          each.unallocated_amount,
          each.chargeback_rows,
          each.provisional,
        ]),
        [
          ["2026-03-07", "2", "1", 2, true],
          ["2026-03-08", "4", "0", 1, false],
        ],
        more,
      );
    }
  });

  await t.test("days that were billed and not charged are listed", async (t) => {
    const { days } = await send("start_date=2026-03-03&end_date=2026-03-03");
    t.strictSame(
      days.map((each: Record<string, unknown>) => [
        each.date,
        each.billing_amount,
        each.difference,
        each.lines_off,
      ]),
      [["2026-03-03", "1", "-1", 1]],
    );
  });

  await t.test(
    "a filter selects whole lines with all of their chargebacks, and its negation the rest",
    async (t) => {
      const day = "2026-03-10T00:00:00Z";
      const values = {
        resource_id: "r-9",
        product_type: "NETWORK",
        product_category: "EC2",
        environment_id: "env-9",
        currency: "EUR",
        charge_category: "Tax",
        service_provider: "AWS",
        account_id: "1234",
        region_id: "eu-west-1",
        sku_id: "SKU9",
        rule: "shared",
      };
      t.strictSame(Object.keys(values), Object.keys(lineFilterColumns), "every filter is covered");
      // Adds lines that each differ from the first in one column.
      const lines = Object.entries(values).map(([name, value], index) => ({
        timestamp: day,
        line_id: String(index + 1),
        [lineFilterColumns[name as keyof typeof values]]: value,
      }));
      await insertBilling(stores, "acme", [
        { timestamp: day, total_cost: "1000" },
        ...lines.map((line, index) => ({ ...line, total_cost: `${index + 1}.5` })),
      ]);
      await insertChargebacks(stores, "acme", [
        { timestamp: day, amount: "900" },
        { timestamp: day, amount: "100", identity_id: "UNALLOCATED" },
        ...lines.flatMap((line, index) => [
          { ...line, amount: `${index}.5` },
          { ...line, amount: "1", identity_id: "UNALLOCATED" },
        ]),
      ]);
      const window = "start_date=2026-03-10&end_date=2026-03-10";
      const whole = await send(window);
      const amounts = ({ currency, billing_amount, allocated_amount, unallocated_amount, ...more }: Day) => [
        currency,
        billing_amount,
        allocated_amount,
        unallocated_amount,
        more.difference,
        more.billing_lines,
        more.lines_off,
      ];
      t.strictSame(whole.totals.map(amounts), [
        ["EUR", "5.5", "4.5", "1", "0", 1, 0],
        ["USD", "1066", "956", "110", "0", 11, 0],
      ]);
      for (const [index, [name, value]] of Object.entries(values).entries()) {
        const only = await send(`${window}&${name}=${value}`);
        const currency = name === "currency" ? "EUR" : "USD";
        const line = [currency, `${index + 1}.5`, `${index}.5`, "1", "0", 1, 0];
        t.strictSame(only.totals.map(amounts), [line], name);
        const others = await send(`${window}&not:${name}=${value}`);
        const of = others.totals.map(amounts).find(([code]: unknown[]) => code === "USD");
        const left = name === "currency" ? 1066 : 1066 - (index + 1.5);
        t.strictSame([of?.[1], of?.[4], of?.[6]], [String(left), "0", 0], `not:${name}`);
      }
      const { status, body } = await get(app, `${base}?${window}&identity_id=u-1`);
      t.equal(status, 400, "a line has no identity");
      t.ok(JSON.stringify(body).includes("identity_id"));
    },
  );
});
