/** `format=focus` exports rows of any ecosystem as valid FOCUS, and refuses the rest. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import t from "tap";
import { checkFile } from "../../src/focus/check/check-file.js";
import { openScratchEngine } from "../../src/focus/check/scratch-engine.js";
import { temporaryFolder, testLogger } from "../stores.js";
import { recordTestDimensions } from "../tags/tagging.js";
import { get, insertBilling, insertChargebacks, startService } from "./service.js";

const url = "/api/v1/tenants/acme/export";
const ecosystems = ["generic_metrics_only", "confluent_cloud", "self_managed_kafka"];

/** Lines of a day, each with the amounts of its rows. */
const lines: readonly {
  readonly product_type: string;
  readonly total_cost: string;
  readonly quantity: string;
  readonly unit_price?: string;
  /** Amounts before discounts. */
  readonly original?: string;
  readonly amounts: readonly string[];
}[] = [
  { product_type: "STORAGE", total_cost: "10", quantity: "3", amounts: ["3.3334", "3.3333", "3.3333"] },
  { product_type: "CREDIT", total_cost: "-1", quantity: "0", amounts: ["-0.7", "-0.3"] },
  { product_type: "FREE", total_cost: "0", quantity: "7", amounts: ["0", "0", "0"] },
  {
    product_type: "HUGE",
    total_cost: "99999999999999999999999999.999999999999",
    quantity: "99999999999999999999999999",
    amounts: ["99999999999999999999999998.999999999998", "1.000000000001"],
  },
  {
    product_type: "CUT",
    total_cost: "0.9",
    quantity: "2",
    unit_price: "0.5",
    original: "1.0",
    amounts: ["0.9"],
  },
  {
    product_type: "TIERED",
    total_cost: "3",
    quantity: "4",
    unit_price: "0",
    original: "4",
    amounts: ["1", "2"],
  },
  {
    product_type: "TINY",
    total_cost: "0.000000000001",
    quantity: "0.000000000001",
    amounts: ["0.000000000001"],
  },
];

