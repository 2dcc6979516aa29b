/** Every view by keyboard and screen reader, without shifts of its layout, in a real browser with a real service. */
import t from "tap";
import { gatherInto } from "../http/gathered-inventory.js";
import { insertBilling, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../until.js";
import { noBarriers, shows, startConsole, tabTo } from "./pages.js";

const days = ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"];
const period = "start_date=2026-03-03&end_date=2026-03-04";

t.test("every view can be used by everybody", needs("chromium"), async (t) => {
  const { stores, open, troubles } = await startConsole(t);
  await insertChargebacks(
    stores,
    "acme",
    days.flatMap((day, at) =>
      Array.from({ length: 14 }, (_, index) => ({
        timestamp: `${day}T00:00:00Z`,
        amount: `${20 * (14 - index) + at * index}.25`,
        identity_id: index === 13 ? "UNALLOCATED" : `sa-${index}`,
        resource_id: `lkc-${index % 4}`,
        product_type: ["CKU", "STORAGE", "NETWORK"][index % 3] ?? "",
        ...(index === 13 && {
          cost_type: "shared" as const,
          allocation_method: "terminal",
          allocation_detail: "owner_unknown",
        }),
      })),
    ),
  );
  await insertBilling(
    stores,
    "acme",
    days.map((day) => ({ timestamp: `${day}T00:00:00Z`, total_cost: "2103.5" })),
  );
  await gatherInto(stores, "acme", {
    at: "2026-03-01T00:00:00Z",
    resources: [0, 1, 2, 3].map((index) => ({ resource_id: `lkc-${index}`, owner_id: "sa-1" })),
    identities: [{ identity_id: "sa-1", metadata: { team: "edge" } }],
  });
  const tenant = "/tenants/acme";
  const places = {
    "the tenants": `/?${period}`,
    "the overview": `${tenant}/overview?${period}`,
    "the explorer": `${tenant}/explorer?${period}&group_by=identity_id&compare=previous&rows=1`,
    "the choice of a statement": `${tenant}/statement?${period}`,
    "a statement": `${tenant}/statement?${period}&identity_id=sa-1`,
    "what to fix": `${tenant}/worklist?${period}`,
    "the bills": `${tenant}/deliveries`,
    "the rules": `${tenant}/rules?${period}`,
    "the inventory": `${tenant}/inventory?${period}`,
    "the runs": `${tenant}/runs?${period}`,
    "the labels": `${tenant}/tags?${period}`,
    "the settings": `${tenant}/settings?${period}`,
  };
  const looks = {
    light: {},
    dark: { dark: true },
    "a phone": { width: 360 },
  };

  await t.test("no view has barriers, and none moves while it loads", async (t) => {
    for (const [look, options] of Object.entries(looks))
      for (const [name, path] of Object.entries(places)) {
        const page = await open(path, options);
        const shift = await page.evaluate<number>("layoutShift");
        t.ok(shift < 0.1, `${name} (${look}): a layout shift of ${shift.toFixed(3)}`);
        await noBarriers(t, page, `${name} (${look})`);
        await page.close();
      }
  });

  await t.test("the focus follows links to the heading, and the page says what it shows", async (t) => {
    const page = await open(places["the explorer"]);
    const focused = () => page.evaluate<string>("document.activeElement.tagName");
    const said = () => page.locator("header ~ [role=status]").textContent();
    await page.getByRole("link", { name: "Inventory" }).click();
    await page.getByRole("heading", { name: "Inventory", level: 1 }).waitFor();
    await until("the heading has the focus", async () => (await focused()) === "H1");
    t.equal(await said(), "Inventory");
    await page.goBack();
    await page.locator("tfoot").first().waitFor();
    await tabTo(page, "sa-3");
    await page.keyboard.press("Enter");
    await until("the heading has the focus", async () => (await focused()) === "H1");
    t.equal(new URL(page.url()).searchParams.get("identity_id"), "sa-3");
    t.equal(await said(), "Explore, Identity is sa-3");
    await page.getByLabel("Group by").focus();
    await page.getByLabel("Group by").selectOption("product_type");
    t.equal(await focused(), "SELECT", "a choice keeps the focus");
    await shows(page, ".updating", 0);
    await page.getByRole("link", { name: /^Why / }).first().click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await shows(page, "dialog", 0);
    t.equal(await focused(), "A", "a drawer returns the focus to its link");
  });

  await t.test("a chart is read with the arrow keys", async (t) => {
    const page = await open(`${tenant}/explorer?${period}&group_by=product_type`);
    const chart = page.getByRole("slider");
    await chart.focus();
    const read = async () => await chart.getAttribute("aria-valuetext");
    t.equal(await read(), "3 Mar 2026: Total 2,285.50 USD; CKU 861.25; STORAGE 771.25; NETWORK 653.00");
    await page.keyboard.press("ArrowRight");
    t.match(await read(), /^4 Mar 2026: Total /);
    await page.locator(".tip", { hasText: "4 Mar 2026" }).waitFor();
    await page.keyboard.press("ArrowRight");
    t.match(await read(), /^4 Mar 2026: /, "it ends at the last bar");
    await page.keyboard.press("Home");
    t.match(await read(), /^3 Mar 2026: /);
    await page.keyboard.press("Tab");
    await shows(page, ".tip", 0);
    t.equal(await read(), "Arrow keys read the figures of each bar.");
  });

  t.strictSame(troubles, []);
});
