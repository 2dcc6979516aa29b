import t from "tap";
import { type BillingInput, get, insertBilling, startService } from "./service.js";

t.test("GET /api/v1/tenants/{tenant_name}/tag-coverage", async (t) => {
  const { app, stores } = await startService(t);
  const send = async (tenant = "acme", days = "start_date=2026-03-01&end_date=2026-03-01") => {
    const { status, body } = await get(app, `/api/v1/tenants/${tenant}/tag-coverage?${days}`);
    t.equal(status, 200, JSON.stringify(body));
    return body;
  };

  await t.test("without billing lines the coverage is empty", async (t) => {
    t.strictSame(await send(), { currencies: [] });
  });

  let count = 0;
  const line = (
    total_cost: string,
    product_type: string,
    line_tags: Record<string, string>,
    more = {},
  ): BillingInput => ({
    timestamp: "2026-03-01T00:00:00Z",
    total_cost,
    product_type,
    line_tags,
    resource_id: `r-${count++}`,
    ...more,
  });
  await insertBilling(stores, "acme", [
    line("60", "VM", { team: "web", "' OR 1 --": "x" }),
    line("30", "VM", {}),
    // A refund counts as much as a charge of its size.
    line("-30", "VM", { team: "web" }),
    line("20", "NAT", { team: "" }),
    line("10", "__proto__", { Team: "web" }),
    line("0", "FREE", {}, { currency: "CHF" }),
    line("0", "FREE", { team: "web" }, { currency: "CHF" }),
    line("1", "VM", { team: "web" }, { currency: "EUR" }),
    line("2", "VM", {}, { currency: "EUR" }),
    line("5", "VM", { later: "" }, { timestamp: "2026-03-02T00:00:00Z" }),
  ]);
  const covered = (
    tagged_line_count: number,
    line_count: number,
    tagged_amount: string,
    amount: string,
    share: string | null,
  ) => ({ tagged_line_count, line_count, tagged_amount, amount, share });

  await t.test("coverage is summed by currency, key and product type", async (t) => {
    const of = (vm: object, nat: object, proto: object) => [
      { product_type: "VM", ...vm },
      { product_type: "NAT", ...nat },
      { product_type: "__proto__", ...proto },
    ];
    t.strictSame(await send(), {
      currencies: [
        {
          currency: "CHF",
          line_count: 2,
          amount: "0",
          tag_key_count: 1,
          tag_keys: [
            {
              tag_key: "team",
              ...covered(1, 2, "0", "0", null),
              product_types: [{ product_type: "FREE", ...covered(1, 2, "0", "0", null) }],
            },
          ],
        },
        {
          currency: "EUR",
          line_count: 2,
          amount: "3",
          tag_key_count: 1,
          tag_keys: [
            {
              tag_key: "team",
              ...covered(1, 2, "1", "3", "0.333333"),
              product_types: [{ product_type: "VM", ...covered(1, 2, "1", "3", "0.333333") }],
            },
          ],
        },
        {
          currency: "USD",
          line_count: 5,
          amount: "90",
          tag_key_count: 3,
          tag_keys: [
            {
              tag_key: "team",
              ...covered(3, 5, "50", "90", "0.733333"),
              product_types: of(
                covered(2, 3, "30", "60", "0.75"),
                covered(1, 1, "20", "20", "1"),
                covered(0, 1, "0", "10", "0"),
              ),
            },
            {
              tag_key: "' OR 1 --",
              ...covered(1, 5, "60", "90", "0.4"),
              product_types: of(
                covered(1, 3, "60", "60", "0.5"),
                covered(0, 1, "0", "20", "0"),
                covered(0, 1, "0", "10", "0"),
              ),
            },
            {
              tag_key: "Team",
              ...covered(1, 5, "10", "90", "0.066666"),
              product_types: of(
                covered(0, 3, "0", "60", "0"),
                covered(0, 1, "0", "20", "0"),
                covered(1, 1, "10", "10", "1"),
              ),
            },
          ],
        },
      ],
    });
  });

  await t.test("of ten thousand keys and product types, the largest are shown", async (t) => {
    await insertBilling(
      stores,
      "globex",
      Array.from({ length: 10_000 }, (_, index) =>
        line(`${index + 1}`, `p-${index}`, { [`key-${index}`]: "x", all: "x" }),
      ),
    );
    const { currencies } = await send("globex");
    t.equal(currencies.length, 1);
    const [{ tag_keys: keys, ...all }] = currencies;
    t.strictSame(all, { currency: "USD", line_count: 10_000, amount: "50005000", tag_key_count: 10_001 });
    t.strictSame(
      [keys.length, keys[0].tag_key, keys[0].share, keys[1].tag_key, keys[1].share, keys[99].tag_key],
      [100, "all", "1", "key-9999", "0.000199", "key-9901"],
    );
    t.strictSame(
      [keys[0].product_types.length, keys[0].product_types[0].product_type, keys[0].other_product_types],
      [25, "p-9999", covered(9975, 9975, "49755300", "49755300", "1")],
    );
    t.strictSame(keys[99].other_product_types, covered(1, 9975, "9902", "49755300", "0.000199"));
  });

  await t.test("a product type that is large in one currency is shown in all of them", async (t) => {
    const day = { timestamp: "2026-04-01T00:00:00Z" };
    await insertBilling(stores, "globex", [
      ...Array.from({ length: 26 }, (_, index) => line(`${index + 2}`, `p-${index}`, { all: "x" }, day)),
      line("1", "SMALL", { all: "x" }, day),
      line("1", "SMALL", { all: "x" }, { ...day, currency: "EUR" }),
    ]);
    const { currencies } = await send("globex", "start_date=2026-04-01&end_date=2026-04-01");
    const shown = ({ currency, tag_keys: [key] }: (typeof currencies)[number]) => [
      currency,
      key.product_types.length,
      key.product_types.at(-1),
      key.other_product_types,
    ];
    const small = { product_type: "SMALL", ...covered(1, 1, "1", "1", "1") };
    t.strictSame(currencies.map(shown), [
      ["EUR", 1, small, undefined],
      ["USD", 26, small, covered(1, 1, "2", "2", "1")],
    ]);
  });
});
