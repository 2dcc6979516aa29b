/** States of the console that a fast service with tidy names never shows, in a real browser on a real service. */
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

t.test("a slow API", needs("chromium"), async (t) => {
  const { app, url, stores, open, troubles } = await startConsole(t);
  await insertChargebacks(
    stores,
    "acme",
    ["STORAGE", "NETWORK"].flatMap((product_type, product) =>
      ["sa-1", "sa-2", "sa-3"].map((identity_id, index) => ({
        ...{ timestamp: `${day}T00:00:00Z`, product_type, identity_id },
        amount: `${index + 1}.${product}1`,
      })),
    ),
  );
  const proxy = await startSlowProxy(t, url);
  const isBreakdown = (path: string) => path.includes("/chargebacks/breakdown");

  await t.test("the old state stays while the new one loads, with a sign of it", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}`, { at: proxy.url });
    await shows(page, "tbody tr", 3);
    proxy.delays.of = (path) => (isBreakdown(path) ? 1500 : 0);
    await page.getByLabel("Group by").selectOption("product_type");
    await page.locator(".updating").waitFor();
    t.equal(await page.locator("tbody tr").count(), 3, "the old state");
    t.equal(await page.locator("[aria-busy=true]").count(), 1);
    t.equal(await page.getByRole("status").filter({ hasText: "Loading …" }).count(), 1);
    t.equal(new URL(page.url()).searchParams.get("group_by"), "product_type", "the address is the new one");
    await shows(page, "tbody tr", 2);
    t.equal(await page.locator(".updating").count(), 0);
    t.equal(await page.locator("[aria-busy=true]").count(), 0);
  });

  await t.test("what was asked before is given up when something else is asked", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}`, { at: proxy.url });
    await shows(page, "tbody tr", 3);
    proxy.delays.of = (path) => (isBreakdown(path) ? (path.includes("cost_type") ? 4000 : 300) : 0);
    const before = proxy.abandoned.length;
    await page.getByLabel("Group by").selectOption("cost_type");
    await page.locator(".updating").waitFor();
    await page.getByLabel("Group by").selectOption("product_type");
    await shows(page, "tbody tr", 2);
    await until("the first is given up", async () => proxy.abandoned.length > before);
    t.match(proxy.abandoned.slice(before).join("\n"), /^[^\n]*group_by=cost_type[^\n]*$/);
    await new Promise((resolve) => setTimeout(resolve, 4500));
    t.equal(await page.locator("tbody tr").count(), 2, "and never shown");
    t.notOk(proxy.answered.some((path) => path.includes("cost_type")));
  });

  await t.test(
    "the first time there is nothing old: a sign of loading alone; leaving gives up",
    async (t) => {
      proxy.delays.of = (path) => (isBreakdown(path) ? 3000 : 0);
      const page = await open("/", { at: proxy.url });
      const before = proxy.abandoned.length;
      const asked = page.waitForRequest((request) => isBreakdown(request.url()));
      await page.goto(`${proxy.url}/tenants/acme/explorer?${period}`);
      await asked;
      await page.locator(".loading", { hasText: "Loading …" }).first().waitFor();
      t.equal(await page.locator("table").count(), 0);
      await page.getByRole("link", { name: "Runs" }).click();
      // What the page before had still asked may be given up as well, by the way here.
      await until("it is given up", async () => proxy.abandoned.slice(before).some(isBreakdown));
      await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    },
  );

  await t.test("the list of tenants alone waits for a look at all stores", async (t) => {
    proxy.delays.of = (path) => (path === "/api/v1/tenants" ? 3000 : 0);
    const before = proxy.answered.length;
    const page = await open(`/tenants/acme/explorer?${period}`, { at: proxy.url });
    await shows(page, "tbody tr", 3);
    t.strictSame(await page.getByLabel("Tenant", { exact: true }).locator("option").allTextContents(), [
      "acme",
      "globex",
    ]);
    t.notOk(proxy.answered.slice(before).includes("/api/v1/tenants"));
    await page.goto(`${proxy.url}/?${period}`);
    await page.getByRole("heading", { name: "Tenants", level: 1 }).waitFor();
    t.equal(await page.locator("table").count(), 0, "it is on its way");
    await shows(page, "tbody tr", 2);
  });

  await t.test("a filter by one tag given twice: both hold, as in the API", async (t) => {
    proxy.delays.of = () => 0;
    const twice = "not:tag:squad=web&not:tag:squad=data,other";
    const page = await open(`/tenants/acme/explorer?${period}&${twice}`);
    const { body } = await get(app, `${api}/chargebacks/breakdown?${period}&${twice}`);
    await totals(page, body);
    t.equal(await page.locator(".chip.excluding").count(), 2);
    await page.getByRole("button", { name: "Remove the filter Tag squad is not web" }).click();
    await shows(page, ".chip.excluding", 1);
    t.strictSame(new URL(page.url()).searchParams.getAll("not:tag:squad"), ["data,other"]);
    const none = await open(`/tenants/acme/explorer?${period}&tag:squad=web&tag:squad=UNTAGGED`);
    await none.getByText("Nothing matches").waitFor();
    const all = await open(`/tenants/acme/explorer?${period}&tag:squad=web,UNTAGGED&tag:squad=UNTAGGED`);
    await totals(all, body);
  });

  await t.test("a change against days that are not all there says so", async (t) => {
    const note = "The period before is not complete: 0 of 1 day.";
    const overview = await open(`/tenants/acme/overview?${period}`);
    await overview.getByText(note).waitFor();
    const explorer = await open(`/tenants/acme/explorer?${period}&compare=previous`);
    await explorer.getByText(note).waitFor();
    const plain = await open(`/tenants/acme/explorer?${period}`);
    t.equal(await plain.getByText(/is not complete/).count(), 0, "where nothing is compared");
    await stores.postgres.query(`
      INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'generic_metrics_only') ON CONFLICT DO NOTHING;
      INSERT INTO tracking_dates (tenant_name, tracking_date, billing_gathered, resources_gathered, chargeback_calculated, published_hash)
      VALUES ('acme', '2026-03-01', true, true, true, 'a'), ('acme', '2026-03-02', true, true, true, 'a-provisional'),
        ('acme', '2026-03-03', true, true, true, 'a'), ('acme', '2026-02-28', true, true, false, NULL)`);
    const four = await open("/tenants/acme/overview?start_date=2026-03-04&end_date=2026-03-07");
    await four.getByText("The period before is not complete: 2 of 4 days.").waitFor();
    const whole = await open(`/tenants/acme/overview?${period}`);
    await whole.locator(".head .change").waitFor();
    t.equal(await whole.getByText(/is not complete/).count(), 0, "3 March is there as a whole");
  });

  t.strictSame(troubles, []);
});

