import t from "tap";
import fc, { seedOf } from "../property.js";
import { type ChargebackInput, get, insertChargebacks, startService } from "./service.js";

const base = "/api/v1/tenants/acme/chargebacks/breakdown";
const window = "start_date=2026-03-05&end_date=2026-03-08";

interface Row extends ChargebackInput {
  readonly identity_id: string;
  readonly resource_id: string;
  readonly product_type: string;
  readonly cost_type: "usage" | "shared";
  readonly currency: string;
}

const drawn = fc.sample(
  fc.record<Row>({
    timestamp: fc
      .record({ day: fc.integer({ min: 1, max: 8 }), hour: fc.integer({ min: 0, max: 23 }) })
      .map(({ day, hour }) => `2026-03-0${day}T${String(hour).padStart(2, "0")}:00:00Z`),
    amount: fc.integer({ min: -20_000_000, max: 90_000_000 }).map((micro) => decimalText(BigInt(micro))),
    identity_id: fc.constantFrom("sa-1", "sa-2", "sa-3", "sa-4", "u-ä", "UNALLOCATED"),
    resource_id: fc.constantFrom("r-1", "r-2", "r-3"),
    product_type: fc.constantFrom("STORAGE", "NETWORK"),
    cost_type: fc.constantFrom("usage", "shared"),
    currency: fc.constantFrom("USD", "USD", "EUR"),
  }),
  { numRuns: 600, seed: seedOf(t, 20260322) },
);
/** Nobody was found for a cost, or the owner of a part that was measured is unknown. */
const rows = drawn.map((row, index): Row => {
  if (!isOfNobody(row)) return row;
  return {
    ...row,
    ...(index % 2 === 0 ? { allocation_method: "terminal" } : { allocation_detail: "owner_unknown" }),
  };
});

function isOfNobody({ identity_id }: Row): boolean {
  return identity_id === "UNALLOCATED";
}

