/** States of the console that need a slow service or hostile names, in a real browser with a real service. */
import type { Page } from "playwright-core";
import t from "tap";
import { copyNames } from "../../src/ingest/inventory/copy-names.js";
import { unit } from "../allocate/staged-days.js";
import { gatherInto } from "../http/gathered-inventory.js";
import { publishFacts } from "../http/published-facts.js";
import { get, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../until.js";
import { shows, startConsole, startSlowProxy, textOf, totals } from "./pages.js";

const api = "/api/v1/tenants/acme";
const day = "2026-03-04";
const period = `start_date=${day}&end_date=${day}`;

t.test("a slow API never shows wrong or stale figures", needs("chromium"), async (t) => {
  const { app, url, stores, open, troubles } = await startConsole(t);
  await insertChargebacks(
    stores,
    "acme",
    ["STORAGE", "NETWORK"].flatMap((product_type, product) =>
      ["sa-1", "sa-2", "sa-3"].map((identity_id, index) => ({
        timestamp: `${day}T00:00:00Z`,
        product_type,
        identity_id,
        amount: `${index + 1}.${product}1`,
      })),
    ),
  );
  const proxy = await startSlowProxy(t, url);
  const isBreakdown = (path: string) => path.includes("/chargebacks/breakdown");

  await t.test("the old state stays visible while the new one loads, and is marked", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}`, { at: proxy.url });
    await shows(page, "tbody tr", 3);
    proxy.delays.forPath = (path) => (isBreakdown(path) ? 1500 : 0);
    await page.getByLabel("Group by").selectOption("product_type");
    await page.locator(".updating").waitFor();
    t.equal(await page.locator("tbody tr").count(), 3, "the old state is still shown");
    t.equal(await page.locator("[aria-busy=true]").count(), 1);
    t.equal(await page.getByRole("status").filter({ hasText: "Loading …" }).count(), 1);
    t.equal(
      new URL(page.url()).searchParams.get("group_by"),
      "product_type",
      "the address has the new state already",
    );
    await shows(page, "tbody tr", 2);
    t.equal(await page.locator(".updating").count(), 0);
    t.equal(await page.locator("[aria-busy=true]").count(), 0);
  });

  await t.test("a new request aborts the previous one", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}`, { at: proxy.url });
    await shows(page, "tbody tr", 3);
    proxy.delays.forPath = (path) => (isBreakdown(path) ? (path.includes("cost_type") ? 4000 : 300) : 0);
    const before = proxy.abandoned.length;
    await page.getByLabel("Group by").selectOption("cost_type");
    await page.locator(".updating").waitFor();
    await page.getByLabel("Group by").selectOption("product_type");
    await shows(page, "tbody tr", 2);
    await until("the first request is aborted", async () => proxy.abandoned.length > before);
    t.match(proxy.abandoned.slice(before).join("\n"), /^[^\n]*group_by=cost_type[^\n]*$/);
    await new Promise((resolve) => setTimeout(resolve, 4500));
    t.equal(await page.locator("tbody tr").count(), 2, "the aborted response is never shown");
    t.notOk(proxy.completed.some((path) => path.includes("cost_type")));
  });

  await t.test("the first load shows only a loading message, and leaving the view aborts it", async (t) => {
    proxy.delays.forPath = (path) => (isBreakdown(path) ? 3000 : 0);
    const page = await open("/", { at: proxy.url });
    const before = proxy.abandoned.length;
    const sent = page.waitForRequest((request) => isBreakdown(request.url()));
    await page.goto(`${proxy.url}/tenants/acme/explorer?${period}`);
    await sent;
    await page.locator(".loading", { hasText: "Loading …" }).first().waitFor();
    t.equal(await page.locator("table").count(), 0);
    await page.getByRole("link", { name: "Runs" }).click();
    // Requests of the page before may be aborted as well.
    await until("the request is aborted", async () => proxy.abandoned.slice(before).some(isBreakdown));
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
  });

  await t.test("only the list of tenants waits for the state of all stores", async (t) => {
    proxy.delays.forPath = (path) => (path === "/api/v1/tenants" ? 3000 : 0);
    const before = proxy.completed.length;
    const page = await open(`/tenants/acme/explorer?${period}`, { at: proxy.url });
    await shows(page, "tbody tr", 3);
    t.strictSame(await page.getByLabel("Tenant", { exact: true }).locator("option").allTextContents(), [
      "acme",
      "globex",
    ]);
    t.notOk(proxy.completed.slice(before).includes("/api/v1/tenants"));
    await page.goto(`${proxy.url}/?${period}`);
    await page.getByRole("heading", { name: "Tenants", level: 1 }).waitFor();
    t.equal(await page.locator("table").count(), 0, "the list is still loading");
    await shows(page, "tbody tr", 2);
  });

  await t.test("two filters by the same tag must both match, as in the API", async (t) => {
    proxy.delays.forPath = () => 0;
    const twice = "not:tag:squad=web&not:tag:squad=data,other";
    const page = await open(`/tenants/acme/explorer?${period}&${twice}`);
    const { body } = await get(app, `${api}/chargebacks/breakdown?${period}&${twice}`);
    await totals(page, body);
    t.equal(await page.locator(".chip.excluding").count(), 2);
    await page.getByRole("button", { name: "Remove the filter Label squad is not web" }).click();
    await shows(page, ".chip.excluding", 1);
    t.strictSame(new URL(page.url()).searchParams.getAll("not:tag:squad"), ["data,other"]);
    const none = await open(`/tenants/acme/explorer?${period}&tag:squad=web&tag:squad=UNTAGGED`);
    await none.getByText("Nothing matches").waitFor();
    const all = await open(`/tenants/acme/explorer?${period}&tag:squad=web,UNTAGGED&tag:squad=UNTAGGED`);
    await totals(all, body);
  });

  await t.test("a comparison with incomplete days says so", async (t) => {
    const note = "The previous period is incomplete: 0 of 1 day.";
    const overview = await open(`/tenants/acme/overview?${period}`);
    await overview.getByText(note).waitFor();
    const explorer = await open(`/tenants/acme/explorer?${period}&compare=previous`);
    await explorer.getByText(note).waitFor();
    const plain = await open(`/tenants/acme/explorer?${period}`);
    t.equal(
      await plain.getByText(/is incomplete/).count(),
      0,
      "a view that compares nothing has no such note",
    );
    await stores.postgres.query(`
      INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only') ON CONFLICT DO NOTHING;
      INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, resources_gathered, chargeback_calculated, published_hash)
      VALUES ('acme', '2026-03-01', true, true, true, 'a'), ('acme', '2026-03-02', true, true, true, 'a-provisional'),
        ('acme', '2026-03-03', true, true, true, 'a'), ('acme', '2026-02-28', true, true, false, NULL)`);
    const four = await open("/tenants/acme/overview?start_date=2026-03-04&end_date=2026-03-07");
    await four.getByText("The previous period is incomplete: 2 of 4 days.").waitFor();
    await four.getByText("This period is incomplete: 0 of 4 days.").waitFor();
    await stores.postgres.query(`
      INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, resources_gathered, chargeback_calculated, published_hash)
      VALUES ('acme', '2026-03-04', true, true, true, 'a')`);
    const whole = await open(`/tenants/acme/overview?${period}`);
    await whole.locator(".head .change").waitFor();
    t.equal(await whole.getByText(/is incomplete/).count(), 0, "3 and 4 March are complete");
    await whole.route("**/status?*", (route) => route.fulfill({ status: 503, json: { detail: "Later." } }));
    await whole.reload();
    await whole.getByText("Could not check which days are complete").waitFor();
    t.equal(await whole.locator(".change.more, .change.less").count(), 0, "the change is not coloured");
    t.equal(await whole.locator(".head .change").count(), 1);
  });

  await t.test(
    "sums are shown only with their own days, even if the next sums cannot be loaded",
    async (t) => {
      proxy.delays.forPath = () => 0;
      const page = await open(`/tenants/acme/overview?${period}`, { at: proxy.url });
      t.equal(await textOf(page, ".head .hint"), "Cost, 4 Mar 2026");
      proxy.delays.forPath = (path) => (isBreakdown(path) ? 1500 : 0);
      await page.getByLabel("From", { exact: true }).fill("2026-03-03");
      await page.locator(".updating").first().waitFor();
      t.equal(await textOf(page, ".title .hint"), "3 Mar – 4 Mar 2026");
      t.equal(await textOf(page, ".head .hint"), "Cost, 4 Mar 2026", "the sums still belong to that day");
      await until(
        "the next sums are shown",
        async () => (await textOf(page, ".head .hint")) === "Cost, 3 Mar – 4 Mar 2026",
      );
      t.equal(await textOf(page, ".title .hint"), "3 Mar – 4 Mar 2026, compared with 1 Mar – 2 Mar 2026");
      proxy.delays.forPath = () => 0;
      await page.route("**/chargebacks/breakdown?*", (route) =>
        route.fulfill({ status: 503, json: { detail: "Later." } }),
      );
      await page.getByLabel("From", { exact: true }).fill("2026-03-02");
      await page.getByText("Later.").first().waitFor();
      await shows(page, ".head", 0);
      t.equal(await textOf(page, ".title .hint"), "2 Mar – 4 Mar 2026");
    },
  );

  await t.test("a typed date is applied once, when it is complete", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}`);
    const requests: string[] = [];
    page.on("request", (request) => {
      // The number in the navigation is a breakdown by causes.
      const { search } = new URL(request.url());
      if (isBreakdown(request.url()) && !search.includes("allocation_detail")) requests.push(search);
    });
    const at = () => new URL(page.url()).searchParams;
    const [from, to] = ["From", "To"].map((label) => page.getByLabel(label, { exact: true }));
    if (from === undefined || to === undefined) throw new Error("no dates");
    const steps = await page.evaluate<number>("history.length");
    await to.focus();
    for (const key of "03152026") await page.keyboard.press(key);
    await until("the date is applied", async () => at().get("end_date") === "2026-03-15");
    await page.waitForTimeout(1500);
    t.equal(at().get("start_date"), day);
    t.equal(await page.evaluate<number>("history.length"), steps + 1);
    t.equal(requests.length, 1, requests.join(" "));
    t.match(requests[0], /start_date=2026-03-04&end_date=2026-03-15/);

    await from.focus();
    for (const key of "03202026") await page.keyboard.press(key);
    await page.waitForTimeout(1500);
    t.equal(
      at().get("start_date"),
      day,
      "dates in the wrong order may be half of a change, and are not applied",
    );
    t.equal(await from.inputValue(), "2026-03-20");
    await from.blur();
    await until("the dates are swapped", async () => at().get("start_date") === "2026-03-15");
    t.equal(at().get("end_date"), "2026-03-20");

    await from.focus();
    for (const key of "0101") await page.keyboard.press(key);
    await page.keyboard.press("1");
    await from.blur();
    await until("an impossible date is reset", async () => (await from.inputValue()) === "2026-03-15");
    await from.fill("2026-03-16");
    await until("a picked date is applied", async () => at().get("start_date") === "2026-03-16");
    t.equal(await page.getByRole("alert").count(), 0);
  });

  await t.test(
    "page numbers never exceed the pages of a list, and no view reports that all is well without costs",
    async (t) => {
      const issues = (of: string, count: number) =>
        Array.from({ length: count }, (_, index) => ({
          timestamp: `${of}T00:00:00Z`,
          amount: `${1000 - index}`,
          identity_id: "UNALLOCATED",
          resource_id: `lost-${index}`,
          product_type: `P-${index}`,
          cost_type: "shared" as const,
          allocation_method: "terminal",
          allocation_detail: "owner_unknown",
        }));
      await insertChargebacks(stores, "acme", [...issues("2026-02-01", 130), ...issues("2026-02-02", 3)]);
      await gatherInto(stores, "acme", {
        at: "2026-02-02T00:00:00Z",
        resources: ["r-1", "r-2"].map((resource_id) => ({ resource_id })),
        identities: [],
      });
      const both = "start_date=2026-02-01&end_date=2026-02-02";
      const second = "start_date=2026-02-02&end_date=2026-02-02";
      const at = (page: Page) => new URL(page.url()).searchParams;
      const list = "[aria-label=Resources] tbody tr";
      const lacking = "[aria-label='Unallocated lines, and what they are missing'] tbody tr";

      const worklist = await open(`/tenants/acme/worklist?${both}&page=2&lacking_page=2`);
      await shows(worklist, list, 30);
      await shows(worklist, lacking, 50);
      const runs = await worklist.getByRole("link", { name: "Runs", exact: true }).getAttribute("href");
      t.equal(runs, `/tenants/acme/runs?${both}`, "links to other views drop page numbers");
      await worklist.getByLabel("From", { exact: true }).fill("2026-02-02");
      await shows(worklist, list, 3);
      await shows(worklist, lacking, 3);
      t.strictSame([at(worklist).get("page"), at(worklist).get("lacking_page")], [null, null]);

      const beyond = await open(`/tenants/acme/worklist?${second}&page=9&lacking_page=7`);
      await shows(beyond, list, 3);
      await shows(beyond, lacking, 3);
      t.strictSame([at(beyond).get("page"), at(beyond).get("lacking_page")], ["1", "1"]);

      const clear = "Nothing in this period needs attention";
      const nothing = await open("/tenants/acme/worklist?start_date=2026-01-10&end_date=2026-01-11");
      await nothing.getByText("No costs in this period").waitFor();
      t.equal(await nothing.getByText(clear).count(), 0);
      const good = await open(`/tenants/acme/worklist?${period}`);
      await good.getByText(clear).waitFor();
      const overview = await open("/tenants/acme/overview?start_date=2026-01-10&end_date=2026-01-11");
      await overview.getByText("There is nothing to check.").waitFor();
      t.equal(await overview.getByText(clear).count(), 0);
      const reason = await open(`/tenants/acme/worklist?${second}&allocation_detail=no_identities_located`);
      await reason.getByText("No costs in this period have this cause.").waitFor();

      const explorer = await open(`/tenants/acme/explorer?${both}&group_by=resource_id&rows=2`);
      await shows(explorer, ".rows tbody tr", 50);
      await explorer.getByRole("link", { name: "lost-5", exact: true }).first().click();
      await until("the group is drilled into", async () => at(explorer).get("resource_id") === "lost-5");
      t.equal(at(explorer).get("rows"), "1", "the list stays open and goes back to its first page");
      await shows(explorer, ".rows tbody tr", 1);
      const rows = await open(`/tenants/acme/explorer?${both}&rows=9`);
      await shows(rows, ".rows tbody tr", 33);
      t.equal(at(rows).get("rows"), "3");

      const inventory = await open(`/tenants/acme/inventory?${both}&costless=true&page=99`);
      await shows(inventory, "tbody tr", 32);
      t.equal(at(inventory).get("page"), "2");
    },
  );

  await t.test("comparisons use the same number of days, and the chart has the whole period", async (t) => {
    const daysFrom = (first: string, count: number) =>
      Array.from({ length: count }, (_, index) =>
        new Date(Date.parse(first) + index * 86_400_000).toISOString().slice(0, 10),
      );
    const charged = daysFrom("2026-02-15", 19);
    t.equal(charged.at(-1), "2026-03-05");
    await insertChargebacks(stores, "globex", [
      ...[...charged, "2026-01-01"].map((each) => ({ timestamp: `${each}T00:00:00Z`, amount: "10" })),
      { timestamp: "2026-02-20T00:00:00Z", amount: "5", identity_id: "sa-2" },
    ]);
    const { postgres } = stores;
    await postgres.query(`
      INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('globex', 'globex', 'generic_metrics_only') ON CONFLICT DO NOTHING;
      INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, resources_gathered, chargeback_calculated, published_hash)
      VALUES ${[...charged, "2026-01-01"].map((each) => `('globex', '${each}', true, true, true, 'a')`).join(", ")}`);
    const ticks = (page: Page) => page.locator(".chart text.tick[text-anchor=middle]").allTextContents();

    const week = "start_date=2026-03-01&end_date=2026-03-07";
    const overview = await open(`/tenants/globex/overview?${week}`);
    const compared = "compared with 22 Feb – 26 Feb 2026";
    const missing = "6 Mar – 7 Mar 2026 have no costs yet. Only days up to 5 Mar 2026 are compared.";
    t.equal(await textOf(overview, ".title .hint"), `1 Mar – 7 Mar 2026, ${compared}`);
    t.strictSame(await overview.locator("[role=note]").allInnerTexts(), [missing]);
    t.equal(await textOf(overview, ".head .large"), "50.00 USD");
    t.equal(await textOf(overview, ".head .change"), "no change");
    t.equal(
      await overview
        .locator(".pair")
        .getByText(/^Nothing (grew|fell)\.$/)
        .count(),
      2,
      "nothing has changed",
    );
    t.strictSame(
      await ticks(overview),
      [1, 2, 3, 4, 5, 6, 7].map((each) => `${each} Mar`),
    );
    t.equal(await overview.locator(".chart rect.series").count(), 5);

    const explorer = await open(`/tenants/globex/explorer?${week}&compare=previous`);
    t.equal(await textOf(explorer, ".compare .hint"), compared);
    t.strictSame(await explorer.locator("[role=note]").allInnerTexts(), [missing]);
    t.match(await textOf(explorer, "tfoot tr"), /^Total 50\.00 100 % 50\.00 no change /);
    t.match(
      await explorer.getByRole("link", { name: "This query in the API" }).getAttribute("href"),
      /&compare_start_date=2026-02-22&compare_end_date=2026-02-26$/,
    );
    t.equal((await ticks(explorer)).length, 7);

    const before = "start_date=2026-02-22&end_date=2026-02-28";
    const whole = await open(`/tenants/globex/overview?${before}`);
    t.equal(await textOf(whole, ".head .change.less"), "▼ −5.00 6.7 %");
    t.equal(await whole.locator("[role=note]").count(), 0);
    t.equal(await whole.locator(".pair .change.less").count(), 1);
    await postgres.query(
      "UPDATE tracking_dates SET published_hash = 'a-provisional' WHERE tenant_name = 'globex' AND tracking_date = '2026-02-24'",
    );
    const part = await open(`/tenants/globex/overview?${before}`);
    await part.getByText("This period is incomplete: 6 of 7 days.").waitFor();
    t.equal(await textOf(part, ".head .change"), "▼ −5.00 6.7 %");
    t.equal(
      await part.locator(".change.less, .change.more").count(),
      0,
      "a change of an incomplete period is not coloured",
    );
    const table = await open(`/tenants/globex/explorer?${before}&compare=previous`);
    t.equal(await table.locator(".change").count(), 3, "changes of two groups and their total");
    t.equal(await table.locator(".change.less, .change.more").count(), 0);

    const month = await open("/tenants/globex/overview?start_date=2026-02-01&end_date=2026-02-28");
    t.equal(
      await textOf(month, ".title .hint"),
      "1 Feb – 28 Feb 2026, compared with 1 Jan – 31 Jan 2026",
      "a calendar month is compared with the previous one",
    );

    const months = await open(
      "/tenants/globex/explorer?start_date=2026-02-24&end_date=2026-03-05&time_bucket=month",
    );
    t.strictSame(await ticks(months), ["2026-02", "2026-03"]);
    t.equal(await months.locator(".chart rect.partial").count(), 2);
    t.equal(
      await textOf(months, ".chart > .hint"),
      "Hatched bars show only some of their days: 2026-02, 5 of 28 days; 2026-03, 5 of 31 days.",
    );
    await months.locator(".chart rect.series").first().hover();
    t.equal(await textOf(months, ".tip"), "2026-02 5 of 28 days sa-1 50.00 Total 50.00 USD");
    const full = await open(
      "/tenants/globex/explorer?start_date=2026-02-01&end_date=2026-02-28&time_bucket=month",
    );
    t.equal(await full.locator(".chart rect.series").count(), 2);
    t.equal(
      await textOf(full, ".chart > .hint"),
      "Hatched bars show only some of their days: 2026-02, 14 of 28 days.",
      "days of the period without costs are missing, too",
    );
    const weeks = await open(
      "/tenants/globex/explorer?start_date=2025-12-22&end_date=2026-01-11&time_bucket=week",
    );
    t.strictSame(await ticks(weeks), ["2025-W52", "2026-W01", "2026-W02"], "weeks have the API's labels");
    t.equal(await weeks.locator(".chart rect.series").count(), 1);
    const hours = await open(
      "/tenants/globex/explorer?start_date=2026-02-24&end_date=2026-02-25&time_bucket=hour",
    );
    const bars = hours.locator(".chart rect.series");
    const left = async (at: number) => Number(await bars.nth(at).getAttribute("x"));
    const width = Number(await hours.locator(".chart svg").getAttribute("width"));
    const margins = 64 + 8;
    t.equal(await bars.count(), 2, "a bar at each midnight");
    t.equal(((await left(1)) - (await left(0))) / (width - margins), 0.5, "the hours between have space");
    await bars.nth(1).hover();
    t.equal(await textOf(hours, ".tip"), "25 Feb 2026, 00:00 UTC sa-1 10.00 Total 10.00 USD");
  });

  t.strictSame(
    // The tests above provoke these errors.
    troubles.filter((trouble) => !/status of 503/.test(trouble)),
    [],
  );
});

/** Names that an upstream or a user may choose. */
const hostile = [
  "<img src=x onerror=document.title='hacked'>",
  "<script>document.title='hacked'</script>",
  "x".repeat(300),
  "\u202egnitekram\u2067אבג",
  "👩‍👩‍👧‍👦🧾 «Maß»",
  "a,b\\c\"d'e",
] as const;

t.test("hostile names are shown as text in every view on a phone", needs("chromium"), async (t) => {
  const { app, stores, open, troubles } = await startConsole(t);
  await publishFacts(stores, "acme", 1, {
    lines: hostile.flatMap((resource_id) =>
      ["CKU", "UNHEARD"].map((product_type) => ({
        key: "",
        currency: "USD",
        day,
        resource_id,
        product_type,
        cost: 10n * unit + unit / 1000n,
      })),
    ),
    usage: hostile.flatMap((resource_id) =>
      hostile.map((identity_id) => ({
        day,
        metric: "bytes_in",
        resource_id,
        identity_id,
        weight: 1_500_000n,
      })),
    ),
    sets: hostile.map((resource_id) => ({
      day,
      scope: "resource_active" as const,
      resource_id,
      identity_id: hostile[0],
    })),
    gaps: [],
    decimalPlaces: 2,
  });
  // All other rows have no environment. This one has an environment with a hostile name.
  await insertChargebacks(stores, "acme", [
    {
      timestamp: `${day}T00:00:00Z`,
      amount: "1",
      identity_id: hostile[1],
      resource_id: hostile[1],
      env_id: hostile[0],
      product_type: hostile[0],
      allocation_detail: "owner_unknown",
    },
  ]);
  for (const [at, owner] of [
    ["2026-03-04T00:00:00Z", hostile[2]],
    ["2026-03-05T00:00:00Z", hostile[0]],
  ] as const)
    await gatherInto(stores, "acme", {
      at,
      resources: hostile.map((resource_id, index) => ({
        resource_id,
        display_name: index % 2 === 0 ? (hostile[(index + 1) % hostile.length] ?? "") : null,
        parent_id: hostile[2],
        owner_id: owner,
      })),
      identities: hostile.map((identity_id, index) => ({
        identity_id,
        display_name: index % 2 === 0 ? (hostile[(index + 2) % hostile.length] ?? "") : null,
        metadata: { team: hostile[index] ?? "" },
      })),
    });
  const { client } = await stores.tenant("acme");
  await copyNames({
    client,
    postgres: stores.postgres,
    tenantName: "acme",
    signal: new AbortController().signal,
  });
  const { body: rows } = await get(app, `${api}/chargebacks?${period}&page_size=1000`);
  const someRow = rows.items.find(
    ({ identity_id, product_type }: Record<string, string>) =>
      identity_id === hostile[2] && product_type === "CKU",
  );
  for (const name of hostile) {
    const url = `${api}/chargebacks/${someRow.dimension_id}/tags`;
    const payload = { tag_key: name.slice(0, 100), display_name: name, created_by: name.slice(0, 100) };
    const response = await app.inject({ method: "POST", url, payload });
    t.equal(response.statusCode, 201, response.body);
  }
  const [x] = [hostile[2]];
  const parameter = (name: string, value: string) => `${name}=${encodeURIComponent(value)}`;
  const why = `${someRow.dimension_id},${someRow.timestamp},${someRow.metadata.component},USD`;
  const squad = encodeURIComponent(`tag:${hostile[0].slice(0, 100)}`);
  const places = [
    ...[
      "overview",
      "explorer",
      "statement",
      "rules",
      "worklist",
      "inventory",
      "tags",
      "deliveries",
      "runs",
    ].map((view) => [view, ""]),
    [
      "explorer",
      "&group_by=team&group_by=environment_id&group_by=resource_id&limit=1000&rows=1&compare=previous",
    ],
    ["explorer", `&group_by=${squad}&${hostile.map((name) => parameter("identity_id", name)).join("&")}`],
    [
      "explorer",
      `&${squad}=${encodeURIComponent(hostile.map((name) => name.replace(/[\\,]/g, "\\$&")).join(","))}`,
    ],
    ...hostile.map((name) => ["statement", `&${parameter("identity_id", name)}&rows=1`]),
    ["statement", `&${parameter("team", x)}&${parameter("not:resource_id", hostile[0])}`],
    ["inventory", "&kind=identities"],
    ["inventory", `&${parameter("history", x)}`],
    ["inventory", `&kind=identities&${parameter("history", hostile[0])}`],
    ...hostile.map((name) => ["tags", `&${parameter("key", name.slice(0, 100))}`]),
    ["tags", `&dimension=${someRow.dimension_id}`],
    ["explorer", `&${parameter("why", why)}`],
  ] as const;
  const wide = (page: Page) =>
    page.evaluate<string[]>(`[document.documentElement, ...document.querySelectorAll("dialog")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ tagName, scrollWidth, clientWidth }) => tagName + " " + scrollWidth + " > " + clientWidth)`);
  for (const [view, query] of places) {
    const where = `${view}${query}`.slice(0, 120);
    const page = await open(`/tenants/acme/${view}?${period}${query}`, { width: 360 });
    t.strictSame(await wide(page), [], `${where}: nothing has to be scrolled sideways`);
    t.match(await page.title(), /· acme · chargehouse$/, `${where}: no script ran`);
    t.equal(await page.locator("img, main script").count(), 0, `${where}: names are shown as text`);
    t.equal(await page.getByRole("alert").count(), 0, `${where}: no error`);
    t.ok((await textOf(page, "main")).length > 20, where);
    await page.close();
  }

  await t.test("all names are shown unchanged", async (t) => {
    const page = await open(`/tenants/acme/tags?${period}`);
    const names = await page.locator(".each-tag .tag-name bdi").allInnerTexts();
    t.strictSame(names, [...hostile]);
    const inventory = await open(`/tenants/acme/inventory?${period}`);
    const ids = await inventory.locator("tbody tr td:first-child bdi").allInnerTexts();
    t.strictSame([...new Set(ids)].sort(), [...hostile].sort());
    const statement = await open(`/tenants/acme/statement?${period}&${parameter("identity_id", hostile[0])}`);
    const title = `Statement of ${hostile[2]} (${hostile[0]})`;
    await statement.getByRole("heading", { name: title, exact: true }).waitFor();
    const both = [parameter("identity_id", hostile[0]), parameter("identity_id", hostile[1])].join("&");
    const several = await open(`/tenants/acme/statement?${period}&${both}`);
    await several
      .getByRole("heading", {
        name: `Statement of ${hostile[2]} (${hostile[0]}), ${hostile[1]}`,
        exact: true,
      })
      .waitFor();
    const none = await open(`/tenants/acme/explorer?${period}&group_by=environment_id`);
    await none.locator("tbody").getByText("(none)").first().waitFor();
  });

  t.strictSame(troubles, []);
});