/** What an upstream, or who tags, may call something. */
const hostile = [
  "<img src=x onerror=document.title='hacked'>",
  "<script>document.title='hacked'</script>",
  "x".repeat(300),
  "\u202egnitekram\u2067אבג",
  "👩‍👩‍👧‍👦🧾 «Maß»",
  "a,b\\c\"d'e",
] as const;

t.test("hostile names in every view, on a phone", needs("chromium"), async (t) => {
  const { app, stores, open, troubles } = await startConsole(t);
  await publishFacts(stores, "acme", 1, {
    lines: hostile.flatMap((resource_id) =>
      ["CKU", "UNHEARD"].map((product_type) => ({
        ...{ key: "", currency: "USD", day, resource_id, product_type },
        cost: 10n * unit + unit / 1000n,
      })),
    ),
    usage: hostile.flatMap((resource_id) =>
      hostile.map((identity_id) => ({
        ...{ day, metric: "bytes_in", resource_id, identity_id, weight: 1_500_000n },
      })),
    ),
    sets: hostile.map((resource_id) => ({
      ...{ day, scope: "resource_active" as const, resource_id, identity_id: hostile[0] },
    })),
    gaps: [],
    decimalPlaces: 2,
  });
  // Of no environment, as all others, and of one with such a name.
  await insertChargebacks(stores, "acme", [
    {
      ...{ timestamp: `${day}T00:00:00Z`, amount: "1", identity_id: hostile[1], resource_id: hostile[1] },
      ...{ env_id: hostile[0], product_type: hostile[0], allocation_detail: "owner_unknown" },
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
    ...{ client, postgres: stores.postgres, tenantName: "acme" },
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
    const answer = await app.inject({ method: "POST", url, payload });
    t.equal(answer.statusCode, 201, answer.body);
  }
  const [x] = [hostile[2]];
  const of = (name: string, value: string) => `${name}=${encodeURIComponent(value)}`;
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
    ["explorer", `&group_by=${squad}&${hostile.map((name) => of("identity_id", name)).join("&")}`],
    [
      "explorer",
      `&${squad}=${encodeURIComponent(hostile.map((name) => name.replace(/[\\,]/g, "\\$&")).join(","))}`,
    ],
    ...hostile.map((name) => ["statement", `&${of("identity_id", name)}&rows=1`]),
    ["statement", `&${of("team", x)}&${of("not:resource_id", hostile[0])}`],
    ["inventory", "&kind=identities"],
    ["inventory", `&${of("history", x)}`],
    ["inventory", `&kind=identities&${of("history", hostile[0])}`],
    ...hostile.map((name) => ["tags", `&${of("key", name.slice(0, 100))}`]),
    ["tags", `&dimension=${someRow.dimension_id}`],
    ["explorer", `&${of("why", why)}`],
  ] as const;
  const wide = (page: Page) =>
    page.evaluate<string[]>(`[document.documentElement, ...document.querySelectorAll("dialog")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ tagName, scrollWidth, clientWidth }) => tagName + " " + scrollWidth + " > " + clientWidth)`);
  for (const [view, query] of places) {
    const where = `${view}${query}`.slice(0, 120);
    const page = await open(`/tenants/acme/${view}?${period}${query}`, { width: 360 });
    t.strictSame(await wide(page), [], `${where}: nothing lies beside the page`);
    t.match(await page.title(), /· acme · chargehouse$/, `${where}: no script ran`);
    t.equal(await page.locator("img, main script").count(), 0, `${where}: a name is text`);
    t.equal(await page.getByRole("alert").count(), 0, `${where}: no error`);
    t.ok((await textOf(page, "main")).length > 20, where);
    await page.close();
  }

  await t.test("all are shown as they are", async (t) => {
    const page = await open(`/tenants/acme/tags?${period}`);
    const names = await page.locator(".each-tag .tag-name bdi").allInnerTexts();
    t.strictSame(names, [...hostile]);
    const inventory = await open(`/tenants/acme/inventory?${period}`);
    const ids = await inventory.locator("tbody tr td:first-child").allInnerTexts();
    t.strictSame([...ids].sort(), [...hostile].sort());
    const statement = await open(`/tenants/acme/statement?${period}&${of("identity_id", hostile[0])}`);
    const title = `Statement of ${hostile[2]} (${hostile[0]})`;
    await statement.getByRole("heading", { name: title, exact: true }).waitFor();
    const both = [of("identity_id", hostile[0]), of("identity_id", hostile[1])].join("&");
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
