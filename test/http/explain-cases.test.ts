import t from "tap";
import { buildRuleSet } from "../../src/allocate/rules.js";
import { unit } from "../allocate/staged-days.js";
import { holds } from "../holds.js";
import { dimensionIds, recordTestDimensions } from "../tags/tagging.js";
import { soundness } from "./explained.js";
import { injections } from "./fuzzing/hostile.js";
import { gatherInto } from "./gathered-inventory.js";
import { publishFacts, splitRows } from "./published-facts.js";
import { get, insertChargebacks, startService } from "./service.js";

const day = "2026-03-01";
const places = { decimalPlaces: 2 };
const nothing = { usage: [], sets: [], gaps: [] };
const lineOf = (resource_id: string, product_type: string, cost: bigint) => ({
  key: "",
  currency: "USD",
  day,
  resource_id,
  product_type,
  cost,
});
const measured = (resource_id: string, metric: string, identity_id: string, weight: bigint) => ({
  day,
  metric,
  resource_id,
  identity_id,
  weight,
});
const member = (scope: string, resource_id: string, identity_id: string) => ({
  day,
  scope,
  resource_id,
  identity_id,
});

t.test("an explanation shows how an amount was calculated", async (t) => {
  const { app, stores } = await startService(t);
  let epoch = 0;
  const publish = async (facts: Omit<Parameters<typeof publishFacts>[3], "decimalPlaces">) => {
    epoch += 1;
    await publishFacts(stores, "acme", epoch, { ...places, ...facts });
  };
  const pathOf = async (identity: string, rest = `?date=${day}`) => {
    const [id] = await dimensionIds(stores, "acme", identity);
    return `/api/v1/tenants/acme/chargebacks/${id}/explain${rest}`;
  };

  const firstPath = async () => (await splitRows(stores, "acme"))[0]?.path ?? "";

  await t.test("the explanation of three recipients who share 10 has every number", async (t) => {
    await publish({
      ...nothing,
      lines: [lineOf("lkc-3", "CKU", 10n * unit + unit / 1000n)],
      usage: [
        measured("lkc-3", "bytes_in", "sa-1", 1_000_000n),
        measured("lkc-3", "bytes_out", "sa-1", 500_000n),
        measured("lkc-3", "bytes_in", "sa-2", 1_500_000n),
        measured("lkc-3", "bytes_in", "sa-3", 1_500_000n),
      ],
      sets: [member("resource_active", "lkc-3", "sa-8"), member("owner", "lkc-3", "sa-9")],
    });
    const { body } = await get(app, await pathOf("sa-1", `?date=${day}&component=0`));
    const row = { timestamp: `${day}T00:00:00Z`, component: 0, currency: "USD", amount: "2.341" };
    const nobody = { identity_name: null, identity_type: null, team: "UNASSIGNED" };
    const third = { ...nobody, weight: "1.5", share: "0.333333" };
    const first = {
      identity_id: "sa-1",
      ...third,
      amount: "2.341",
      weight_up_to: "1.5",
      ticks: "234",
      has_residue: true,
    };
    holds(t, body, {
      date: day,
      identity_id: "sa-1",
      resource_id: "lkc-3",
      rows: [row],
      total_rows: 1,
      weights_kept: true,
      row: { ...row, tier: 0, component_ratio: "0.7", allocation_method: "usage_ratio", provisional: false },
      line: { total_cost: "10.001", quantity: "1", unit_price: "1", bill_lines: 1, granularity: "daily" },
      rule: {
        product_type: "CKU",
        given_up: false,
        rounding_offset: "0.964331",
        residue_point: "0.513047",
        components: [
          { component: 0, ratio: "0.7", ticks: "700", amount: "7.001", has_residue: true },
          { component: 1, ratio: "0.3", ticks: "300", amount: "3", has_residue: false },
        ],
      },
      split: {
        decimal_places: 2,
        tick: "0.01",
        line_ticks: "1000",
        residue: "0.001",
        component_ticks: "700",
        total_weight: "4.5",
        rounding_offset: "3.813696",
        residue_point: "1.037657",
      },
      this: first,
      recipients: {
        total: 3,
        page: 1,
        page_size: 100,
        pages: 1,
        items: [
          first,
          {
            identity_id: "sa-2",
            ...third,
            amount: "2.33",
            weight_up_to: "3",
            ticks: "233",
            has_residue: false,
          },
          {
            identity_id: "sa-3",
            ...third,
            amount: "2.33",
            weight_up_to: "4.5",
            ticks: "233",
            has_residue: false,
          },
        ],
      },
      samples: [
        { timestamp: `${day}T00:00:00Z`, metric: "bytes_in", quantity: "1" },
        { timestamp: `${day}T01:00:00Z`, metric: "bytes_out", quantity: "0.5" },
      ],
      owner: { owner_ids: ["sa-9"], identity: null, resource: null },
      published_at: null,
      input_hash: null,
      lacks: [],
      run: null,
    });
    t.strictSame(
      body.tiers.map(({ kind, outcome }: Record<string, string>) => `${kind} ${outcome}`),
      ["usage used", "even not_reached", "terminal not_reached"],
    );
  });

  await t.test("an explanation has pages of recipients, and always the identity itself", async (t) => {
    const path = await pathOf("sa-1", `?date=${day}&component=0&page_size=1`);
    for (const [page, who] of [
      [1, ["sa-1"]],
      [2, ["sa-2"]],
      [3, ["sa-3"]],
      [4, []],
      [Number.MAX_SAFE_INTEGER, []],
    ] as const) {
      const { body } = await get(app, `${path}&page=${page}`);
      const items = body.recipients.items.map(({ identity_id }: { identity_id: string }) => identity_id);
      t.strictSame([items, body.recipients.total, body.recipients.pages], [who, 3, 3]);
      t.equal(body.this.amount, "2.341");
    }
  });

  await t.test("an invalid request for an explanation is refused with a message", async (t) => {
    const path = await pathOf("sa-1", "");
    for (const [url, status, code, detail] of [
      [path, 400, "invalid_request", /^`date` must be given: a date YYYY-MM-DD/],
      [`${path}?date=2026-02-30`, 400, "invalid_request", /^`date` must be a date YYYY-MM-DD/],
      [`${path}?date=${day}&day=${day}`, 400, "invalid_request", /day/],
      [`${path}?date=${day}&timestamp=${day}`, 400, "invalid_request", /^`timestamp` must be an instant/],
      [
        `${path}?date=${day}&component=256`,
        400,
        "invalid_request",
        /^`component` must be an integer from 0 to 255/,
      ],
      [`${path}?date=2026-03-02`, 404, "row_not_found", /^No chargebacks of 2026-03-02 are published\.$/],
      [`${path}?date=1900-01-01`, 404, "row_not_found", /^No chargebacks of 1900-01-01/],
      [`${path}?date=${day}&component=7`, 404, "row_not_found", /has no such row on 2026-03-01\.$/],
      [`${path}?date=${day}&timestamp=1900-01-01T00:00:00Z`, 404, "row_not_found", /has no such row/],
      [`${path}?date=${day}&timestamp=${day}T00:00:00.5Z`, 404, "row_not_found", /has no such row/],
      [`${path}?date=${day}&currency=EUR`, 404, "row_not_found", /has no such row/],
      [`${path.replace(/\d+(?=\/explain)/, "7")}?date=${day}`, 404, "dimension_not_found", /7 not found/],
      [`${path.replace("acme", "nobody")}?date=${day}`, 404, "tenant_not_found", /nobody/],
    ] as const) {
      holds(t, await get(app, url), { status, body: { code, detail } }, url);
    }
  });

  await t.test("an explanation says why each tier was passed over, down to UNALLOCATED", async (t) => {
    await publish({
      lines: [
        lineOf("r-gap", "NETWORK", unit),
        lineOf("r-none", "NETWORK", -unit),
        lineOf("r-owners", "CONNECTOR", unit),
        lineOf("r-ownerless", "CONNECTOR", unit),
        lineOf("r-unknown", "SOMETHING", unit),
      ],
      usage: [measured("r-none", "bytes_in", "sa-0", 0n), measured("r-gap", "bytes_in", "sa-0", 5n)],
      sets: [
        member("tenant_period", "", "sa-1"),
        member("tenant_period", "", "sa-2"),
        member("metrics_derived", "r-gap", "sa-3"),
        member("owner", "r-owners", "sa-1"),
        member("owner", "r-owners", "sa-2"),
      ],
      gaps: [{ day, metric: "bytes_in", resource_id: "r-gap" }],
      provisional: [day],
    });
    const found: Record<string, unknown> = {};
    for (const { path } of await splitRows(stores, "acme")) {
      const { response, faults } = await soundness(app, path);
      t.strictSame(faults, [], response.resource_id);
      t.equal(response.row.provisional, true);
      const reported = response.tiers?.map(({ kind, outcome, sources }) => {
        const gaps = sources.flatMap(({ gap }) => gap ?? []);
        return [kind, outcome, ...sources.flatMap(({ identities }) => identities ?? []), ...gaps].join(" ");
      });
      found[response.resource_id] = [response.row.allocation_detail, ...(reported ?? [])];
    }
    t.strictSame(found, {
      "r-gap": [
        "metrics_fetch_failed",
        "usage metrics_missing 1 test",
        "even used",
        "even not_reached",
        "terminal not_reached",
      ],
      "r-none": [
        "no_active_identities_located",
        "usage no_usage 0",
        "even no_identities 0 0",
        "even used",
        "terminal not_reached",
      ],
      "r-owners": ["owner_unknown", "owner several_owners 2", "terminal used"],
      "r-ownerless": ["owner_unknown", "owner no_owner 0", "terminal used"],
      "r-unknown": ["no_allocator_for_product_type", "terminal used"],
    });
  });

  await t.test("a day that was given up has an explanation", async (t) => {
    await publish({ ...nothing, lines: [lineOf("lkc-1", "CKU", 7n * unit + 3n)], givenUp: true });
    const { response, faults } = await soundness(app, await firstPath());
    t.strictSame(faults, []);
    t.strictSame(
      [response.rule?.given_up, response.tiers?.map(({ outcome }) => outcome)],
      [true, ["given_up", "given_up", "given_up"]],
    );
  });

  await t.test(
    "a day that was given up has an explanation if the first component goes to UNALLOCATED",
    async (t) => {
      const nobody = { kind: "terminal", detail: "unattributable_by_design" } as const;
      const even = { kind: "even", scopes: ["owner"], of: "resource", detail: "shared_by_design" } as const;
      const rules = buildRuleSet([
        {
          product_type: "CKU",
          components: [
            { ratio: "0.7", tiers: [nobody] },
            { ratio: "0.3", tiers: [even, nobody] },
          ],
        },
      ]);
      await publish({ ...nothing, rules, lines: [lineOf("lkc-1", "CKU", 10n * unit)], givenUp: true });
      const { response, faults } = await soundness(app, await firstPath());
      t.strictSame(faults, []);
      t.strictSame(
        [response.row.amount, response.rule?.given_up, response.tiers?.map(({ outcome }) => outcome)],
        ["10", true, ["given_up"]],
      );
      t.strictSame(
        response.rule?.components.map(({ ratio, amount }) => [ratio, amount]),
        [["1", "10"]],
      );
    },
  );

  await t.test(
    "weights and samples of usage below a millionth of the unit have all their digits",
    async (t) => {
      const { client } = await stores.tenant("acme");
      const usage = [measured("r-1", "bytes_in", "sa-1", 1n), measured("r-1", "bytes_in", "sa-2", 2n)];
      await publish({ ...nothing, lines: [lineOf("r-1", "NETWORK", 10n * unit)], usage });
      await client.command({
        query: "ALTER TABLE usage UPDATE scale = 9 WHERE 1 SETTINGS mutations_sync = 1",
      });
      const { body } = await get(app, await firstPath());
      holds(t, body, { weights_kept: true, split: { total_weight: "0.000000000000003" } });
      t.equal(body.samples[0].quantity, body.this.weight);
      t.strictSame(
        body.recipients.items.map(({ weight }: Record<string, unknown>) => weight),
        ["0.000000000000002", "0.000000000000001"],
      );
    },
  );

  await t.test("an explanation without weights shows the published amounts, and says so", async (t) => {
    const { client } = await stores.tenant("acme");
    const facts = {
      ...nothing,
      lines: [lineOf("r-1", "NETWORK", 10n * unit)],
      usage: [measured("r-1", "bytes_in", "sa-1", 1n), measured("r-1", "bytes_in", "sa-2", 2n)],
    };
    for (const [name, query] of [
      ["usage is gone", "TRUNCATE TABLE usage"],
      [
        "usage is another one",
        "INSERT INTO usage (timestamp, metric, resource_id, identity_id, micro_units) VALUES ('2026-03-01 05:00:00', 'bytes_in', 'r-1', 'sa-1', 9)",
      ],
      ["the line is gone", "TRUNCATE TABLE billing"],
      [
        "rules were not noted yet",
        "ALTER TABLE chargebacks UPDATE rules_hash = '', decimal_places = 0 WHERE 1 SETTINGS mutations_sync = 1",
      ],
    ] as const) {
      await publish(facts);
      await client.command({ query });
      const { body } = await get(app, await firstPath());
      holds(t, body, { weights_kept: false, split: null, recipients: { total: 2 } }, name);
      t.strictSame(
        body.recipients.items.map(({ identity_id, amount, weight }: Record<string, unknown>) => [
          identity_id,
          amount,
          weight,
        ]),
        [
          ["sa-2", "6.67", null],
          ["sa-1", "3.33", null],
        ],
        name,
      );
      t.equal(body.this.amount, body.row.amount);
    }
    const three = [1n, 2n, 3n].map((units, index) => measured("r-1", "bytes_in", `sa-${index + 1}`, units));
    await publish({ ...facts, usage: three });
    const { body: own } = await get(app, await firstPath());
    holds(
      t,
      own,
      { weights_kept: true, recipients: { total: 3 } },
      "the amounts are those that were published",
    );
    const [one, other] = [1, 2, 3].filter((number) => `sa-${number}` !== own.this.identity_id);
    // The two recipients change places.
    const moved = Number(other) - Number(one);
    await client.command({
      query: `INSERT INTO usage (timestamp, metric, resource_id, identity_id, micro_units)
        VALUES ('2026-03-01 05:00:00', 'bytes_in', 'r-1', 'sa-${one}', ${moved}), ('2026-03-01 05:00:00', 'bytes_in', 'r-1', 'sa-${other}', ${-moved})`,
    });
    const { body: afterwards } = await get(app, await firstPath());
    const { amount } = own.row;
    holds(
      t,
      afterwards,
      { weights_kept: false, row: { amount }, this: { amount } },
      "two other amounts differ",
    );
    await client.command({ query: "TRUNCATE TABLE chargebacks" });
    await insertChargebacks(stores, "acme", [
      { timestamp: `${day}T00:00:00Z`, amount: "5", identity_id: "old" },
    ]);
    await recordTestDimensions(stores, "acme");
    holds(t, (await get(app, await pathOf("old"))).body, {
      weights_kept: false,
      rule: null,
      line: null,
      tiers: null,
      this: { amount: "5", weight: null },
    });
  });

  await t.test("an explanation shows the owner as of the day, and the names of today", async (t) => {
    const resources = (owner_id: string) => [
      { resource_id: "r-1", display_name: `of ${owner_id}`, owner_id },
    ];
    const identities = (team: string) => [{ identity_id: "sa-1", metadata: { team } }];
    await gatherInto(stores, "acme", {
      at: "2026-02-01T00:00:00Z",
      resources: resources("sa-1"),
      identities: identities("blue"),
    });
    await gatherInto(stores, "acme", {
      at: "2026-03-05T00:00:00Z",
      resources: resources("sa-2"),
      identities: identities("green"),
    });
    await publish({
      ...nothing,
      lines: [lineOf("r-1", "CONNECTOR", unit)],
      sets: [member("owner", "r-1", "sa-1")],
    });
    holds(t, (await get(app, await firstPath())).body, {
      identity_id: "sa-1",
      owner: {
        owner_ids: ["sa-1"],
        identity: { team: "blue" },
        resource: { owner_id: "sa-1", display_name: "of sa-1" },
      },
    });
  });

  await t.test("an explanation works with names of any characters", async (t) => {
    const names = injections.slice(0, 12);
    await publish({
      ...nothing,
      lines: names.map((name) => lineOf(name, "NETWORK", 10n * unit)),
      usage: names.flatMap((name) => names.map((who, at) => measured(name, "bytes_in", who, BigInt(at + 1)))),
    });
    const rows = await splitRows(stores, "acme");
    t.equal(rows.length, names.length);
    for (const { path, name } of rows) t.strictSame((await soundness(app, path)).faults, [], name);
  });
});
