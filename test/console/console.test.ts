import t from "tap";
import { defaultExportColumns } from "../../src/export/columns.js";
import { unit } from "../allocate/staged-days.js";
import { gatherInto } from "../http/gathered-inventory.js";
import { publishFacts } from "../http/published-facts.js";
import { type ChargebackInput, get, insertBilling, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { recordTestDimensions } from "../tags/tagging.js";
import { until } from "../until.js";
import {
  digitsOf,
  inCents,
  noBarriers,
  shows,
  startConsole,
  tabTo,
  textOf,
  totals,
  withTwoPlaces,
} from "./pages.js";

/** Names that an upstream may return. The console must show them as text. */
const hostile = [
  "<img src=x onerror=document.title='hacked'>",
  "x".repeat(200),
  "\u202egnitekram",
  "🧾 Kosten & «Maß»",
  "a,b\\c",
];
const days = ["2026-03-01", "2026-03-02", "2026-03-03"];
const period = "start_date=2026-03-01&end_date=2026-03-03";

const rows: ChargebackInput[] = days.flatMap((day, at) => [
  ...hostile.map((identity_id, index) => ({
    timestamp: `${day}T00:00:00Z`,
    amount: `${index + 1}.${at}00000000007`,
    identity_id,
    product_type: "STORAGE",
  })),
  {
    timestamp: `${day}T00:00:00Z`,
    amount: "2.5",
    identity_id: "UNALLOCATED",
    product_type: "STORAGE",
    cost_type: "shared" as const,
    allocation_method: "terminal",
    allocation_detail: "owner_unknown",
  },
  {
    timestamp: `${day}T00:00:00Z`,
    amount: "0.75",
    identity_id: "sa-9",
    product_type: "NETWORK",
    resource_id: "r-2",
  },
]);

t.test("the console shows the figures of the API in every view", needs("chromium"), async (t) => {
  const { app, build, consoleFolder, stores, open, troubles } = await startConsole(t);
  await insertChargebacks(stores, "acme", rows);
  const micro = (product: string) =>
    days.map((day) => ({
      timestamp: `${day}T00:00:00Z`,
      product_type: product,
      resource_id: product === "STORAGE" ? "r-1" : "r-2",
      total_cost: rows
        .filter((row) => row.timestamp.startsWith(day) && row.product_type === product)
        .reduce((sum, { amount }) => sum + BigInt(withTwelve(amount)), 0n),
    }));
  await insertBilling(
    stores,
    "acme",
    [...micro("STORAGE"), ...micro("NETWORK")].map((line) => ({
      ...line,
      total_cost: fromTwelve(line.total_cost),
    })),
  );
  const api = "/api/v1/tenants/acme";

  await t.test("the overview shows the exact sums of the API", async (t) => {
    const page = await open(`/tenants/acme/overview?${period}`);
    const { body: sums } = await get(app, `${api}/chargebacks/breakdown?${period}`);
    const { body: proof } = await get(app, `${api}/reconciliation?${period}`);
    t.equal(digitsOf(await textOf(page, ".head .amount")), inCents(sums.totals[0].total_amount));
    await page.getByText("Adds up to the cent").click();
    t.equal(
      await textOf(page, ".proof"),
      [
        `Bill ${withTwoPlaces(proof.totals[0].billing_amount)} USD =`,
        `Allocated ${withTwoPlaces(proof.totals[0].allocated_amount)} +`,
        "Unallocated 7.50 13 % difference 0.00",
      ].join(" "),
    );
    t.equal(await page.locator(".proof .holds").count(), 1);
    t.equal(await page.locator(".chart rect.series").count(), days.length * (hostile.length + 2));
    t.equal(await page.title(), "Overview · acme · chargehouse", "a name is shown as text, not as HTML");
    const issues = page.getByRole("table", { name: "Costs that need attention" }).locator("tbody tr");
    t.strictSame(await issues.allTextContents(), ["The owner is unknown37.50 USD"]);
    await noBarriers(t, page, "the overview");
    await page.getByRole("link", { name: "The owner is unknown" }).click();
    await page.getByRole("heading", { name: "To fix" }).waitFor();
    t.equal(await page.getByLabel("Reason").inputValue(), "owner_unknown");
    // Unallocated lines are in another table.
    await shows(page, "[aria-label=Resources] tbody tr", 1);
    await page.getByLabel("Reason").selectOption("No identity is known");
    await page.getByText("No costs in this period have this cause.").waitFor();
  });

  await t.test(
    "the explorer shows the API's groups, filters and drills down by clicks, and supports the back button",
    async (t) => {
      const page = await open(`/tenants/acme/explorer?${period}&group_by=identity_id&limit=5`);
      const { body } = await get(app, `${api}/chargebacks/breakdown?${period}&limit=6`);
      t.strictSame(body.others, [], "a single other group is shown by its name");
      const shown = await page
        .locator("tbody tr")
        .evaluateAll((found) =>
          found.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent ?? "")),
        );
      t.strictSame(
        shown.map(([, amount = ""]) => digitsOf(amount)),
        body.groups.map(({ total_amount }: { total_amount: string }) => inCents(total_amount)),
      );
      t.equal(digitsOf(await textOf(page, "tfoot .amount")), inCents(body.totals[0].total_amount));
      await noBarriers(t, page, "the explorer");
      for (const name of [
        "CSV",
        "CSV for Excel",
        "Parquet",
        "SQL",
        "SQL over time",
        "This query in the API",
      ]) {
        const address = await page.getByRole("link", { name, exact: true }).getAttribute("href");
        t.equal((await app.inject({ url: address ?? "" })).statusCode, 200, name);
      }

      await page
        .locator("tbody")
        .getByRole("link", { name: hostile[3] ?? "", exact: true })
        .click();
      await shows(page, "tbody tr", 1);
      t.equal(new URL(page.url()).searchParams.get("identity_id"), hostile[3]);
      t.equal(new URL(page.url()).searchParams.get("group_by"), "resource_id");
      await page.goBack();
      await shows(page, "tbody tr", 7);
      t.equal(new URL(page.url()).searchParams.get("identity_id"), null);

      await page.getByRole("button", { name: "+ Add a filter" }).click();
      await page.getByLabel("Column").selectOption("product_type");
      await page.getByLabel("Search values").fill("netw");
      await shows(page, ".values li", 1);
      await page.getByRole("button", { name: "Only" }).click();
      await shows(page, "tbody tr", 1);
      t.equal(new URL(page.url()).searchParams.get("product_type"), "NETWORK");
      t.equal(digitsOf(await textOf(page, "tfoot .amount")), "2.25");
      await page.getByRole("button", { name: "Remove the filter Product is NETWORK" }).click();
      await shows(page, "tbody tr", 7);
      t.equal(new URL(page.url()).searchParams.has("product_type"), false);

      await page.getByRole("button", { name: "Exclude" }).click();
      await page.getByRole("button", { name: "Remove the filter Product is not NETWORK" }).waitFor();
      const others = await get(app, `${api}/chargebacks/breakdown?${period}&not:product_type=NETWORK`);
      await totals(page, others.body);
      await page.getByLabel("Search values").fill("");
      await shows(page, ".values li", 2);
      await page.getByRole("button", { name: "Only" }).nth(0).click();
      await page.getByRole("button", { name: "Only" }).nth(1).click();
      await page.getByRole("button", { name: "Remove the filter Product is" }).waitFor();
      t.same(
        new Set(new URL(page.url()).searchParams.getAll("product_type")),
        new Set(["NETWORK", "STORAGE"]),
      );
      t.equal(new URL(page.url()).searchParams.has("not:product_type"), false);
      await totals(page, body);
    },
  );

  await t.test(
    "the explorer reconciles the shown lines, says what its other filters leave of them, and aligns amounts",
    async (t) => {
      const bill = withTwoPlaces(
        (await get(app, `${api}/reconciliation?${period}`)).body.totals[0].billing_amount,
      );
      const all = await open(`/tenants/acme/explorer?${period}`);
      t.match(await textOf(all, ".proof"), new RegExp(`^Bill ${bill} USD = Allocated .* difference 0\\.00$`));
      const rights = await all
        .locator("tr > .leads .amount")
        .evaluateAll((found) => [
          ...new Set(found.map((each) => Math.round(each.getBoundingClientRect().right))),
        ]);
      t.equal(rights.length, 1, "all amounts of the column and their total are aligned");
      const ofLines = (await get(app, `${api}/reconciliation?${period}&product_type=NETWORK`)).body.totals[0];
      t.equal(ofLines.billing_amount, "2.25");
      const lines = await open(`/tenants/acme/explorer?${period}&product_type=NETWORK`);
      t.match(
        await textOf(lines, ".proof"),
        /^Bill of these lines 2\.25 USD = Allocated .* difference 0\.00$/,
      );
      const storage = (await get(app, `${api}/reconciliation?${period}&product_type=STORAGE`)).body.totals[0];
      const some = await open(
        `/tenants/acme/explorer?${period}&product_type=STORAGE&identity_id=UNALLOCATED`,
      );
      t.match(
        await textOf(some, ".proof"),
        new RegExp(
          `^Bill of these lines ${withTwoPlaces(storage.billing_amount)} USD = .* difference 0\\.00 With these filters 7\\.50 USD [\\d.]+ %$`,
        ),
      );
      const none = await open(`/tenants/acme/explorer?${period}&product_type=NETWORK&identity_id=nobody`);
      await none.getByText("Nothing matches").waitFor();
      t.match(
        await textOf(none, ".proof"),
        /^Bill of these lines 2\.25 USD = .* difference 0\.00 With these filters 0\.00 USD 0\.0 %$/,
        "filters that match nothing leave 0 of the bill",
      );
      const requests: string[] = [];
      all.on("request", (request) => {
        const [, path] = new URL(request.url()).pathname.split(`${api}/`);
        if (path !== undefined) requests.push(path);
      });
      await all.getByLabel("Period", { exact: true }).first().selectOption("last7");
      await all.getByText("Nothing matches").waitFor();
      t.strictSame(
        requests.sort(),
        ["chargebacks/breakdown", "chargebacks/breakdown", "events", "reconciliation"],
        "another period sends three requests, and one for the number in the navigation",
      );
    },
  );

  await t.test("the explorer can be used by keyboard alone", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}&group_by=product_type`);
    await tabTo(page, "+ Add a filter");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await shows(page, ".chooser", 0);
    t.equal(await page.evaluate("document.activeElement.textContent"), "+ Add a filter");
    await tabTo(page, "NETWORK");
    await page.keyboard.press("Enter");
    await totals(page, { totals: [{ total_amount: "2.25" }] });
    t.equal(new URL(page.url()).searchParams.get("product_type"), "NETWORK");
    await tabTo(page, "Show the rows");
    await page.keyboard.press("Enter");
    await shows(page, ".rows tbody tr", 3);
    const why = "Why sa-9 pays 0.75";
    await tabTo(page, why);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Why this amount" }).waitFor();
    await page.keyboard.press("Escape");
    await until("the drawer is closed", async () => !new URL(page.url()).searchParams.has("why"));
    t.equal(
      await page.evaluate("document.activeElement.getAttribute('aria-label')"),
      why,
      "the focus returns to the link",
    );
  });

  await t.test("the worklist can be used by keyboard alone", async (t) => {
    const page = await open(`/tenants/acme/worklist?${period}`);
    await tabTo(page, "The owner is unknown");
    await page.keyboard.press("Enter");
    await page.waitForFunction("location.search.includes('cause_product=STORAGE')");
    await tabTo(page, "Assign r-1");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByLabel("Identity or team").waitFor();
    await tabTo(page, "Identity or team");
    await page.keyboard.type("payments");
    t.equal(await page.getByLabel("Identity or team").inputValue(), "payments");
    await page.keyboard.press("Escape");
    await until("it is closed", async () => !new URL(page.url()).searchParams.has("assign"));
  });

  await t.test(
    "links of the overview and the worklist lead to the figures they show, whatever the filters are",
    async (t) => {
      const page = await open(`/tenants/acme/explorer?${period}&product_type=NETWORK`);
      await page.getByRole("link", { name: "To fix" }).click();
      const row = `${period}&identity_id=UNALLOCATED&resource_id=r-1&product_type=STORAGE`;
      await page.getByRole("link", { name: "r-1", exact: true }).click();
      await totals(page, { totals: [{ total_amount: "7.5" }] });
      t.equal(new URL(page.url()).search, `?${row}&group_by=allocation_method`);
      const worklist = await open(
        `/tenants/acme/worklist?${period}&not:identity_id=UNALLOCATED&allocation_detail=owner_unknown`,
      );
      await worklist.getByRole("link", { name: "r-1", exact: true }).click();
      await totals(worklist, { totals: [{ total_amount: "7.5" }] });
      t.equal(
        new URL(worklist.url()).search,
        `?${period}&allocation_detail=owner_unknown&identity_id=UNALLOCATED&resource_id=r-1&product_type=STORAGE&group_by=allocation_method`,
        "the link keeps the worklist's own filter",
      );
      const overview = await open(`/tenants/acme/overview?${period}&product_type=NETWORK`);
      await overview.getByRole("link", { name: hostile[3] ?? "", exact: true }).click();
      const filter = `identity_id=${encodeURIComponent(hostile[3] ?? "")}`;
      await totals(overview, (await get(app, `${api}/chargebacks/breakdown?${period}&${filter}`)).body);
    },
  );

  await t.test("a copied link shows the same view", async (t) => {
    const link = `/tenants/acme/explorer?${period}&group_by=product_type&group_by=cost_type&order=total_amount.asc&chart=area&compare=previous`;
    const first = await open(link);
    const second = await open(new URL(first.url()).pathname + new URL(first.url()).search);
    t.equal(await textOf(first, "main"), await textOf(second, "main"));
    const products = await second.locator("tbody tr td:first-child").allInnerTexts();
    t.strictSame(
      products.map((text) => text.trim()),
      ["NETWORK", "STORAGE", "STORAGE"],
    );
    t.equal(await second.locator(".chart path.series").count(), 3);
  });

  await t.test("the worklist, the runs and the list of tenants show the figures of the API", async (t) => {
    const worklist = await open(`/tenants/acme/worklist?${period}`);
    t.match(
      await textOf(worklist, "[aria-label=Resources] tbody tr"),
      /^r-1 STORAGE UNALLOCATED The owner is unknown 3 7\.50 USD Assign$/,
    );
    await noBarriers(t, worklist, "the worklist");
    const runs = await open(`/tenants/acme/runs?${period}`);
    t.equal(await runs.locator(".coverage li").count(), 3);
    await noBarriers(t, runs, "the runs");
    const tenants = await open(`/?${period}`, { dark: true });
    await shows(tenants, "tbody tr", 2);
    t.strictSame(
      await tenants.locator("tbody tr td:first-child").allInnerTexts(),
      ["acme", "globex"],
      "every tenant is listed",
    );
    await shows(tenants, "tbody .amount", 1);
    const cells = await tenants
      .locator("tr")
      .evaluateAll((found) =>
        found.slice(1).map((row) => [...row.children].slice(0, 4).map((cell) => cell.textContent ?? "")),
      );
    const whole = inCents((await get(app, `${api}/reconciliation?${period}`)).body.totals[0].billing_amount);
    const { body: ready } = await get(app, "/api/v1/readiness");
    const [acme, globex] = ready.tenants.map(({ tables_ready }: { tables_ready: boolean }) =>
      tables_ready ? "This tenant has not run yet." : "Its store is not ready",
    );
    const shownCells = cells.map((row) =>
      row.map((text) =>
        text.replace(/^(Waiting for its store|Its store does not respond)$/, "Its store is not ready"),
      ),
    );
    t.strictSame(shownCells, [
      ["acme", `${whole} USD`, acme, "0"],
      ["globex", "", globex, "0"],
      ["Total", `${whole} USD`, "", "0"],
    ]);
    await noBarriers(t, tenants, "the tenants, in the dark");
    await tenants.getByRole("link", { name: "globex" }).click();
    await tenants.getByText("No costs in this period").waitFor();
  });

  await t.test("a statement shows and exports the lines of the API", async (t) => {
    const page = await open(`/tenants/acme/statement?${period}`);
    await shows(page, "tbody tr", 7);
    await noBarriers(t, page, "the choice of a statement");
    await page.getByLabel("Search identities").fill("kosten");
    await shows(page, "tbody tr", 1);
    await page.getByRole("link", { name: hostile[3] ?? "" }).click();
    await page.getByRole("heading", { name: `Statement of ${hostile[3]}` }).waitFor();
    const filter = `identity_id=${encodeURIComponent(hostile[3] ?? "")}`;
    const { body } = await get(app, `${api}/chargebacks/breakdown?${period}&${filter}`);
    await totals(page, body);
    await shows(page, ".loading", 0);
    const whole = inCents(body.totals[0].total_amount);
    t.equal(await textOf(page, ".sums .whole"), `Charged ${whole} USD · 22 % of the bill`);
    t.equal(await textOf(page, "tbody tr"), `STORAGE r-1 ${whole} 0.00 ${whole}`);
    t.equal(await page.locator(".methods").count(), 0, "no rule shares its costs with others");
    t.equal(await page.locator(".proof .holds").count(), 1);
    await noBarriers(t, page, "a statement");
    const file = await page.getByRole("link", { name: "Rows as CSV", exact: true }).getAttribute("href");
    const csv = await app.inject({ url: file ?? "" });
    t.equal(csv.statusCode, 200, csv.body.slice(0, 300));
    const [head = "", table = ""] = csv.body.trim().split("\n\n");
    t.match(head, /^Tenant,acme\nPeriod \(UTC\),2026-03-01,.*\nCovered days,\d+ of \d+\nState,\w+$/);
    const amounts = table.split("\n").slice(1);
    t.equal(amounts.length, body.totals[0].row_count);
    const at = defaultExportColumns.indexOf("amount") + 1;
    const columns = [...defaultExportColumns.slice(0, at), "currency", ...defaultExportColumns.slice(at)];
    t.equal(table.split("\n")[0], columns.join(), "the file has the API's default columns and the currency");
    t.ok(amounts.every((line) => line.includes("Kosten")));
    await page.emulateMedia({ media: "print" });
    t.strictSame(
      await Promise.all(
        ["header", ".controls", "tfoot"].map((part) => page.locator(part).first().isVisible()),
      ),
      [false, false, true],
      "only the statement is printed, with its total",
    );
  });

  await t.test("the inventory can be searched and filtered, and shows costs", async (t) => {
    const resources = ["r-1", "r-2", hostile[0] ?? ""].map((resource_id, index) => ({
      resource_id,
      resource_type: index === 1 ? "connector" : "cluster",
      display_name: index === 0 ? "orders" : null,
      owner_id: "sa-9",
    }));
    const identities = [{ identity_id: "sa-9", metadata: { team: "search" } }];
    await gatherInto(stores, "acme", { at: "2026-03-04T00:00:00Z", resources, identities });
    const page = await open(`/tenants/acme/inventory?${period}`);
    await shows(page, "tbody tr", 2);
    await noBarriers(t, page, "the inventory");
    const query = `${period}&group_by=resource_id&resource_id=r-1`;
    const { body } = await get(app, `${api}/chargebacks/breakdown?${query}`);
    const cost = `${inCents(body.totals[0].total_amount)} USD`;
    const [larger, smaller] = [`orders r-1 ${cost} cluster sa-9 `, "r-2 2.25 USD connector sa-9 "];
    const nth = async (row: number) =>
      (await textOf(page, `tbody tr:nth-child(${row})`)).replace(/(sa-9 ).*/, "$1");
    t.equal(await nth(1), larger);
    t.equal(await nth(2), smaller);
    await page.getByRole("button", { name: "Cost in this period" }).click();
    await until("the smallest comes first", async () => (await nth(1)) === smaller);
    t.equal(new URL(page.url()).searchParams.get("order"), "cost.asc");
    await page.getByLabel("Also those without cost").check();
    await shows(page, "tbody tr", 3);
    t.equal(await nth(2), larger);
    await page.getByLabel("Type").selectOption("connector");
    await shows(page, "tbody tr", 1);
    await shows(page, "tbody .amount", 1);
    t.equal(await nth(1), smaller);
    await page.getByLabel("Type").selectOption("");
    await page.getByLabel("Search ids and names").fill("orde");
    await shows(page, "tbody tr", 1);
    t.equal(new URL(page.url()).searchParams.get("search"), "orde");
    await page.getByRole("link", { name: "Identities" }).click();
    await page.getByLabel("Search ids and names").fill("sa-9");
    await page.locator("tbody").getByRole("link", { name: "sa-9", exact: true }).waitFor();
    await shows(page, "tbody tr", 1);
    t.match(await textOf(page, "tbody tr"), /^sa-9 2\.25 USD principal search /);
    await page.getByRole("link", { name: "sa-9", exact: true }).click();
    await totals(page, { totals: [{ total_amount: "2.25" }] });
  });

  await t.test("the history of a resource shows its lifetimes and owners", async (t) => {
    const identities = [{ identity_id: "sa-9", metadata: { team: "search" } }];
    const [, ...others] = ["r-1", "r-2", hostile[0] ?? ""].map((resource_id, index) => ({
      resource_id,
      resource_type: index === 1 ? "connector" : "cluster",
    }));
    await gatherInto(stores, "acme", { at: "2026-03-05T00:00:00Z", resources: others, identities });
    const again = { resource_id: "r-1", owner_id: hostile[0] ?? "", display_name: "orders" };
    await gatherInto(stores, "acme", {
      at: "2026-03-06T12:30:00Z",
      resources: [again, ...others],
      identities,
    });
    const page = await open(`/tenants/acme/inventory?${period}`);
    await page.getByRole("link", { name: "History of r-1" }).click();
    const drawer = page.getByRole("dialog", { name: "History" });
    const states = async () =>
      (await drawer.locator("tbody tr").allInnerTexts()).map((row) => row.replace(/\s+/g, " ").trim());
    await until("three states", async () => (await states()).length === 3);
    const march = drawer.locator(".bars li").filter({ hasText: "Mar 2026" }).locator("bdi");
    t.equal(await march.textContent(), `sa-9 → ${hostile[0]}`);
    const wanted = [
      `6 Mar 2026, 12:30 UTC now active ${hostile[0]} orders`,
      "5 Mar 2026, 00:00 UTC 6 Mar 2026, 12:30 UTC deleted sa-9 orders",
      "earliest known 5 Mar 2026, 00:00 UTC active sa-9 orders",
    ];
    t.strictSame(await states(), wanted);
    await noBarriers(t, page, "the history of a resource");
    const link = new URL(page.url());
    t.equal(link.searchParams.get("history"), "r-1");
    const copied = await open(link.pathname + link.search);
    await copied.getByRole("dialog").getByText("earliest known").waitFor();
    await page.keyboard.press("Escape");
    await until("it is closed", async () => !new URL(page.url()).searchParams.has("history"));
    const person = await open(`/tenants/acme/inventory?${period}&kind=identities&history=sa-9`);
    await person.getByRole("dialog").locator("tbody").getByText("search", { exact: true }).waitFor();
    const none = await open(`/tenants/acme/inventory?${period}&history=none`);
    await none.getByRole("dialog").getByText("The tenant has no such resource.").waitFor();
  });

  await t.test("tagging by filters shows a preview first, and the coverage afterwards", async (t) => {
    const covered = ".card:not(.each-tag) tbody tr";
    await recordTestDimensions(stores, "acme");
    const page = await open(`/tenants/acme/tags?${period}&product_type=NETWORK`);
    await page.getByText("There are no labels yet").waitFor();
    await noBarriers(t, page, "no tags");
    await page.getByLabel("Key", { exact: true }).fill("squad");
    await page.getByLabel("Value", { exact: true }).fill("<b>Netz & Co, \\");
    await page.getByLabel("Your name").fill("ada");
    await page.getByRole("button", { name: "Preview" }).click();
    await page
      .getByText(
        "1 would get the label, 0 would get another value, 0 already have the key and stay unchanged.",
      )
      .waitFor();
    t.equal((await get(app, `${api}/tags`)).body.total, 0, "a preview changes nothing");
    await page.getByRole("button", { name: "Label 1 of them" }).click();
    await page.getByText("Done: 1 labelled, 0 changed.").waitFor();
    await shows(page, covered, 1);
    t.equal(await textOf(page, covered), "<b>Netz & Co, \\ 100 % 2.25 USD");
    await page.getByRole("button", { name: "Preview" }).click();
    await page
      .getByText(
        "0 would get the label, 0 would get another value, 1 already have the key and stay unchanged.",
      )
      .waitFor();
    t.equal(await page.getByRole("button", { name: /of them/ }).count(), 0, "there is nothing left to tag");
    await noBarriers(t, page, "tags");
    const [{ tag_key, display_name, created_by } = {}] = (await get(app, `${api}/tags`)).body.items;
    t.strictSame([tag_key, display_name, created_by], ["squad", "<b>Netz & Co, \\", "ada"]);

    const unpaid = await open(`/tenants/acme/tags?${period}&identity_id=UNALLOCATED&key=squad`);
    await shows(unpaid, covered, 1);
    t.match(await textOf(unpaid, covered), /^\(without this label\) 100 % 7\.50 USD$/);
    await unpaid.getByLabel("Value", { exact: true }).fill("x");
    await unpaid.getByLabel("Your name").fill("ada");
    await unpaid.route("**/bulk-by-filter", (route) =>
      route.fulfill({ status: 503, json: { detail: "Later." } }),
    );
    await unpaid.getByRole("button", { name: "Preview" }).click();
    await unpaid.getByRole("alert").getByText("Later.").waitFor();
  });

  await t.test("the drawer explains an amount from the row back to the bill", async (t) => {
    const [day = ""] = days;
    const measured = (identity_id: string) => ({
      day,
      metric: "bytes_in",
      resource_id: "lkc-3",
      identity_id,
      weight: 1_500_000n,
    });
    await publishFacts(stores, "globex", 1, {
      lines: [
        {
          key: "",
          currency: "USD",
          day,
          resource_id: "lkc-3",
          product_type: "CKU",
          cost: 10n * unit + unit / 1000n,
        },
      ],
      usage: ["sa-1", "sa-2", "sa-3"].map(measured),
      sets: [{ day, scope: "resource_active", resource_id: "lkc-3", identity_id: "sa-1" }],
      gaps: [],
      decimalPlaces: 2,
    });
    const page = await open(`/tenants/globex/explorer?start_date=${day}&end_date=${day}&identity_id=sa-1`);
    await page.getByRole("button", { name: "Show the rows" }).click();
    await page.getByRole("link", { name: "Why sa-1 pays 2.341" }).click();
    const drawer = page.getByRole("dialog", { name: "Why this amount" });
    const sentence =
      "sa-1 pays 2.34 of the 7.00 USD for CKU of lkc-3 on 1 Mar 2026 because it moved 33.3 % of its bytes, 2 of 5 bytes.";
    await drawer.getByRole("heading", { name: sentence }).waitFor();
    await drawer.getByText("The exact calculation").click();
    // biome-ignore lint/performance/useDomNodeTextContent: what a visitor sees
    const text = (await drawer.innerText()).replace(/\s+/g, " ");
    for (const part of [
      "Bill 10.00 USD Rule 7.00 USD for CKU: 70 % × 10.00 Share 33.3 % by usage: 2 of 5 bytes Amount 2.34 USD",
      "The line of the bill: 10.001 USD",
      "0.7 of it: 7.001 USD ← this part",
      "Its users, by measured usage (bytes_in, bytes_out): used",
      "3 identities share it",
      "sa-1 2 33.3 % 2.34",
      "Sorted by identity, the weights up to this one add up to 1.5 of 4.5. (700 ticks of 0.01 × 1.5 + 3.813696) ÷ 4.5, rounded down, minus the same without its own weight of 1.5, is 234 ticks. The offset 3.813696 is derived from the line, so that rounding favours no one. Plus 0.001, which is less than a tick. It goes to one identity, chosen in the same way.",
    ])
      t.ok(text.includes(part), `${part}: ${text}`);
    await noBarriers(t, page, "the drawer");
    const link = new URL(page.url());
    const copied = await open(link.pathname + link.search);
    await copied.getByRole("dialog").getByRole("heading", { name: sentence }).waitFor();
    await page.keyboard.press("Escape");
    await until("the drawer is closed", async () => !new URL(page.url()).searchParams.has("why"));
    t.equal(await page.getByRole("dialog").count(), 0);
    for (const why of ["x", "1,2,3"]) {
      const wrong = await open(`${link.pathname}?why=${encodeURIComponent(why)}`);
      await wrong.getByRole("dialog").getByText("This link does not point to a row").waitFor();
    }
    const unknown = await open(`${link.pathname}?why=1,${day}T00:00:00Z,0,USD`);
    await unknown.getByRole("dialog").getByRole("alert").waitFor();
  });

  await t.test("no view has to be scrolled sideways on a phone", async (t) => {
    for (const view of [
      "overview",
      "explorer",
      "statement",
      "rules",
      "worklist",
      "inventory",
      "tags",
      "deliveries",
      "runs",
    ]) {
      const page = await open(`/tenants/acme/${view}?${period}`, { width: 360 });
      const [wide, window] = await page.evaluate<number[]>(
        "[document.documentElement.scrollWidth, innerWidth]",
      );
      t.ok(Number(wide) <= Number(window), `${view}: ${wide} of ${window}`);
      const beside = await page
        .locator(".table")
        .evaluateAll((found) => found.filter((each) => each.scrollWidth > each.clientWidth).length);
      t.equal(beside, 0, `${view}: no table has to be scrolled sideways`);
      const header = await page.locator("header").boundingBox();
      t.ok(header !== null && header.height < 50, `${view}: the header is one line`);
    }
  });

  await t.test("a long table on a phone shows its first rows, and more with a button", async (t) => {
    const day = "2026-02-10";
    const many = Array.from({ length: 320 }, (_, index) => ({
      timestamp: `${day}T00:00:00Z`,
      amount: `${1000 - index}.125`,
      identity_id: `an-identity-with-quite-a-long-name-${index}`,
    }));
    await insertChargebacks(stores, "acme", many);
    const address = `/tenants/acme/explorer?start_date=${day}&end_date=${day}&group_by=identity_id&limit=1000`;
    const phone = await open(address, { width: 360 });
    await shows(phone, "tbody tr", 300);
    const beside = await phone.locator(".table").evaluate((table) => table.scrollWidth - table.clientWidth);
    t.equal(beside, 0);
    await phone.getByRole("button", { name: "Show more rows (20 left)" }).click();
    await shows(phone, "tbody tr", 320);
    t.equal(await phone.getByRole("button", { name: "Show more" }).count(), 0);
    const desk = await open(address);
    await desk.locator(".table.windowed").waitFor();
  });

  await t.test("the list of statements says how many it leaves out, and when nothing is found", async (t) => {
    const days = "start_date=2026-02-10&end_date=2026-02-10";
    const page = await open(`/tenants/acme/statement?${days}`);
    await shows(page, "tbody tr", 51);
    t.equal(await textOf(page, "tbody tr:last-child"), "270 more: search for them 220,218.75 USD");
    await page.getByLabel("Search identities").fill("NAME-319");
    await shows(page, "tbody tr", 1);
    t.equal(await textOf(page, "tbody tr"), "an-identity-with-quite-a-long-name-319 681.13 USD");
    await page.getByLabel("Search identities").fill("nobody");
    await page.getByText("No identity found in this period").waitFor();
    t.equal(await page.locator("table").count(), 0);
    const empty = "start_date=2026-01-01&end_date=2026-01-01";
    for (const view of ["statement", "overview", "worklist"]) {
      const none = await open(`/tenants/acme/${view}?${empty}`);
      t.equal(await none.locator(".proof, table").count(), 0, `${view}: no empty table or reconciliation`);
      await none.getByText(/^(No costs in this period|Nothing in this period needs attention)$/).waitFor();
    }
  });

  await t.test(
    "pages of rows and drawers keep the scroll position, another view starts at the top",
    async (t) => {
      const days = "start_date=2026-02-10&end_date=2026-02-10";
      const page = await open(`/tenants/acme/explorer?${days}&rows=1`);
      const scrolled = () => page.evaluate<number>("Math.round(scrollY)");
      await page.getByRole("link", { name: "next ›" }).scrollIntoViewIfNeeded();
      const there = await scrolled();
      t.ok(there > 500, `${there}`);
      await page.getByRole("link", { name: "next ›" }).click();
      await page.getByText("page 2 of 7").waitFor();
      await shows(page, ".rows .stale", 0);
      t.equal(await page.locator(".rows tbody tr").count(), 50);
      t.equal(await scrolled(), there, "the next page keeps the scroll position");
      await page.getByRole("link", { name: /^Why / }).last().click();
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await until("the drawer is closed", async () => !new URL(page.url()).searchParams.has("why"));
      t.equal(await scrolled(), there, "a drawer keeps the scroll position");
      await page.getByRole("link", { name: "To fix" }).click();
      await page.getByRole("heading", { name: "To fix" }).waitFor();
      t.equal(await scrolled(), 0, "another view starts at the top");
    },
  );

  await t.test("labels of hours do not overlap", async (t) => {
    const day = "2026-02-12";
    const hours = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));
    await insertChargebacks(
      stores,
      "acme",
      hours.map((hour) => ({ timestamp: `${day}T${hour}:00:00Z`, amount: "1", identity_id: "sa-9" })),
    );
    for (const [width, every] of [
      [1280, 3],
      [360, 12],
    ] as const) {
      const page = await open(`/tenants/acme/explorer?start_date=${day}&end_date=${day}&time_bucket=hour`, {
        width,
      });
      const labels = page.locator(".chart .tick[text-anchor=middle]");
      t.strictSame(
        await labels.allTextContents(),
        hours.filter((_, index) => index % every === 0).map((hour) => `12 Feb ${hour}:00`),
      );
      const boxes = await labels.evaluateAll((found) =>
        found.map((each) => each.getBoundingClientRect()).map(({ left, right }) => [left, right] as const),
      );
      const ends = [...boxes.map(([left]) => left).slice(1), width];
      t.ok(
        boxes.every(([, right], index) => right < (ends[index] ?? 0)),
        `${width}: ${JSON.stringify(boxes)}`,
      );
    }
  });

  await t.test("a long statement is printed completely, without controls", async (t) => {
    const day = "2026-02-11";
    const product =
      "A product whose name is far too long for a column of a table, Enterprise Edition, each year";
    await insertChargebacks(
      stores,
      "acme",
      Array.from({ length: 320 }, (_, index) => ({
        timestamp: `${day}T00:00:00Z`,
        amount: `${index + 1}.5`,
        identity_id: "fleet",
        product_type: product,
        resource_id: `node-${index}`,
      })),
    );
    const address = `/tenants/acme/statement?start_date=${day}&end_date=${day}&identity_id=fleet`;
    for (const width of [1280, 360]) {
      const page = await open(address, { width });
      // In a tagged PDF, each table row is an element.
      const file = (await page.pdf({ format: "A4", tagged: true })).toString("latin1");
      t.equal(
        file.match(/\/S \/TR\b/g)?.length,
        322,
        `a head, 320 lines and the total, from ${width} pixels`,
      );
      const drawn = "dispatchEvent(new Event('beforeprint')); document.querySelectorAll('tbody tr').length";
      t.equal(await page.evaluate(drawn), 320, "all rows are rendered within the beforeprint event");
      await page.emulateMedia({ media: "print" });
      const cut = await page
        .locator("td")
        .evaluateAll((found) => found.filter((each) => each.scrollWidth > each.clientWidth).length);
      t.equal(cut, 0, "no name is truncated");
      const onScreenOnly = ["header", ".rows", ".chip button", ".chip.add", ".more"];
      for (const part of onScreenOnly)
        t.equal(await page.locator(part).filter({ visible: true }).count(), 0, `${part} is not printed`);
      await page.emulateMedia({ media: "screen" });
      await page.getByRole("button", { name: "Show the rows" }).waitFor();
    }
    const withRows = await open(`${address}&rows=1`);
    await withRows.emulateMedia({ media: "print" });
    t.equal(
      await withRows.locator(".rows tbody tr").filter({ visible: true }).count(),
      50,
      "open rows are printed",
    );
  });

  await t.test(
    "a new period in the explorer sends four requests, and percentages of changes are aligned",
    async (t) => {
      const at = (first: string, last: string) =>
        `start_date=${first}&end_date=${last}&group_by=identity_id&compare=previous`;
      const page = await open(`/tenants/acme/explorer?${at("2026-03-02", "2026-03-02")}`);
      const requests: string[] = [];
      page.on("request", (request) => {
        const { pathname } = new URL(request.url());
        if (pathname.startsWith("/api/")) requests.push(pathname.split("/acme/")[1] ?? pathname);
      });
      await page.getByLabel("To", { exact: true }).fill("2026-03-03");
      await until("the period is shown", async () =>
        new URL(page.url()).search.includes("end_date=2026-03-03"),
      );
      await until("the requests are sent", async () => requests.length > 3);
      await page.waitForTimeout(500);
      t.strictSame(requests.sort(), [
        "chargebacks/breakdown",
        "chargebacks/breakdown",
        "events",
        "reconciliation",
      ]);
      const lefts = await page
        .locator("td .change .percent")
        .evaluateAll((found) => found.map((each) => Math.round(each.getBoundingClientRect().left)));
      t.ok(lefts.length > 1);
      t.equal(new Set(lefts).size, 1, lefts.join());
    },
  );

  await t.test(
    "the page follows a run that it started to its end, and shows why a tenant is suspended",
    async (t) => {
      const { postgres } = stores;
      const id = "0b7e1f5e-0000-4000-8000-000000000001";
      const set = (values: string) => postgres.query(`UPDATE runs SET ${values} WHERE run_id = '${id}'`);
      await postgres.query(`
      INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only') ON CONFLICT DO NOTHING;
      INSERT INTO leases (tenant_name, holder, epoch, expires_at) VALUES ('acme', 'w', 9, now() + interval '1 hour')`);
      const page = await open(`/tenants/acme/runs?${period}`);
      await page.getByRole("button", { name: "Run now" }).waitFor();
      await page.route("**/pipeline/run", async (route) => {
        await postgres.query(
          `INSERT INTO runs (run_id, tenant_name, trigger, epoch, status, stage) VALUES ('${id}', 'acme', 'api', 9, 'running', 'gathering')`,
        );
        const json = { tenant_name: "acme", status: "started", run_id: id, message: "started" };
        await route.fulfill({ status: 202, json });
      });
      await page.getByRole("button", { name: "Run now" }).click();
      const stage = page.locator(".stages [aria-current=step]");
      await stage.getByText("Gather").waitFor();
      await noBarriers(t, page, "a run in progress");
      await set(
        "stage = 'publishing', stage_date = '2026-03-02', dates_pending = 3, dates_calculated = 2, chargeback_rows_written = 14",
      );
      await stage.getByText("Publish").waitFor();
      await page.getByText("2 of 3 days published, 14 rows. Now: 2 Mar 2026").waitFor();
      await set(
        `status = 'completed', stage = NULL, stage_date = NULL, ended_at = now(), dates_calculated = 3, notes = '["aws: no bill is there"]'`,
      );
      await shows(page, ".stages", 0);
      await page.getByRole("button", { name: "Run now", disabled: false }).waitFor();
      t.match(await textOf(page, ".table tbody tr"), / api completed .* 3 14 1 note$/);
      await page.getByText("1 note").click();
      await page.getByText("aws: no bill is there").waitFor();
      await postgres.query("UPDATE tenants SET suspended_at = now(), suspension_reason = '5 gathers failed'");
      // The service caches readiness for two seconds, which do not pass here. So use another service.
      const other = await build({ consoleFolder });
      const at = await other.listen({ host: "127.0.0.1", port: 0 });
      const suspended = await open(`/tenants/acme/runs?${period}`, { at });
      await suspended.getByText("Suspended until the service restarts: 5 gathers failed").waitFor();
      await postgres.query("UPDATE tenants SET suspended_at = NULL, suspension_reason = NULL");
    },
  );

  await t.test("an error of the API is shown, with a button to retry", async (t) => {
    const page = await open(`/tenants/acme/runs?${period}`);
    let fails = true;
    await page.route("**/chargebacks/breakdown?*", (route) =>
      fails
        ? route.fulfill({
            status: 503,
            contentType: "application/problem+json",
            body: JSON.stringify({
              title: "Too busy",
              status: 503,
              detail: "Ask again soon.",
              code: "too_busy",
            }),
          })
        : route.continue(),
    );
    await page.getByRole("link", { name: "Explore" }).click();
    await page.getByRole("alert").waitFor();
    t.match(await textOf(page, "[role=alert]"), /Ask again soon\. too_busy/);
    fails = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator("tfoot").waitFor();
    t.equal(await page.getByRole("alert").count(), 0);
  });

  await t.test("an unknown address shows an error page", async (t) => {
    const page = await open("/tenants/nobody/overview");
    t.match(await textOf(page, "main"), /You have no access to nobody, or it does not exist/);
  });

  t.strictSame(
    // The tests above provoke these errors.
    troubles.filter((trouble) => !/status of (503|404)/.test(trouble)),
    [],
    "no other errors in the browser, and no requests to other hosts",
  );
});

t.test("the service serves the files and the paths of the console, and nothing else", async (t) => {
  const { app, build, config } = await startConsole(t);
  const page = await app.inject("/tenants/acme/overview");
  t.equal(page.statusCode, 200);
  t.match(String(page.headers["content-security-policy"]), /^default-src 'self';/);
  t.equal(page.headers["cache-control"], "no-cache");
  const [script = ""] = /\/assets\/main-[A-Z0-9]+\.js/.exec(page.body) ?? [];
  const asset = await app.inject({ url: script, headers: { "accept-encoding": "br" } });
  t.equal(asset.statusCode, 200);
  t.equal(asset.headers["content-encoding"], "br");
  t.equal(asset.headers["cache-control"], "public, max-age=31536000, immutable");
  const main = await app.inject(script);
  const needed = [...main.body.matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)].map(([, name]) => name);
  const preloaded = [...page.body.matchAll(/rel="modulepreload" href="\/assets\/([\w-]+\.js)"/g)];
  t.ok(needed.length > 0);
  t.strictSame(
    preloaded.map(([, name]) => name).sort(),
    needed.sort(),
    "all static imports of the main script are preloaded",
  );
  for (const [url, status] of [
    ["/assets/", 404],
    ["/assets/none.js", 404],
    ["/assets/..%2findex.html", 404],
    [`${script}.br`, 404],
    ["/tenants/acme", 404],
    ["/tenants/acme/overview/more", 404],
    ["/index.html", 404],
  ] as const)
    t.equal((await app.inject(url)).statusCode, status, url);
  t.equal((await app.inject({ url: "/", headers: { host: "evil.example" } })).statusCode, 421);

  const without = await build({ config: { ...config, api: { ...config.api, console: false } } });
  t.equal((await without.inject("/")).statusCode, 404, "the console can be switched off");
  const unbuilt = await build({ consoleFolder: "/nowhere" });
  const response = await unbuilt.inject("/");
  t.equal(response.statusCode, 404);
  t.match(response.json().detail, /npm run build/);
});

function withTwelve(amount: string): string {
  const [whole = "", fraction = ""] = amount.split(".");
  return whole + fraction.padEnd(12, "0");
}

function fromTwelve(units: bigint): string {
  const digits = units.toString().padStart(13, "0");
  return `${digits.slice(0, -12)}.${digits.slice(-12)}`;
}
