/** The views of bills, rules and unallocated lines, in a browser. */
import t from "tap";
import { insertBilling, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../until.js";
import { noBarriers, startConsole, textOf } from "./pages.js";

const day = "2026-03-01";
const period = `start_date=${day}&end_date=${day}`;

t.test("the console shows bills, rules and unallocated lines", needs("chromium"), async (t) => {
  const { stores, open, troubles } = await startConsole(
    t,
    [],
    [
      "allocation:",
      "  identity:",
      "    - tag: team",
      "    - { column: resource_id, pattern: '^team-(?<identity>[a-z]+)$' }",
      "  rules:",
      "    - name: support",
      '      where: { product_type: "*Support*" }',
      "      split: [{ by: even, among: [web, data] }]",
    ],
  );
  const line = (total_cost: string, resource_id: string, line_tags: Record<string, string>, more = {}) => ({
    timestamp: `${day}T00:00:00Z`,
    total_cost,
    resource_id,
    line_tags,
    product_type: "VM",
    ...more,
  });
  const nobody = {
    identity_id: "UNALLOCATED",
    allocation_method: "terminal",
    allocation_detail: "no_identity_on_line",
  };
  const evenly = { allocation_method: "even_split", allocation_detail: "even_split_allocation" };
  const long = "i-3-with-a-long-name-that-does-not-fit-into-a-column-of-a-table";
  const rows = [
    [line("60", "i-1", { team: "web", "Cost Center": "7", "column:model": "gpt-4" }), { identity_id: "web" }],
    [line("30", "i-2", { team: "data" }), { identity_id: "data" }],
    [line("10", long, {}), nobody],
    [
      line("8", "plan", {}, { product_type: "Premium Support", rule: "support" }),
      { identity_id: "web", ...evenly },
    ],
  ] as const;
  await insertBilling(
    stores,
    "acme",
    rows.map(([each]) => each),
  );
  await insertChargebacks(
    stores,
    "acme",
    rows.map(([{ total_cost: amount, ...each }, charged]) => ({ ...each, ...charged, amount })),
  );

  await t.test("the explorer groups and filters by tags of the bill", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}`);
    await page.getByLabel("Group by").selectOption("line_tag:team");
    await page.waitForURL(/group_by=line_tag%3Ateam/);
    await page.locator("tbody").getByRole("link", { name: "UNTAGGED", exact: true }).waitFor();
    t.strictSame(await page.locator("main .table tbody td:first-child").allInnerTexts(), [
      " web",
      " data",
      " UNTAGGED",
    ]);
    await page.getByRole("button", { name: "Add a filter" }).click();
    await page.getByLabel("Column", { exact: true }).selectOption("line_tag:Cost Center");
    await page.locator(".values li").first().getByRole("button", { name: "Only" }).click();
    await page.waitForURL(/line_tag%3ACost\+Center=7/);
    await until("one group", async () => (await textOf(page, "tfoot .amount")) === "60.00");
    await noBarriers(t, page, "the explorer by a tag of the bill");
  });

  await t.test("the explorer groups and filters by declared columns of the bill", async () => {
    const page = await open(`/tenants/acme/explorer?${period}`);
    await page.getByLabel("Group by").selectOption({ label: "Bill column model" });
    await page.waitForURL(/group_by=column%3Amodel/);
    await page.locator("tbody").getByRole("link", { name: "gpt-4", exact: true }).click();
    await page.waitForURL(/[?&]column%3Amodel=gpt-4/);
    await until("one group", async () => (await textOf(page, "tfoot .amount")) === "60.00");
    await page.locator(".chip").getByText("Bill column model is gpt-4").waitFor();
  });

  await t.test("the rules view shows the condition, lines and amounts of each rule", async (t) => {
    const page = await open(`/tenants/acme/rules?${period}`);
    t.equal(
      await textOf(page, "main .card:nth-of-type(1) tbody tr"),
      "support product_type is like *Support* 1 8.00 USD",
    );
    await page.locator("main .card").first().getByText("8.00").first().click();
    await page.getByText("Part 1, tier 1 · evenly").waitFor();
    t.equal(await page.getByText("A configured rule took every line").count(), 0);
    await noBarriers(t, page, "the rules");
  });

  await t.test("amounts of a rule in several currencies are below each other on a phone", async (t) => {
    const next = "2026-03-02";
    const both = ["USD", "EUR"].map((currency) => ({
      timestamp: `${next}T00:00:00Z`,
      resource_id: "plan",
      product_type: "Premium Support",
      currency,
      rule: "support",
    }));
    const amount = "3723.827160459372";
    await insertBilling(
      stores,
      "acme",
      both.map((each) => ({ ...each, line_tags: {}, total_cost: amount })),
    );
    await insertChargebacks(
      stores,
      "acme",
      both.map((each) => ({ ...each, ...evenly, amount, identity_id: "web" })),
    );
    const page = await open(`/tenants/acme/rules?start_date=${next}&end_date=${next}`, { width: 360 });
    const cell = page.locator("main .card").first().locator("tbody tr td[data-title=Amount]");
    const shown = await cell.locator("summary .amount").evaluateAll((found) =>
      found.map((each) => {
        const { top, right } = each.getBoundingClientRect();
        return { text: each.textContent, top, right };
      }),
    );
    t.strictSame(
      shown.map(({ text }) => text),
      ["3,723.83 EUR", "3,723.83 USD"],
    );
    t.equal(new Set(shown.map(({ right }) => right)).size, 1);
    t.ok((shown[0]?.top ?? 0) < (shown[1]?.top ?? 0));
    t.equal(
      await cell.evaluate((each) => each.scrollWidth > each.clientWidth),
      false,
      "no amount is truncated",
    );
  });

  await t.test("views that ignore filters have no links with filters", async (t) => {
    for (const view of ["overview", "rules", "worklist", "inventory", "deliveries", "runs"]) {
      const page = await open(`/tenants/acme/${view}?${period}&charge_category=Credit`);
      const links = await page
        .locator("main a")
        .evaluateAll((found) => found.map((each) => each.getAttribute("href") ?? ""));
      t.strictSame(
        links.filter((href) => href.includes("charge_category") && !href.includes(`/${view}?`)),
        [],
        view,
      );
    }
  });

  await t.test("unallocated lines say what they are missing, without truncation", async (t) => {
    for (const width of [1280, 390]) {
      const page = await open(`/tenants/acme/worklist?${period}`, { width });
      const missing = page
        .locator("[aria-label='Unallocated lines, and what they are missing'] td.wraps")
        .first();
      const each = missing.locator("div > div");
      t.strictSame(await each.allTextContents(), [
        "no bill tag team",
        `${long} does not match ^team-(?<identity>[a-z]+)$ (the column resource_id)`,
      ]);
      const tops = await each.evaluateAll((found) => found.map((one) => one.getBoundingClientRect().top));
      t.ok((tops[0] ?? 0) < (tops[1] ?? 0), `at ${width} pixels they are below each other`);
      const isCut = await missing.evaluate((cell) => cell.scrollWidth > cell.clientWidth);
      t.equal(isCut, false, `at ${width} pixels nothing is truncated`);
    }
  });

  await t.test("a bill that waits for acceptance counts once a user accepts it", async (t) => {
    await stores.postgres.query(
      "INSERT INTO tenants (tenant_name, tenant_id, ecosystem) VALUES ('acme', 'acme', 'focus') ON CONFLICT DO NOTHING",
    );
    const problem = "it has 75 % fewer lines than the bill that counts, and the month is over";
    const { rows } = await stores.postgres.query<{ id: number }>(
      `INSERT INTO deliveries (tenant_name, source, scope, kind, content_id, settings_hash, billing_period, state, problem, epoch, loaded_at)
       SELECT 'acme', 'aws', month, 'snapshot', 'c', 'h', month, 'waiting_for_acceptance', $1, 1, '2026-06-01T00:01:00Z'
       FROM unnest(ARRAY['2026-04', '2026-05']) AS month ORDER BY month RETURNING delivery_id::int AS id`,
      [problem],
    );
    const [april, may] = rows.map(({ id }) => id);
    const stateOf = async (id: number | undefined) =>
      (await stores.postgres.query("SELECT state FROM deliveries WHERE delivery_id = $1", [id])).rows[0]
        .state;
    await stores.postgres.query(
      `INSERT INTO delivery_changes (tenant_name, deliveries, days, lines_new, lines_changed, lines_gone, payers, sums, is_mixed, is_published)
       VALUES ('acme', ARRAY[$1::bigint], ARRAY['2026-05-02'::date], 1, 2, 0, '[{"identity_id": "web", "currency": "USD", "amount": "1.25"}]',
         '[{"currency": "USD", "amount": "1.25"}]', false, true)`,
      [may],
    );
    const page = await open("/tenants/acme/deliveries");
    await page.getByText("1 day changed: 1 line new, 2 lines changed +1.25 USD").click();
    await page
      .getByRole("group", { name: "Who pays more or less" })
      .getByText("web", { exact: true })
      .waitFor();
    const row = page.locator("tbody tr", { hasText: "2026-05" });
    await row.getByText(problem).waitFor();
    const button = page.getByRole("button", { name: "Accept the bill of aws for 2026-05" });
    await button.click();
    await page.getByRole("button", { name: "Not now" }).click();
    t.equal(await stateOf(may), "waiting_for_acceptance", "the user has to confirm first");
    await button.click();
    await noBarriers(t, page, "the confirmation");
    await page.getByRole("button", { name: "Accept it" }).click();
    await row.getByText("counts", { exact: true }).waitFor();
    t.equal(await stateOf(may), "current");
    t.equal(await stateOf(april), "waiting_for_acceptance", "the other bill still waits");

    const reason = "its last day is 2026-05-31, and retention_days keeps days from 2026-06-01 on";
    await stores.postgres.query(
      "UPDATE deliveries SET state = 'expired', expired_at = now(), problem = $2 WHERE delivery_id = $1",
      [may, reason],
    );
    const later = await open("/tenants/acme/deliveries");
    const old = later.locator("tbody tr", { hasText: "2026-05" });
    await old.getByText("expired", { exact: true }).waitFor();
    t.equal(await old.locator(".hint", { hasText: reason }).count(), 1, "an expired bill says why");
    t.equal(await old.getByRole("button").count(), 0, "an expired bill has no button");
    await later.setViewportSize({ width: 360, height: 900 });
    const state = await old.getByText("expired", { exact: true }).boundingBox();
    t.ok(state !== null && state.height < 30, "on a phone, the state has a line of its own");

    // Meanwhile, another user has refused it.
    await stores.postgres.query(
      "UPDATE deliveries SET state = 'refused', loaded_at = NULL WHERE delivery_id = $1",
      [april],
    );
    await page.getByRole("button", { name: "Accept the bill of aws for 2026-04" }).click();
    await page.getByRole("button", { name: "Accept it" }).click();
    await page.getByRole("alert").getByText("is not waiting for acceptance").waitFor();
    t.equal(await stateOf(april), "refused");
    t.strictSame(
      troubles.splice(0).map((each) => each.replace(/ \(.*/, "")),
      ["/tenants/acme/deliveries: Failed to load resource: the server responded with a status of 409"],
    );
  });
  t.strictSame(troubles, []);
});