t.test("format=focus returns rows that fit FOCUS", async (t) => {
  const { app, stores } = await startService(t);
  const folder = temporaryFolder(t);
  const engine = await openScratchEngine(testLogger);
  t.teardown(() => engine.close());
  const download = async (query: string) => {
    const response = await app.inject({ method: "GET", url: `${url}?${query}` });
    return { status: response.statusCode, headers: response.headers, bytes: response.rawPayload };
  };
  const errorsOf = async (name: string, bytes: Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    const { focus_version, findings } = await checkFile(engine, path);
    return [
      focus_version,
      ...findings.filter(({ level }) => level === "error").map((each) => JSON.stringify(each)),
    ];
  };
  const rowsOf = (bytes: Buffer): Record<string, string>[] => parse(bytes, { columns: true });

  await t.test("without rows the file still has its columns", async (t) => {
    const { status, bytes, headers } = await download("format=focus");
    t.equal(status, 200);
    t.equal(
      headers["content-disposition"],
      'attachment; filename="focus_acme_2026-02-08_2026-03-10_0-of-31-days_incomplete.csv"',
    );
    const [header = []]: string[][] = parse(bytes);
    t.strictSame(
      [header.length, header[0], header.at(-1)],
      [67, "AllocatedMethodDetails", "x_SplitOriginId"],
    );
  });

  const metadataOf = (original: string | undefined) =>
    JSON.stringify({
      ...(original === undefined ? {} : { original_amount: original }),
      unit: "GB-Hours",
      description: 'a "note", and more',
      resource_name: "Cluster 1",
    });
  for (const [index, ecosystem] of ecosystems.entries())
    for (const { amounts, original, ...line } of lines) {
      const key = {
        timestamp: `2026-03-0${index + 1}T00:00:00Z`,
        ecosystem,
        env_id: "env-1",
        product_type: line.product_type,
      };
      await insertBilling(stores, "acme", [{ ...key, ...line, metadata: metadataOf(original) }]);
      await insertChargebacks(
        stores,
        "acme",
        amounts.map((amount, at) => ({
          ...key,
          amount,
          identity_id: at === 0 ? "UNALLOCATED" : `sa,"${at}"`,
          ...(ecosystem === "confluent_cloud" ? { charge_category: "", service_provider: "" } : {}),
        })),
      );
    }

  await t.test("rows of every ecosystem pass the FOCUS validator", async (t) => {
    for (const [index, ecosystem] of ecosystems.entries()) {
      const day = `start_date=2026-03-0${index + 1}&end_date=2026-03-0${index + 1}`;
      for (const version of ["1.4", "1.2"]) {
        const { bytes, headers } = await download(`format=focus&focus_version=${version}&${day}`);
        t.equal(headers["content-type"], "text/csv; charset=utf-8");
        t.strictSame(await errorsOf(`${ecosystem}-${version}.csv`, bytes), [version]);
      }
      const { bytes, headers } = await download(`format=focus_parquet&${day}`);
      t.equal(headers["content-type"], "application/vnd.apache.parquet");
      t.strictSame(await errorsOf(`${ecosystem}.parquet`, bytes), ["1.4"]);
    }
  });

  await t.test("costs are those of the rows, and quantities are split in proportion", async (t) => {
    const rows = rowsOf((await download("format=focus&start_date=2026-03-02&end_date=2026-03-02")).bytes);
    const of = (sku: string) =>
      rows.filter(
        ({ ChargeDescription, BilledCost, SkuId, x_SplitOriginCost }) =>
          SkuId === sku ||
          (sku === "CREDIT" &&
            SkuId === "" &&
            ChargeDescription !== "" &&
            BilledCost !== undefined &&
            x_SplitOriginCost === "-1"),
      );
    const shown = (sku: string) =>
      of(sku).map(({ AllocatedResourceId, BilledCost, PricingQuantity, AllocatedMethodDetails = "{}" }) => [
        AllocatedResourceId,
        BilledCost,
        PricingQuantity,
        /"AllocatedRatio":([^,]+)/.exec(AllocatedMethodDetails)?.[1],
      ]);
    t.strictSame(shown("STORAGE"), [
      ["", "3.3334", "1.00002", "0.33334"],
      ['sa,"1"', "3.3333", "0.99999", "0.33333"],
      ['sa,"2"', "3.3333", "0.99999", "0.33333"],
    ]);
    t.strictSame(shown("CREDIT"), [
      ["", "-0.7", "", "0.7"],
      ['sa,"1"', "-0.3", "", "0.3"],
    ]);
    t.strictSame(shown("FREE"), [
      ["", "0", "2.333333333333", "0.333333333333333333"],
      ['sa,"1"', "0", "2.333333333333", "0.333333333333333333"],
      ['sa,"2"', "0", "2.333333333334", "0.333333333333333334"],
    ]);
    t.strictSame(
      shown("HUGE").map(([, cost]) => cost),
      ["99999999999999999999999998.999999999998", "1.000000000001"],
    );
    t.strictSame(shown("TINY"), [["", "0.000000000001", "0.000000000001", "1"]]);
    const prices = (sku: string) =>
      of(sku).map((row) => [row.ListCost, row.ListUnitPrice, row.ContractedCost, row.ContractedUnitPrice]);
    t.strictSame(prices("CUT"), [["1", "0.5", "0.9", "0.45"]]);
    t.strictSame(prices("TIERED"), [
      ["1.333333333333", "1", "1", "0.75"],
      ["2.666666666667", "1", "2", "0.75"],
    ]);
    const [first] = of("STORAGE");
    t.strictSame(
      [
        first?.ChargeDescription,
        first?.PricingUnit,
        first?.ResourceName,
        first?.ServiceCategory,
        first?.ServiceProviderName,
      ],
      ['a "note", and more', "GB-Hours", "Cluster 1", "Integration", "Confluent"],
    );
  });

  await t.test("AllocatedTags are those of the chargeback, without the tags of its line", async (t) => {
    const key = { timestamp: "2026-03-09T00:00:00Z", product_type: "TAGGED", ecosystem: "focus" };
    await insertBilling(stores, "acme", [
      { ...key, total_cost: "2", line_tags: { team: "web", stage: "test" } },
    ]);
    await insertChargebacks(
      stores,
      "acme",
      ["ann", "bob"].map((identity_id) => ({ ...key, identity_id, amount: "1" })),
    );
    await recordTestDimensions(stores, "acme");
    const tag = async (identity_id: string, tag_key: string, display_name: string) => {
      const payload = {
        tag_key,
        display_name,
        created_by: "ada",
        product_type: ["TAGGED"],
        identity_id: [identity_id],
        start_date: "2026-03-09",
        end_date: "2026-03-09",
      };
      const response = await app.inject({
        method: "POST",
        url: "/api/v1/tenants/acme/tags/bulk-by-filter",
        payload,
      });
      t.equal(response.statusCode, 200, response.body);
    };
    await tag("ann", "team", "web");
    await tag("ann", "stage", "live");
    await tag("ann", 'cost "centre"', "ä,b");
    await tag("bob", "team", "web");
    const rows = rowsOf((await download("format=focus&start_date=2026-03-09&end_date=2026-03-09")).bytes);
    t.strictSame(
      rows.map(({ AllocatedResourceId, AllocatedTags, Tags }) => [AllocatedResourceId, AllocatedTags, Tags]),
      [
        ["ann", '{"cost \\"centre\\"":"ä,b","stage":"live"}', '{"team":"web","stage":"test"}'],
        ["bob", "", '{"team":"web","stage":"test"}'],
      ],
    );
  });

  await t.test("filters of whole charges are allowed, and others are refused by name", async (t) => {
    const some = rowsOf((await download("format=focus&product_type=STORAGE")).bytes);
    t.strictSame([some.length, new Set(some.map(({ SkuId }) => SkuId)).size], [9, 1]);
    for (const [query, name] of [
      ["format=focus&identity_id=a", "identity_id"],
      ["format=focus_parquet&not:team=a", "not:team"],
      ["format=focus&cost_type=usage", "cost_type"],
      ["format=focus&tag:team=a", "tag:team"],
      ["format=focus&columns=amount", "columns"],
      ["format=csv&focus_version=1.2", "focus_version"],
      ["focus_version=1.2", "focus_version"],
      ["format=focus&focus_version=1.3", "focus_version"],
    ] as const) {
      const { status, body } = await get(app, `${url}?${query}`);
      t.strictSame([status, body.code, body.errors[0].name], [400, "invalid_request", name], query);
    }
    const payload = { filters: { identity_id: ["a"] } };
    const posted = await app.inject({ method: "POST", url: `${url}?format=focus`, payload });
    t.strictSame([posted.statusCode, posted.json().errors[0].name], [400, "filters.identity_id"]);
    const whole = await app.inject({
      method: "POST",
      url: `${url}?format=focus`,
      payload: { filters: { product_type: ["STORAGE"] } },
    });
    t.strictSame([whole.statusCode, rowsOf(whole.rawPayload).length], [200, 9]);
  });

  await t.test("the metadata has a definition for each column of the file", async (t) => {
    for (const version of ["1.4", "1.2"]) {
      const { status, body } = await get(app, `${url}/focus-metadata?focus_version=${version}`);
      t.equal(status, 200);
      const [header = []]: string[][] = parse(
        (await download(`format=focus&focus_version=${version}`)).bytes,
      );
      const [schema] = body.Schema;
      t.strictSame(
        schema.ColumnDefinition.map(({ ColumnName }: { ColumnName: string }) => ColumnName),
        header,
      );
      t.equal(schema.FocusVersion, version);
      const again = await get(app, `${url}/focus-metadata?focus_version=${version}`);
      t.equal(again.body.Schema[0].SchemaId, schema.SchemaId);
      t.equal(schema.DatasetInstanceId, body.Recency[0].DatasetInstanceId);
    }
  });

  await t.test("a chargeback without its line is an error, not a row less", async (t) => {
    await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-09T00:00:00Z", amount: "1" }]);
    t.ok((await download("format=focus")).status >= 500);
  });
});
