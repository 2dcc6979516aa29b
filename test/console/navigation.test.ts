/** The header: views in groups, the menu, and sheets on a phone. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { parameters } from "../../src/console/state/parameters.js";
import { insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { until } from "../until.js";
import { noBarriers, openMenu, shows, startConsole, textOf } from "./pages.js";

const day = "2026-03-01";
const period = `start_date=${day}&end_date=${day}`;

t.test("views are grouped by who needs them, also on a phone", needs("chromium"), async (t) => {
  const { stores, open, troubles } = await startConsole(t);
  await insertChargebacks(stores, "acme", [
    { timestamp: `${day}T00:00:00Z`, amount: "1.25", identity_id: "sa-1" },
    ...["r-1", "r-2"].map((resource_id) => ({
      timestamp: `${day}T00:00:00Z`,
      amount: "2.5",
      identity_id: "UNALLOCATED",
      resource_id,
      allocation_method: "terminal",
      allocation_detail: "owner_unknown",
    })),
  ]);

  await t.test("two groups of links lead to all views, with the number of costs to fix", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}&group_by=team&team=x&rows=2`);
    await page.getByRole("link", { name: "To fix (1)" }).waitFor();
    const groups = await page
      .locator("header nav ul")
      .evaluateAll((lists) => lists.map((list) => [...list.children].map((each) => each.textContent)));
    t.strictSame(groups, [
      ["Overview", "Explore", "Statements", "To fix (1)"],
      ["Bills", "Rules", "Inventory", "Runs", "Labels"],
    ]);
    const address = await page.getByRole("link", { name: "Statements" }).getAttribute("href");
    t.equal(address, `/tenants/acme/statement?${period}&team=x`, "days and filters follow the reader");
    for (const [name, heading] of [
      ["To fix (1)", "To fix"],
      ["Bills", "Bills"],
      ["Labels", "Labels"],
    ] as const) {
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("heading", { name: heading, level: 1, exact: true }).waitFor();
      t.equal(await textOf(page, "nav [aria-current]"), name);
    }
  });

  await t.test("the menu has settings and links, and closes by Escape", async (t) => {
    const page = await open(`/tenants/acme/overview?${period}`);
    t.equal(await page.locator("footer").count(), 0);
    await openMenu(page);
    const menu = page.locator("#menu");
    await menu.getByLabel("Theme").selectOption("dark");
    t.equal(await page.evaluate("document.documentElement.dataset.theme"), "dark");
    await noBarriers(t, page, "the open menu");
    t.equal(await menu.getByRole("link", { name: "API reference" }).getAttribute("href"), "/docs");
    t.equal(await menu.getByText("Signed in as").count(), 0, "this service needs no sign-in");
    await page.keyboard.press("Escape");
    t.notOk(await menu.isVisible());
    t.equal(await page.evaluate("document.activeElement.className"), "menu-opener");
  });

  await t.test("a phone shows one line, and opens views, days and filters as sheets", async (t) => {
    const page = await open(`/tenants/acme/explorer?${period}`, { width: 360 });
    const header = await page.locator("header").boundingBox();
    t.ok(header !== null && header.height < 50, `${header?.height} pixels`);
    t.notOk(await page.getByRole("link", { name: "Runs" }).isVisible());
    await page.getByRole("button", { name: "Filters", exact: true }).click();
    await page.getByRole("button", { name: "+ Add a filter" }).click();
    await page.getByRole("button", { name: "Only" }).first().click();
    await page.getByRole("button", { name: "Remove the filter Identity is sa-1" }).waitFor();
    await shows(page, ".updating", 0);
    await noBarriers(t, page, "the sheet of filters");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Filters (1)" }).waitFor();
    await page.getByRole("button", { name: "1 Mar 2026" }).click();
    await page.getByLabel("To", { exact: true }).fill("2026-03-02");
    await page.getByRole("button", { name: "1 Mar – 2 Mar 2026" }).waitFor();
    await page.keyboard.press("Escape");
    await shows(page, ".stale", 0);
    await page.getByRole("button", { name: "Explore" }).click();
    await page.getByLabel("Tenant", { exact: true }).waitFor();
    await noBarriers(t, page, "the sheet of views");
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("heading", { name: "Runs", level: 1 }).waitFor();
    await shows(page, ":popover-open", 0);
    await page.getByRole("button", { name: "Runs" }).click();
    await page.getByLabel("Tenant", { exact: true }).selectOption("globex");
    await until("the other tenant is shown", async () =>
      new URL(page.url()).pathname.startsWith("/tenants/globex/"),
    );
  });

  t.strictSame(troubles, []);
});

t.test("the table of parameters has every parameter that a view reads", async (t) => {
  const sources = join(projectRoot(), "src/console");
  const read = readdirSync(sources, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".tsx"))
    .flatMap((file) => {
      const [, view] = /^views\/(\w+)/.exec(file) ?? [];
      const text = readFileSync(join(sources, file), "utf8");
      return [...text.matchAll(/query\.get(?:All)?\("(\w+)"\)/g)].map(([, name = ""]) => ({ view, name }));
    })
    // A filter, which this view alone shows as a choice.
    .filter(({ name }) => name !== "allocation_detail");
  t.ok(read.length > 10);
  for (const { view, name } of read) {
    const parameter = parameters[name];
    t.ok(parameter, name);
    const views: readonly string[] | undefined = parameter?.views;
    t.ok(view === undefined || (views?.includes(view) ?? true), `${name} is read by the view ${view}`);
  }
});
