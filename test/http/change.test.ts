/** Causes of a change, compared with sums of the same rows in whole numbers. */
import t from "tap";
import { decimalText, exact, roundedQuotient } from "../../src/common/exact-decimal.js";
import fc, { seedOf } from "../property.js";
import { type ChargebackInput, get, insertBilling, insertChargebacks, startService } from "./service.js";

const base = "/api/v1/tenants/acme/chargebacks/change";

const identities = ["u-1", "u-2", "UNALLOCATED"];
const days = ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05", "2026-03-06"];
const decimal = (most: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: most }), fc.integer({ min: 0, max: 999_999_999_999 }))
    .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(12, "0")}`);

/** A line of the bill, and the parts of it that are charged. */
interface Line extends Readonly<Record<(typeof keyFields)[number], string>> {
  readonly day: string;
  readonly unit: string;
  readonly quantity: string;
  readonly total_cost: string;
  readonly parts: readonly {
    readonly identity_id: string;
    readonly allocation_method: string;
    readonly amount: string;
  }[];
  readonly isBilled: boolean;
}
const keyFields = ["resource_id", "product_type", "env_id", "sku_id", "charge_category", "currency"] as const;
const line = fc.record<Line>({
  day: fc.constantFrom(...days),
  resource_id: fc.constantFrom("r-1", "r-2", "r-3", ""),
  product_type: fc.constantFrom("STORAGE", "NETWORK"),
  env_id: fc.constantFrom("env-1", "env-1", "env-2"),
  sku_id: fc.constantFrom("", "", "S1"),
  charge_category: fc.constantFrom("Usage", "Usage", "Tax"),
  currency: fc.constantFrom("USD", "USD", "EUR"),
  unit: fc.oneof(
    { weight: 15, arbitrary: fc.constant("GB") },
    { weight: 1, arbitrary: fc.constantFrom("hours", "") },
  ),
  quantity: fc.oneof({ weight: 9, arbitrary: decimal(900) }, { weight: 1, arbitrary: fc.constant("0") }),
  total_cost: fc.oneof(
    { weight: 18, arbitrary: decimal(90_000) },
    { weight: 1, arbitrary: decimal(90).map((text) => `-${text}`) },
    { weight: 1, arbitrary: fc.constant("0") },
  ),
  parts: fc.array(
    fc.record({
      identity_id: fc.constantFrom(...identities),
      allocation_method: fc.constantFrom("usage_ratio", "even_split"),
      amount: decimal(9_000),
    }),
    { maxLength: 3 },
  ),
  isBilled: fc.constantFrom(true, true, true, true, true, true, true, true, true, false),
});

const seed = seedOf(t, 41);
/** A product that is free at first. */
const onceFree = {
  resource_id: "r-free",
  product_type: "STORAGE",
  env_id: "",
  sku_id: "",
  charge_category: "",
  currency: "USD",
};
const free = days.flatMap((day, index) =>
  fc
    .sample(line, { numRuns: 1, seed: seed + index })
    .map(
      (each): Line => ({ ...each, ...onceFree, day, isBilled: true, total_cost: index < 4 ? "0" : "12.5" }),
    ),
);
const lines: Line[] = [...fc.sample(line, { numRuns: 160, seed }), ...free];
const keyOf = (of: Line) => JSON.stringify(keyFields.map((name) => of[name]));
const charged = lines.flatMap((each) => each.parts.map((part) => ({ ...each, ...part })));
type Charged = (typeof charged)[number];

interface Question {
  readonly now: readonly [first: string, last: string];
  readonly before: readonly [first: string, last: string];
  readonly groupBy: readonly (
    | "resource_id"
    | "product_type"
    | "identity_id"
    | "allocation_method"
    | "currency"
  )[];
  readonly filter: Readonly<Partial<Record<"identity_id" | "resource_id" | "allocation_method", string>>>;
  readonly limit: number;
}

const question: fc.Arbitrary<Question> = fc
  .tuple(
    fc.subarray([0, 1, 2, 3, 4, 5], { minLength: 4, maxLength: 4 }),
    fc.subarray(["resource_id", "product_type", "identity_id", "allocation_method", "currency"] as const, {
      minLength: 1,
      maxLength: 3,
    }),
    fc.record(
      {
        identity_id: fc.constantFrom(...identities),
        resource_id: fc.constantFrom("r-1", "r-2"),
        allocation_method: fc.constantFrom("usage_ratio", "even_split"),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom(1, 2, 1000),
  )
  .map(([at, groupBy, filter, limit]) => {
    const [a = "", b = "", c = "", d = ""] = at.map((index) => days[index] ?? "");
    return { before: [a, b], now: [c, d], groupBy, filter, limit };
  });

const units = (text: string) => roundedQuotient(exact(text), 1n, 12);
const sum = (values: readonly bigint[]) => values.reduce((a, b) => a + b, 0n);
const size = (value: bigint) => (value < 0n ? -value : value);

const classes = [
  "new",
  "gone",
  "more",
  "less",
  "dearer",
  "cheaper",
  "larger share",
  "smaller share",
  "first share",
  "no quantity",
  "several units",
  "credits among costs",
  "no cost before",
  "not on the bill",
  "two currencies",
  "others",
] as const;
const drawn = new Map<string, number>();
const note = (of: (typeof classes)[number]) => drawn.set(of, (drawn.get(of) ?? 0) + 1);

type Causes = Record<"quantity" | "price" | "share" | "new" | "gone" | "other", bigint>;
interface Sums extends Causes {
  readonly now: bigint;
  readonly before: bigint;
}

/** The causes of what some rows of one key charge. */
function causesOf(key: string, rows: readonly Charged[], { now, before }: Question): Sums {
  const within = ([first, last]: readonly [string, string]) =>
    lines.filter((each) => each.isBilled && keyOf(each) === key && each.day >= first && each.day <= last);
  const amount = ([first, last]: readonly [string, string]) =>
    sum(rows.filter(({ day }) => day >= first && day <= last).map((row) => units(row.amount)));
  const [a1, a0] = [amount(now), amount(before)];
  const [bill1, bill0] = [within(now), within(before)];
  const total = (of: readonly Line[], field: "quantity" | "total_cost") =>
    sum(of.map((each) => units(each[field])));
  const causes: Causes = { quantity: 0n, price: 0n, share: 0n, new: 0n, gone: 0n, other: 0n };
  const all = { ...causes, now: a1, before: a0 };
  if (bill1.length === 0 || bill0.length === 0) {
    if (bill1.length > 0) all.new = a1;
    else if (bill0.length > 0) all.gone = -a0;
    note(bill1.length > 0 ? "new" : bill0.length > 0 ? "gone" : "not on the bill");
    return { ...all, other: a1 - a0 - all.new - all.gone };
  }
  const [c1, c0] = [total(bill1, "total_cost"), total(bill0, "total_cost")];
  const [q1, q0] = [total(bill1, "quantity"), total(bill0, "quantity")];
  const isOneSign = sum(bill0.map((each) => size(units(each.total_cost)))) === size(c0);
  if (!isOneSign) note("credits among costs");
  else if (c0 === 0n) note("no cost before");
  if (!isOneSign || c0 === 0n) return { ...all, other: a1 - a0 };
  const byLine = (a0 * (c1 - c0)) / c0;
  const share = a1 - a0 - byLine;
  if (a0 === 0n && a1 > 0n) note("first share");
  if (share !== 0n) note(share > 0n ? "larger share" : "smaller share");
  const isOneUnit = new Set([...bill0, ...bill1].map(({ unit }) => unit)).size === 1;
  if (!isOneUnit) note("several units");
  else if (q0 <= 0n || q1 <= 0n) note("no quantity");
  if (!isOneUnit || q0 <= 0n || q1 <= 0n) return { ...all, share, other: byLine };
  const quantity = (a0 * (q1 - q0)) / q0;
  const price = byLine - quantity;
  if (quantity !== 0n) note(quantity > 0n ? "more" : "less");
  if (price !== 0n) note(price > 0n ? "dearer" : "cheaper");
  return { ...all, quantity, price, share };
}

const added = (parts: readonly Sums[]): Sums => {
  const of = (name: keyof Sums) => sum(parts.map((part) => part[name]));
  const [now, before, quantity, price, share] = [
    of("now"),
    of("before"),
    of("quantity"),
    of("price"),
    of("share"),
  ];
  return { now, before, quantity, price, share, new: of("new"), gone: of("gone"), other: of("other") };
};

function shown(currency: string, { now, before, ...causes }: Sums) {
  const text = (value: bigint) => decimalText(value, 12);
  return {
    currency,
    amount: text(now),
    previous_amount: text(before),
    change: text(now - before),
    causes: Object.fromEntries(Object.entries(causes).map(([name, value]) => [name, text(value)])),
  };
}

function expected(asked: Question) {
  const { now, before, groupBy, filter, limit } = asked;
  const inPeriods = ({ day }: Line) =>
    (day >= now[0] && day <= now[1]) || (day >= before[0] && day <= before[1]);
  const rows = charged
    .filter(inPeriods)
    .filter((row) =>
      Object.entries(filter).every(([name, value]) => row[name as keyof typeof filter] === value),
    );
  const currencies = [...new Set(rows.map(({ currency }) => currency))].sort();
  if (currencies.length > 1) note("two currencies");
  const all = currencies.map((currency) => {
    const own = rows.filter((row) => row.currency === currency);
    const groupOf = (row: Charged) => JSON.stringify(groupBy.map((name) => row[name]));
    const groups = [...new Set(own.map(groupOf))].map((group) => {
      const rowsOfGroup = own.filter((row) => groupOf(row) === group);
      const keys = [...new Set(rowsOfGroup.map(keyOf))];
      const parts = keys.map((key) =>
        causesOf(
          key,
          rowsOfGroup.filter((row) => keyOf(row) === key),
          asked,
        ),
      );
      return { values: JSON.parse(group) as string[], keys, sums: added(parts) };
    });
    const change = ({ sums }: (typeof groups)[number]) => size(sums.now - sums.before);
    const compareValues = (a: readonly string[], b: readonly string[]): number => {
      const at = a.findIndex((value, index) => value !== b[index]);
      return at < 0 ? 0 : (a[at] ?? "") < (b[at] ?? "") ? -1 : 1;
    };
    groups.sort((a, b) =>
      change(a) === change(b) ? compareValues(a.values, b.values) : change(a) > change(b) ? -1 : 1,
    );
    const rest = groups.slice(limit);
    if (rest.length > 0) note("others");
    return {
      groups: groups.slice(0, limit).map(({ values, keys, sums }) => ({
        dimensions: Object.fromEntries(groupBy.map((name, index) => [name, values[index]])),
        display_names: {},
        ...shown(currency, sums),
        bill: billOf(keys, asked),
      })),
      others:
        rest.length === 0
          ? []
          : [{ ...shown(currency, added(rest.map(({ sums }) => sums))), group_count: rest.length }],
      totals: [{ ...shown(currency, added(groups.map(({ sums }) => sums))), group_count: groups.length }],
    };
  });
  return {
    groups: all.flatMap(({ groups }) => groups),
    others: all.flatMap(({ others }) => others),
    totals: all.flatMap(({ totals }) => totals),
  };
}

function billOf([key = "", ...more]: readonly string[], { now, before }: Question) {
  const billed = lines.filter((each) => each.isBilled && keyOf(each) === key);
  const within = ([first, last]: readonly [string, string]) =>
    billed.filter(({ day }) => day >= first && day <= last);
  const [bill1, bill0] = [within(now), within(before)];
  if (more.length > 0 || bill1.length + bill0.length === 0) return null;
  const text = (of: readonly Line[], field: "quantity" | "total_cost") =>
    decimalText(sum(of.map((each) => units(each[field]))), 12);
  const found = new Set([...bill0, ...bill1].map(({ unit }) => unit));
  return {
    unit: found.size === 1 ? [...found][0] || null : null,
    quantity: text(bill1, "quantity"),
    previous_quantity: text(bill0, "quantity"),
    cost: text(bill1, "total_cost"),
    previous_cost: text(bill0, "total_cost"),
  };
}

t.test("GET /api/v1/tenants/{tenant_name}/chargebacks/change", async (t) => {
  const { app, stores } = await startService(t);
  const send = async (query: string) => {
    const { status, body } = await get(app, `${base}?${query}`);
    t.equal(status, 200, `${query} ${JSON.stringify(body).slice(0, 300)}`);
    return body;
  };

  await t.test("without rows the response is empty", async (t) => {
    t.strictSame(await send("start_date=2026-03-05&end_date=2026-03-06"), {
      groups: [],
      others: [],
      totals: [],
    });
  });

  await insertBilling(
    stores,
    "acme",
    lines
      .filter(({ isBilled }) => isBilled)
      .map(({ day, unit, parts: _, isBilled: _billed, ...of }) => ({
        ...of,
        timestamp: `${day}T00:00:00Z`,
        metadata: JSON.stringify(unit === "hours" ? { PricingUnit: unit } : unit === "" ? {} : { unit }),
      })),
  );
  await insertChargebacks(
    stores,
    "acme",
    charged.map(
      ({
        day,
        unit: _,
        parts: _parts,
        isBilled: _billed,
        quantity: _q,
        total_cost: _c,
        ...row
      }): ChargebackInput => ({
        ...row,
        timestamp: `${day}T00:00:00Z`,
        cost_type: row.allocation_method === "usage_ratio" ? "usage" : "shared",
        allocation_detail: `${row.allocation_method}_allocation`,
      }),
    ),
  );

  await t.test("the causes are those of the lines, and add up to the change of each currency", async (t) => {
    await fc.assert(
      fc.asyncProperty(question, async (asked) => {
        const { now, before, groupBy, filter, limit } = asked;
        const query = [
          `start_date=${now[0]}&end_date=${now[1]}&compare_start_date=${before[0]}&compare_end_date=${before[1]}`,
          ...groupBy.map((name) => `group_by=${name}`),
          ...Object.entries(filter).map(([name, value]) => `${name}=${value}`),
          `limit=${limit}`,
        ].join("&");
        const found = await send(query);
        t.strictSame(found, expected(asked), query);
        for (const { change, causes } of [...found.groups, ...found.others, ...found.totals])
          t.equal(sum(Object.values<string>(causes).map(units)), units(change), query);
      }),
      { numRuns: 120 },
    );
  });

  await t.test("every class of cases was drawn", async (t) => {
    t.strictSame(
      classes.filter((each) => !drawn.has(each)),
      [],
    );
  });

  await t.test(
    "the previous period has as many days, just before, and groups are products of resources",
    async (t) => {
      const own = "start_date=2026-03-05&end_date=2026-03-06";
      t.strictSame(
        await send(own),
        await send(
          `${own}&compare_start_date=2026-03-03&compare_end_date=2026-03-04&group_by=product_type&group_by=resource_id&limit=10`,
        ),
      );
    },
  );

  await t.test("invalid parameters are refused by name", async (t) => {
    for (const [query, named] of [
      ["limit=0", "limit"],
      ["group_by=amount", "group_by"],
      ["compare=previous", "Unknown parameter `compare`"],
      ["start_date=2026-03-05&compare_end_date=2026-03-05", "compare_end_date"],
      ["start_date=1950-01-01", "The previous period would begin before 1900"],
    ] as const) {
      const { status, body } = await get(app, `${base}?${query}`);
      t.equal(status, 400, query);
      t.match(body.detail, new RegExp(named), query);
    }
  });
});
