import t from "tap";
import { get, insertBilling, insertChargebacks, startService } from "./service.js";

interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly total: number;
  readonly next_cursor: string | null;
}

t.test("lists can be paged by cursor", async (t) => {
  const { app, stores } = await startService(t);
  const read = async (url: string): Promise<Page> => {
    const { status, body } = await get(app, `/api/v1/tenants/acme/${url}`);
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body;
  };
  /** Reads all rows, from the start or from a cursor. */
  const walk = async (list: string, query: string, size: number, from?: string | null) => {
    const items: unknown[] = [];
    let cursor = from;
    for (let pages = 0; pages < 100; pages++) {
      const page = await read(`${list}?${query}&page_size=${size}${cursor ? `&cursor=${cursor}` : ""}`);
      items.push(...page.items);
      cursor = page.next_cursor;
      if (cursor === null) return items;
    }
    throw new Error("a walk without an end");
  };

  // Days, resources and identities with four lines that are equal in every column of the order. Two of them are equal
  // in all columns.
  const lines = ["2026-03-01", "2026-03-02", "2026-03-05"].flatMap((day) =>
    ["r-1", "r-2"].flatMap((resource_id) => [
      ...["1", "2", "2", "3"].map((amount) => ({ timestamp: `${day}T00:00:00Z`, resource_id, amount })),
      { timestamp: `${day}T06:00:00Z`, resource_id, amount: "4" },
    ]),
  );
  await insertBilling(
    stores,
    "acme",
    lines.map(({ amount: total_cost, ...line }) => ({ ...line, total_cost })),
  );
  await insertChargebacks(
    stores,
    "acme",
    lines.flatMap((line) => ["sa-1", "sa-2"].map((identity_id) => ({ ...line, identity_id }))),
  );

  for (const [list, query, count] of [
    ["billing", "", 30],
    ["billing", "timezone=America/Denver&start_date=2026-03-01&end_date=2026-03-04", 20],
    ["chargebacks", "", 60],
    ["chargebacks", "identity_id=sa-2&resource_id=r-1", 15],
    ["chargebacks", "tag:team=UNTAGGED&cost_type=usage", 60],
  ] as const) {
    await t.test(
      `${list}?${query}: the list, no row lost or repeated, whatever the size of a page`,
      async (t) => {
        const all = await read(`${list}?${query}&page_size=1000`);
        t.equal(all.total, count);
        t.equal(all.next_cursor, null);
        for (const size of [3, 7, count - 1, count])
          t.same(await walk(list, query, size), all.items, String(size));
      },
    );
  }

  await t.test("every page has a cursor for the next one, even between equal rows", async (t) => {
    for (const list of ["billing", "chargebacks"]) {
      const all = await read(`${list}?page_size=1000`);
      for (const [size, pages] of [
        [1, 5],
        [2, 3],
      ] as const) {
        for (let page = 1; page <= pages; page++) {
          const { next_cursor } = await read(`${list}?page=${page}&page_size=${size}`);
          t.same(
            await walk(list, "", 1000, next_cursor),
            all.items.slice(page * size),
            `${list} ${page} of ${size}`,
          );
        }
      }
    }
  });

  await t.test("rows that are added before a cursor or removed do not move it", async (t) => {
    const { next_cursor, items } = await read("billing?page_size=12");
    const { client } = await stores.tenant("acme");
    await insertBilling(stores, "acme", [
      { timestamp: "2026-03-01T00:00:00Z", total_cost: "0", resource_id: "a" },
    ]);
    const before = await walk("billing", "", 5, next_cursor);
    t.equal(before.length, 30 - items.length);
    // Deletes the row of the cursor. It is one of ten on the second day.
    await client.command({ query: "ALTER TABLE billing DROP PARTITION '2026-03-02'" });
    t.equal((await walk("billing", "", 5, next_cursor)).length, 10, "the page has the whole third day");
  });

  await t.test("a cursor is valid for its list, tenant and filters, with any page size", async (t) => {
    const { next_cursor } = await read("chargebacks?identity_id=sa-1&page_size=2");
    const status = async (url: string) => {
      const { status, body } = await get(app, `/api/v1/tenants/${url}&cursor=${next_cursor}`);
      return [status, body.code];
    };
    t.same(await status("acme/chargebacks?identity_id=sa-1&page_size=9"), [200, undefined]);
    t.same(await status("acme/chargebacks?identity_id=sa-1&page=1"), [200, undefined]);
    for (const url of [
      "acme/chargebacks?identity_id=sa-2",
      "acme/chargebacks?identity_id=sa-1&tag:team=a",
      "acme/chargebacks?identity_id=sa-1&timezone=Asia/Tokyo",
      "globex/chargebacks?identity_id=sa-1",
      "acme/billing?page_size=2",
    ]) {
      t.same(await status(url), [400, "invalid_cursor"], url);
    }
    t.equal(
      (await status("acme/chargebacks?identity_id=sa-1&page=2"))[0],
      400,
      "`page` and `cursor` exclude each other",
    );
  });

  await t.test("made-up cursors are refused or return nothing", async (t) => {
    const { next_cursor } = await read("chargebacks?page_size=2");
    const parts: unknown[] = JSON.parse(Buffer.from(next_cursor ?? "", "base64url").toString());
    const made = (change: (key: unknown[]) => void) => {
      const copy = [...parts];
      change(copy);
      return Buffer.from(JSON.stringify(copy)).toString("base64url");
    };
    for (const [cursor, wanted] of [
      ["x", 400],
      ["%00", 400],
      [made((key) => key.pop()), 400],
      [made((key) => key.push("more")), 400],
      [made((key) => key.splice(3, 1, 7)), 400],
      [made((key) => key.splice(7, 1, "now")), 400],
      [made((key) => key.splice(7, 1, -9e15)), 200],
      [made((key) => key.splice(7, 1, 9e15)), 200],
      [made((key) => key.splice(8, 1, 1e15)), 200],
      [made((key) => key.splice(8, 1, -1)), 200],
      [made((key) => key.splice(10, 1, 9e15)), 200],
      [made((key) => key.splice(10, 1, -5)), 200],
      [made((key) => key.splice(3, 1, "' OR 1 = 1 --")), 200],
    ] as const) {
      const { status } = await get(app, `/api/v1/tenants/acme/chargebacks?cursor=${cursor}`);
      t.equal(status, wanted, cursor.slice(0, 20));
    }
  });

  await t.test("a cursor works among more equal rows than are read again", async (t) => {
    const timestamp = "2026-04-01T00:00:00Z";
    const alike = Array.from({ length: 2345 }, () => ({ timestamp, amount: "1" }));
    await insertChargebacks(stores, "acme", alike);
    await insertBilling(stores, "acme", Array(2345).fill({ timestamp, total_cost: "1" }));
    for (const list of ["chargebacks", "billing"])
      t.equal((await walk(list, "start_date=2026-04-01&end_date=2026-04-01", 700)).length, 2345, list);
  });
});
