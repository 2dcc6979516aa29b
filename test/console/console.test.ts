import t from "tap";
import { defaultExportColumns } from "../../src/export/columns.js";
import { unit } from "../allocate/staged-days.js";
import { publishFacts } from "../http/published-facts.js";
import { get } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../until.js";
import { api, days, hostile, period, startFigures } from "./figures-of-acme.js";
import {
  digitsOf,
  inCents,
  noBarriers,
  shows,
  startConsole,
  textOf,
  totals,
  withTwoPlaces,
} from "./pages.js";

t.test("the console shows the figures of the API", needs("chromium"), async (t) => {
  const { app, stores, open, troubles } = await startFigures(t);

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