/** Formats millionths as a plain decimal. */
function decimalText(micro: bigint): string {
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, "0");
  const text = `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, "");
  return micro < 0n ? `-${text}` : text;
}

const microOf = (text: string) => {
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const size = BigInt(whole + fraction.padEnd(6, "0"));
  return text.startsWith("-") ? -size : size;
};
const sum = (of: readonly Row[]) => of.reduce((total, { amount }) => total + microOf(amount), 0n);
const size = (value: bigint) => (value < 0n ? -value : value);

type Column = "identity_id" | "resource_id" | "product_type";

interface Question {
  readonly columns: readonly Column[];
  readonly limit: number;
  /** `amount`, `change`, or a key and a direction. */
  readonly order: string;
  readonly filter?: Partial<Pick<Row, Column | "currency">>;
}

function queryOf({ columns, limit, order, filter = {} }: Question): string {
  return [
    ...columns.map((column) => `group_by=${column}`),
    ...Object.entries(filter).map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
    `limit=${limit}&order=${order}&compare=previous&time_bucket=day`,
  ].join("&");
}

const partOf = (of: readonly Row[], type: string) =>
  of.filter((row) => row.cost_type === type && !isOfNobody(row));

/** What groups are sorted by: a number or a text. */
function sortValue(order: string, of: readonly Row[]): bigint | string {
  const [by = ""] = order.split(".");
  const isNow = ({ timestamp }: Row) => timestamp >= "2026-03-05";
  const [now, before] = [of.filter(isNow), of.filter((row) => !isNow(row))];
  const values: Readonly<Record<string, bigint>> = {
    amount: size(sum(now)),
    total_amount: sum(now),
    previous_amount: sum(before),
    change: order === "change" ? size(sum(now) - sum(before)) : sum(now) - sum(before),
    own: sum(partOf(now, "usage")),
    shared: sum(partOf(now, "shared")),
    passed: 0n,
    unallocated: sum(now.filter(isOfNobody)),
    row_count: BigInt(now.length),
  };
  return values[by] ?? String(of[0]?.[by as Column]).toLowerCase();
}

/** Calculates the expected response from the rows, one by one. */
function expected({ columns, limit, order, filter = {} }: Question, read = rows) {
  const matching = read.filter((row) =>
    Object.entries(filter).every(([name, value]) => row[name as Column] === value),
  );
  const isNow = ({ timestamp }: Row) => timestamp >= "2026-03-05";
  const sums = (of: readonly Row[]) => {
    const now = of.filter(isNow);
    return {
      total_amount: decimalText(sum(now)),
      usage_amount: decimalText(sum(now.filter(({ cost_type }) => cost_type === "usage"))),
      shared_amount: decimalText(sum(now.filter(({ cost_type }) => cost_type === "shared"))),
      passed_amount: "0",
      row_count: now.length,
      parts: {
        own: decimalText(sum(partOf(now, "usage"))),
        shared: decimalText(sum(partOf(now, "shared"))),
        passed: "0",
        unallocated: decimalText(sum(now.filter(isOfNobody))),
      },
      previous_amount: decimalText(sum(of.filter((row) => !isNow(row)))),
    };
  };
  const days = [...new Set(matching.filter(isNow).map(({ timestamp }) => timestamp.slice(0, 10)))].sort();
  const amounts = (of: readonly Row[]) =>
    days.map((day) => decimalText(sum(of.filter(({ timestamp }) => timestamp.startsWith(day)))));
  const currencies = [...new Set(matching.map(({ currency }) => currency))].sort();
  const all = currencies.map((currency) => {
    const ofCurrency = matching.filter((row) => row.currency === currency);
    const keyOf = (row: Row) => JSON.stringify(columns.map((column) => row[column]));
    const keys = [...new Set(ofCurrency.map(keyOf))];
    const sized = keys.map((key) => {
      const of = ofCurrency.filter((row) => keyOf(row) === key);
      return { key, of, value: sortValue(order, of) };
    });
    const smallestFirst = order.endsWith(".asc");
    sized.sort((a, b) =>
      a.value === b.value ? (a.key < b.key ? -1 : 1) : a.value > b.value === smallestFirst ? 1 : -1,
    );
    const isApart = ({ key }: { key: string }) => key === '["UNALLOCATED"]';
    const found = sized.filter((each) => !isApart(each));
    const rest = found.slice(limit).flatMap(({ of }) => of);
    return {
      groups: [...found.slice(0, limit), ...sized.filter(isApart)].map(({ key, of }) => ({
        dimensions: Object.fromEntries(columns.map((column, index) => [column, JSON.parse(key)[index]])),
        display_names: {},
        currency,
        ...sums(of),
        provisional: false,
        amounts: amounts(of),
      })),
      others: found.length > limit ? [{ currency, ...sums(rest), group_count: found.length - limit }] : [],
      totals: [{ currency, ...sums(ofCurrency), group_count: sized.length, amounts: amounts(ofCurrency) }],
    };
  });
  return {
    time_buckets: days,
    groups: all.flatMap(({ groups }) => groups),
    others: all.flatMap(({ others }) => others),
    totals: all.flatMap(({ totals }) => totals),
  };
}

/** The groups of each currency that changed most, UNALLOCATED like any other. */
function movedMost(groups: readonly Moved[], count: number): Moved[] {
  const change = ({ total_amount, previous_amount }: Moved) =>
    size(microOf(total_amount) - microOf(previous_amount));
  const currencies = [...new Set(groups.map(({ currency }) => currency))];
  return currencies.flatMap((currency) =>
    groups
      .filter((group) => group.currency === currency)
      .sort((a, b) => (change(a) > change(b) ? -1 : 1))
      .slice(0, count),
  );
}
interface Moved {
  readonly currency: string;
  readonly total_amount: string;
  readonly previous_amount: string;
}

t.test("GET /api/v1/tenants/{tenant_name}/chargebacks/breakdown", async (t) => {
  const { app, stores } = await startService(t);
  const send = async (query: string) => {
    const { status, body } = await get(app, `${base}?${query}`);
    t.equal(status, 200, query);
    return body;
  };

  await t.test("without rows the response is empty", async (t) => {
    t.strictSame(await send(`${window}&time_bucket=day`), {
      time_buckets: [],
      groups: [],
      others: [],
      totals: [],
    });
  });

  await insertChargebacks(stores, "acme", rows);

  const questions: Question[] = [
    { columns: ["identity_id"], limit: 3, order: "amount" },
    { columns: ["identity_id"], limit: 1000, order: "change" },
    { columns: ["resource_id", "product_type"], limit: 4, order: "amount" },
    { columns: ["identity_id", "resource_id", "product_type"], limit: 7, order: "change" },
    { columns: ["product_type"], limit: 1, order: "amount", filter: { identity_id: "u-ä", currency: "EUR" } },
    { columns: ["resource_id", "product_type"], limit: 1000, order: "unallocated.desc" },
    ...["total_amount", "previous_amount", "change", "own", "shared", "row_count", "identity_id"].flatMap(
      (by) =>
        ["asc", "desc"].map((direction): Question => {
          return { columns: ["identity_id"], limit: 2, order: `${by}.${direction}` };
        }),
    ),
  ];
  for (const question of questions) {
    const query = queryOf(question);
    await t.test(`is that of the rows, to the last digit: ${query}`, async (t) => {
      t.strictSame(await send(`${window}&${query}`), expected(question));
    });
  }

  await t.test("movers are returned beside the groups, which do not change", async (t) => {
    for (const question of questions) {
      const { columns, filter = {} } = question;
      const grouped = [
        ...columns.map((column) => `group_by=${column}`),
        ...Object.entries(filter).map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
      ].join("&");
      const of = `${window}&${grouped}&time_bucket=day`;
      const byChange = await send(`${window}&${grouped}&order=change&limit=4`);
      for (const order of ["amount", "change"] as const) {
        const { movers, ...found } = await send(`${of}&order=${order}&limit=2&movers=3`);
        t.strictSame(movers, movedMost(byChange.groups, 3));
        t.strictSame(found, expected({ ...question, order, limit: 2 }));
      }
    }
    t.notOk("movers" in (await send(`${window}&compare=previous`)));
  });

  await t.test("an order that is not sorted by the sums or the columns is refused", async (t) => {
    for (const order of ["resource_id.asc", "size.desc", "change.up", ".asc"]) {
      const { status, body } = await get(app, `${base}?${window}&group_by=identity_id&order=${order}`);
      t.equal(status, 400, order);
      t.match(body.detail, /`order` must /, order);
    }
  });

  await t.test("the previous period may be any earlier days", async (t) => {
    const between = ({ timestamp }: Row) => timestamp >= "2026-03-03" && timestamp < "2026-03-05";
    const apart = rows.filter((row) => !between(row));
    t.ok(apart.length < rows.length);
    for (const question of questions) {
      const query = queryOf(question);
      const before = "compare_start_date=2026-03-01&compare_end_date=2026-03-02";
      t.strictSame(await send(`${window}&${query}&${before}`), expected(question, apart), query);
      t.strictSame(
        await send(`${window}&${query}&compare_start_date=2026-03-03`),
        expected(
          question,
          rows.filter(({ timestamp }) => timestamp >= "2026-03-03"),
        ),
        `${query}, up to the period`,
      );
    }
    const plain = await send(`${window}&compare_start_date=2026-03-01&compare_end_date=2026-03-02`);
    t.strictSame(plain, await send(window), "both fields are null without a comparison");
  });

  await t.test("the previous period and amounts over time are only returned on request", async (t) => {
    const { groups, totals, time_buckets } = await send(`${window}&limit=2`);
    t.strictSame(time_buckets, []);
    for (const each of [...groups, ...totals]) {
      t.notOk("previous_amount" in each);
      t.notOk("amounts" in each);
    }
    const [changed] = (await send(`${window}&order=change&limit=1`)).groups;
    t.type(changed.previous_amount, "string", "a request for the change also returns the previous amount");
  });

  await t.test("a search is case-insensitive, and totals are those of the matching groups", async (t) => {
    const { groups, totals } = await send(`${window}&search=${encodeURIComponent("U-Ä")}&currency=USD`);
    t.strictSame(
      groups.map(({ dimensions }: { dimensions: unknown }) => dimensions),
      [{ identity_id: "u-ä" }],
    );
    t.equal(totals[0].total_amount, groups[0].total_amount);
    t.equal(totals[0].group_count, 1);
    for (const text of ["nobody", "%", "sa_1", "' OR '1'='1", "\\"])
      t.strictSame((await send(`${window}&search=${encodeURIComponent(text)}`)).groups, [], text);
  });

  await t.test("invalid parameters are refused by name", async (t) => {
    for (const [query, named] of [
      ["limit=0", "limit"],
      ["limit=1001", "limit"],
      ["order=size", "order"],
      ["compare=next", "compare"],
      ["group_by=amount", "group_by"],
      ["group_by=identity_id&group_by=team&group_by=cost_type&group_by=currency", "group_by"],
      ["search=", "search"],
      ["start_date=2026-03-05&compare=previous&compare_end_date=2026-03-05", "compare_end_date"],
      ["start_date=2026-03-05&compare=previous&compare_start_date=2026-03-05", "compare_start_date"],
      ["compare=previous&compare_start_date=2026-02-30", "compare_start_date"],
      ["movers=3&start_date=1950-01-01", "The previous period would begin before 1900"],
    ] as const) {
      const { status, body } = await get(app, `${base}?${query}`);
      t.equal(status, 400, query);
      t.match(body.detail, new RegExp(named), query);
    }
  });
});
