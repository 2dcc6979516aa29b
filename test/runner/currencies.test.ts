/** A bill in two currencies through the whole service: amounts of two currencies are never added. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { outdatedAttributions } from "../../src/allocate/publish.js";
import { printReconciliation } from "../../src/cli/reconcile.js";
import { printWhoPays } from "../../src/cli/who-pays.js";
import type { Emitter } from "../../src/config/settings/emitters.js";
import { reconcileDays } from "../../src/query/state/reconcile.js";
import { commandIo } from "../cli/command-io.js";
import { csvEmitter, emittedLines, withEmitters } from "../export/emitters/emitting.js";
import { holds } from "../holds.js";
import { get } from "../http/service.js";
import { startApi } from "../http/start-api.js";
import { openTestStores } from "../stores.js";
import { daysBefore, runContext, runDay, runOnce, runRows, shortTenants } from "./runs.js";
import { clusterWithTopics, topicUpstream } from "./topic-upstream.js";

const [older, newer] = [daysBefore(4), daysBefore(3)];

t.test("a bill in two currencies is charged by currency", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-currencies-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const opened = await openTestStores(t, shortTenants(["acme"]));
  const { stores } = opened;
  const { upstream, ecosystems } = topicUpstream();
  // Both have the same lines with other amounts.
  upstream.bill.set(older, { "r-1": "10 + 7 EUR", "metered-1": "8 + -0.333333333333 EUR" });
  upstream.bill.set(newer, { "metered-2": "3 + 5 EUR" });
  upstream.gaps.add(newer);
  const files: Emitter[] = [
    csvEmitter(folder),
    csvEmitter(folder, {
      name: "monthly",
      aggregation: "monthly" as const,
      params: { filename_template: "{tenant_id}_{date}_month.csv" },
    }),
    csvEmitter(folder, {
      name: "topics",
      pipelines: ["topic_attribution" as const],
      params: { filename_template: "{pipeline}_{date}.csv" },
    }),
    {
      type: "prometheus",
      pipelines: ["chargeback", "billing", "topic_attribution"],
      params: { days: 2, provisional: "mark" },
    },
  ];
  const config = withEmitters(clusterWithTopics(opened.config), "acme", files);
  holds(t, await runOnce(runContext(stores, { ecosystems }), config, "acme"), {
    status: "completed_with_errors",
    dates_calculated: 2,
    chargeback_rows_written: 10,
  });
  const app = await startApi(t, { config, stores, now: new Date(`${runDay}T12:00:00Z`) });
  const read = async (path: string) => (await get(app, `/api/v1/tenants/acme/${path}`)).body;
  const { io, written } = commandIo();
  const { client } = await stores.tenant("acme");

  await t.test(
    "each line is split in its currency, including refunds and amounts below a tick",
    async (t) => {
      const { items } = await read("chargebacks");
      t.same(
        items.map(
          (row: Record<string, string>) =>
            `${row.resource_id} ${row.currency} ${row.identity_id} ${row.amount}`,
        ),
        [
          "metered-1 EUR ann -0.083333333333",
          "metered-1 USD ann 2",
          "metered-1 EUR bob -0.25",
          "metered-1 USD bob 6",
          "r-1 EUR ann 3.5",
          "r-1 USD ann 5",
          "r-1 EUR bob 3.5",
          "r-1 USD bob 5",
          "metered-2 EUR UNALLOCATED 5",
          "metered-2 USD UNALLOCATED 3",
        ],
      );
      t.same(
        items
          .filter(({ resource_id }: { resource_id: string }) => resource_id === "r-1")
          .map((row: { metadata: object }) => row.metadata),
        Array.from({ length: 4 }, () => ({
          component: 0,
          component_ratio: "1",
          tier: 0,
          weight: "1",
          total_weight: "2",
        })),
        "recipients are counted by currency",
      );
      const ofEuro = (await read("chargebacks?currency=EUR")).items;
      t.equal(ofEuro.length, 5);
      t.same(new Set(ofEuro.map((row: { currency: string }) => row.currency)), new Set(["EUR"]));
      t.equal((await read("chargebacks?currency=eur")).total, 0, "filters compare exactly");
      const paged = await read("chargebacks?page_size=3");
      const rest = await read(`chargebacks?page_size=100&cursor=${paged.next_cursor}`);
      t.same([...paged.items, ...rest.items], items, "pages behind a cursor have the remaining rows");
    },
  );

  await t.test("chargebacks in both currencies share one dimension", async (t) => {
    const { items } = await read("chargebacks?identity_id=ann&resource_id=r-1");
    t.equal(new Set(items.map((row: { dimension_id: number }) => row.dimension_id)).size, 1);
    holds(t, await read(`chargebacks/${items[0].dimension_id}`), { amount: "3.5", currency: "EUR" });
  });

  await t.test("the bill has currencies and is filtered by them", async (t) => {
    const { items } = await read("billing?currency=EUR");
    t.same(
      items.map((line: Record<string, string>) => `${line.resource_id} ${line.total_cost} ${line.currency}`),
      ["metered-1 -0.333333333333 EUR", "r-1 7 EUR", "metered-2 5 EUR"],
    );
  });

  const amounts = (total: string, usage: string, shared: string) => ({
    total_amount: total,
    usage_amount: usage,
    shared_amount: shared,
    passed_amount: "0",
  });
  const nothing = { total_amount: null, usage_amount: null, shared_amount: null, passed_amount: null };
  const ofTopics = ({ passed_amount: _, ...rest }: { readonly passed_amount: string | null }) => rest;
  const EUR = { currency: "EUR", ...amounts("11.666666666667", "-0.333333333333", "12"), row_count: 5 };
  const USD = { currency: "USD", ...amounts("21", "8", "13"), row_count: 5 };
  const bucketTexts = (body: {
    buckets: { dimensions: object; time_bucket: string; currency: string; total_amount: string }[];
  }) =>
    body.buckets.map(
      ({ dimensions, time_bucket, currency, total_amount }) =>
        `${time_bucket} ${Object.values(dimensions).join(" ")} ${currency} ${total_amount}`,
    );

  await t.test("sums are by currency for any grouping", async (t) => {
    const byIdentity = await read("chargebacks/aggregate");
    t.same(bucketTexts(byIdentity), [
      `${older} ann EUR 3.416666666667`,
      `${older} ann USD 7`,
      `${older} bob EUR 3.25`,
      `${older} bob USD 11`,
      `${newer} UNALLOCATED EUR 5`,
      `${newer} UNALLOCATED USD 3`,
    ]);
    const { buckets: _, ...overall } = byIdentity;
    t.strictSame(overall, {
      currency: null,
      ...nothing,
      totals: [EUR, USD],
      total_rows: 10,
      total_buckets: 6,
      truncated: false,
    });
    const byCurrency = await read("chargebacks/aggregate?group_by=currency&time_bucket=month");
    t.same(bucketTexts(byCurrency), ["2026-06 EUR EUR 11.666666666667", "2026-06 USD USD 21"]);
    t.strictSame(byCurrency.totals, [EUR, USD]);
    const apart = await read(
      "chargebacks/aggregate?group_by=identity_id&group_by=product_type&time_bucket=month",
    );
    t.strictSame(apart.totals, [EUR, USD], "sums without a table of sums are by currency, too");
    t.equal(apart.total_buckets, 10);
  });

  await t.test("a sum of one currency excludes the other and names its currency", async (t) => {
    const { buckets, ...overall } = await read(
      "chargebacks/aggregate?currency=USD&group_by=currency&time_bucket=month",
    );
    t.strictSame(buckets, [
      {
        dimensions: { currency: "USD" },
        display_names: {},
        time_bucket: "2026-06",
        currency: "USD",
        ...amounts("21", "8", "13"),
        row_count: 5,
        provisional: true,
      },
    ]);
    t.strictSame(overall, {
      currency: "USD",
      ...amounts("21", "8", "13"),
      totals: [USD],
      total_rows: 5,
      total_buckets: 1,
      truncated: false,
    });
    const { buckets: none, ...empty } = await read("chargebacks/aggregate?currency=GBP");
    t.strictSame(none, []);
    t.strictSame(empty, {
      currency: null,
      ...amounts("0", "0", "0"),
      totals: [],
      total_rows: 0,
      total_buckets: 0,
      truncated: false,
    });
  });

  await t.test("allocation issues have a currency", async (t) => {
    const { items } = await read("chargebacks/allocation-issues");
    t.same(
      items.map(
        (issue: Record<string, string>) =>
          `${issue.allocation_detail} ${issue.currency} ${issue.total_cost} ${issue.row_count}`,
      ),
      ["metrics_fetch_failed EUR 5 1", "metrics_fetch_failed USD 3 1"],
    );
    t.equal((await read("chargebacks/allocation-issues?currency=USD")).total, 1);
  });

  await t.test("exports have the currency column and are filtered by it", async (t) => {
    const columns = ["resource_id", "identity_id", "amount", "currency"];
    const payload = { columns, filters: { currency: "EUR" } };
    const { body } = await app.inject({ method: "POST", url: "/api/v1/tenants/acme/export", payload });
    t.same(body.trimEnd().split("\n"), [
      "resource_id,identity_id,amount,currency",
      "metered-1,ann,-0.083333333333,EUR",
      "metered-1,bob,-0.25,EUR",
      "r-1,ann,3.5,EUR",
      "r-1,bob,3.5,EUR",
      "metered-2,UNALLOCATED,5,EUR",
    ]);
    const explained = { columns: ["amount", "currency", "metadata"], filters: { resource_id: "r-1" } };
    const weighed = await app.inject({
      method: "POST",
      url: "/api/v1/tenants/acme/export",
      payload: explained,
    });
    t.equal(weighed.body.split('""total_weight"":""2""').length, 5, "weights belong to one line");
  });

  await t.test("topic attributions have a currency", async (t) => {
    const { items } = await read("topic-attributions?currency=EUR");
    t.same(
      items.map(
        (row: Record<string, string>) =>
          `${row.cluster_resource_id} ${row.topic_name} ${row.amount} ${row.currency}`,
      ),
      [
        "metered-1 orders -0.083333333333 EUR",
        "metered-1 users -0.25 EUR",
        "r-1 idle 2.3334 EUR",
        "r-1 orders 2.3333 EUR",
        "r-1 users 2.3333 EUR",
        "metered-2 orders 1.25 EUR",
        "metered-2 users 3.75 EUR",
      ],
    );
    const { buckets, ...overall } = await read("topic-attributions/aggregate?group_by=cluster_resource_id");
    t.same(bucketTexts({ buckets }), [
      `${older} metered-1 EUR -0.333333333333`,
      `${older} metered-1 USD 8`,
      `${older} r-1 EUR 7`,
      `${older} r-1 USD 10`,
      `${newer} metered-2 EUR 5`,
      `${newer} metered-2 USD 3`,
    ]);
    t.strictSame(overall, {
      currency: null,
      ...ofTopics(nothing),
      totals: [
        { currency: "EUR", ...ofTopics(amounts("11.666666666667", "4.666666666667", "7")), row_count: 7 },
        { currency: "USD", ...ofTopics(amounts("21", "11", "10")), row_count: 7 },
      ],
      total_rows: 14,
      total_buckets: 6,
      truncated: false,
    });
    holds(t, await read("topic-attributions/aggregate?currency=USD&group_by=currency"), {
      currency: "USD",
      total_amount: "21",
      total_rows: 7,
    });
  });

  await t.test("views of SQL clients have a currency", async (t) => {
    const view = async (query: string) =>
      (await runRows<Record<string, unknown>>(stores, "acme", `SELECT ${query} ORDER BY ALL`)).map((row) =>
        Object.values(row).join(" "),
      );
    const total = "toString(sum(total_amount)) AS total";
    const sums = ["EUR 11.666666666667", "USD 21"];
    for (const name of [
      "daily_cost_by_identity",
      "daily_cost_by_team",
      "daily_cost_by_resource",
      "daily_cost_by_topic",
    ])
      t.same(await view(`currency, ${total} FROM ${name} GROUP BY currency`), sums, name);
    for (const name of ["chargeback_details", "topic_attribution_details"])
      t.same(
        await view(`currency, toString(sum(amount)) AS total FROM ${name} GROUP BY currency`),
        sums,
        name,
      );
    t.same(
      await view(
        `date, currency, toString(total_amount) AS total FROM daily_cost_by_identity WHERE identity_id = 'ann'`,
      ),
      [`${older} EUR 3.416666666667`, `${older} USD 7`],
    );
    t.same(
      await view(
        "date, currency, toString(billing) AS billing, toString(difference) AS difference FROM daily_reconciliation",
      ),
      [`${older} EUR 6.666666666667 0`, `${older} USD 18 0`, `${newer} EUR 5 0`, `${newer} USD 3 0`],
    );
    const { items } = await read("chargebacks?identity_id=ann&resource_id=r-1");
    const tag = { tag_key: "team", display_name: "red", created_by: "test" };
    const url = `/api/v1/tenants/acme/chargebacks/${items[0].dimension_id}/tags`;
    t.equal((await app.inject({ method: "POST", url, payload: tag })).statusCode, 201);
    await read("chargebacks");
    t.same(
      await view("date, display_name, currency, toString(total_amount) AS total FROM daily_cost_by_tag"),
      [`${older} red EUR 3.5`, `${older} red USD 5`],
    );
  });

  await t.test("emitted metrics have a currency", async (t) => {
    const { body } = await app.inject({ url: "/api/v1/tenants/acme/metrics" });
    const sampled = (name: string, label: string) =>
      body
        .split("\n")
        .filter((line) => line.startsWith(`${name}{`) && line.includes(label))
        .map((line) => `${/currency="(\w+)"/.exec(line)?.[1]} ${line.split(" ").at(-1)}`);
    t.same(sampled("chargehouse_chargeback_amount", 'resource_id="r-1"'), [
      "EUR 3.5",
      "USD 5",
      "EUR 3.5",
      "USD 5",
    ]);
    t.same(sampled("chargehouse_billing_amount", 'resource_id="r-1"'), ["EUR 7", "USD 10"]);
    t.same(
      sampled(
        "chargehouse_topic_attribution_amount",
        'topic_name="orders",product_category="test",product_type="METERED"',
      ).sort(),
      ["EUR -0.083333333333", "EUR 1.25", "USD 0.75", "USD 2"],
    );
  });

  await t.test("emitted files have a currency", async (t) => {
    const last = (lines: readonly string[]) =>
      lines
        .map((line) => line.split(","))
        .map((cells) => [cells[3], cells[6], cells[8], cells.at(-1)].join(" "));
    t.same(last(emittedLines(folder, `acme_${newer}.provisional.csv`)), [
      "metered-2 UNALLOCATED 5 EUR",
      "metered-2 UNALLOCATED 3 USD",
    ]);
    t.same(
      last(emittedLines(folder, "acme_2026-06-01_month.provisional.csv")).filter((line) =>
        line.startsWith("r-1 ann"),
      ),
      ["r-1 ann 3.5 EUR", "r-1 ann 5 USD"],
    );
    t.same(
      emittedLines(folder, `topic_attribution_${newer}.csv`).map((line) =>
        line.split(",").slice(-2).join(" "),
      ),
      ["1.25 EUR", "0.75 USD", "3.75 EUR", "2.25 USD"],
    );
  });

  await t.test("reconciliation is by day and currency", async (t) => {
    t.equal(await printReconciliation(stores, ["acme"], io, { everyDay: true }), "adds_up");
    t.same(written.stdout.split("\n").slice(0, 7), [
      "TENANT  DAY         CURRENCY  LINES  ROWS          BILLING      CHARGEBACKS  DIFF",
      `acme    ${older}  EUR           2     4   6.666666666667   6.666666666667     0`,
      `acme    ${older}  USD           2     4               18               18     0`,
      `acme    ${newer}  EUR           1     1                5                5     0`,
      `acme    ${newer}  USD           1     1                3                3     0`,
      "acme    2 days      EUR           3     5  11.666666666667  11.666666666667     0",
      "acme    2 days      USD           3     5               21               21     0",
    ]);
    written.stdout = "";
    await printWhoPays(stores, ["acme"], io);
    t.same(written.stdout.split("\n"), [
      "TENANT  WHO PAYS MOST  TEAM  CURRENCY   COST   SHARE",
      "acme    Unallocated          EUR        5.00  42.9 %",
      "acme    ann                  EUR        3.42  29.3 %",
      "acme    bob                  EUR        3.25  27.9 %",
      "acme    bob                  USD       11.00  52.4 %",
      "acme    ann                  USD        7.00  33.3 %",
      "acme    Unallocated          USD        3.00  14.3 %",
      "",
    ]);
  });

  await t.test("differences of two currencies that cancel out are found", async (t) => {
    const { signal } = io;
    for (const table of ["chargebacks", "topic_attributions"])
      await client.command({
        query: `ALTER TABLE ${table} UPDATE currency = if(currency = 'EUR', 'USD', 'EUR')
          WHERE day = '${newer}' SETTINGS mutations_sync = 1`,
      });
    const { days } = await reconcileDays(client, signal);
    t.same(
      days
        .filter(({ day }) => day === newer)
        .map((day) => `${day.currency} ${day.difference} ${day.lines_off}`),
      ["EUR -2 1", "USD 2 1"],
    );
    written.stdout = "";
    t.equal(await printReconciliation(stores, ["acme"], io, { everyDay: false }), "differences");
    const epoch = 1;
    await client.command({ query: `INSERT INTO staged_billing_e${epoch} SELECT * FROM billing` });
    t.same(await outdatedAttributions({ client, epoch, signal }, [older, newer]), [newer]);
  });
});
