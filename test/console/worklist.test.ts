/** Costs to fix, by the causes that one can remove, in a real browser. */
import t from "tap";
import { insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { noBarriers, shows, startConsole, textOf } from "./pages.js";

const period = "start_date=2026-03-01&end_date=2026-03-02";

t.test("costs to fix are grouped by cause, with the share that each adds", needs("chromium"), async (t) => {
  const { app, stores, open, troubles } = await startConsole(t);
  const issue = (amount: string, resource_id: string, product_type: string, detail: string, rule = "") => ({
    timestamp: "2026-03-01T00:00:00Z",
    identity_id: "UNALLOCATED",
    resource_id,
    product_type,
    cost_type: "shared" as const,
    allocation_method: "terminal",
    allocation_detail: detail,
    rule,
    amount,
  });
  await insertChargebacks(stores, "acme", [
    issue("300", "r-1", "STORAGE", "no_identity_on_line", "storage"),
    issue("200", "r-2", "STORAGE", "no_identity_on_line", "storage"),
    issue("495", "r-3", "NETWORK", "no_metrics_located"),
    issue("3", "r-4", "SUPPORT", "no_allocator_for_product_type"),
    issue("2", "r-5", "COMPUTE", "owner_unknown"),
    { timestamp: "2026-03-01T00:00:00Z", identity_id: "sa-1", amount: "5000" },
    ...Array.from({ length: 205 }, (_, index) => ({
      ...issue(`${index + 1}`, "r-1", `P-${index}`, "owner_unknown"),
      timestamp: "2026-03-05T00:00:00Z",
    })),
  ]);
  const page = await open(`/tenants/acme/worklist?${period}`);
  const lacking = "[aria-label='Unallocated lines, and what they are missing'] tbody tr";
  /** The rows of a table: the link in the first cell, then the other cells. */
  const rowsOf = async (caption: string) => {
    const rows = await page.locator(`section[aria-label='${caption}'] tbody tr`).all();
    return await Promise.all(
      rows.map(async (row) => {
        const [link] = await row.locator("a").allInnerTexts();
        const [, ...cells] = await row.locator("td").allInnerTexts();
        return [link, ...cells].join(" ").replace(/\s+/g, " ").trim();
      }),
    );
  };

  await t.test("the list and the number in the menu share their requests", async (t) => {
    const requests: string[] = [];
    page.on("request", (request) => requests.push(new URL(request.url()).pathname.split("/acme/")[1] ?? ""));
    await page.reload();
    await page.waitForLoadState("networkidle");
    await shows(page, "[aria-label=Resources] tbody tr", 5);
    const shared = requests.filter((path) => /breakdown|accepted-causes/.test(path));
    t.strictSame(shared.sort(), ["accepted-causes", "chargebacks/breakdown"]);
  });

  await t.test("the largest causes come first, and small ones on demand", async (t) => {
    const large = [
      "The line names no identity STORAGE storage 500.00 50 % 50 % Accept",
      "No metrics for the resource NETWORK 495.00 50 % 100 % Accept",
    ];
    t.strictSame(await rowsOf("By cause"), large);
    t.equal(await textOf(page, "[aria-label='By cause'] tfoot"), "4 causes 1,000.00");
    await page.getByRole("link", { name: "Show 2 smaller causes, together less than 1 %" }).click();
    await shows(page, "[aria-label='By cause'] tbody tr", 4);
    t.strictSame(await rowsOf("By cause"), [
      ...large,
      "There is no rule for the product SUPPORT 3.00 0.3 % 100 % Accept",
      "The owner is unknown COMPUTE 2.00 0.2 % 100 % Accept",
    ]);
    await noBarriers(t, page, "the causes");
  });

  await t.test("a cause shows its resources, and all of them without it", async (t) => {
    await shows(page, "[aria-label=Resources] tbody tr", 5);
    await page.getByRole("link", { name: "The line names no identity", exact: true }).click();
    await shows(page, "[aria-label=Resources] tbody tr", 2);
    t.strictSame(await rowsOf("Resources"), [
      "r-1 STORAGE UNALLOCATED The line names no identity 1 300.00 USD Assign",
      "r-2 STORAGE UNALLOCATED The line names no identity 1 200.00 USD Assign",
    ]);
    t.match(page.url(), /allocation_detail=no_identity_on_line&cause_product=STORAGE&cause_rule=storage/);
    await page.getByRole("button", { name: "Remove the filter Rule is storage" }).click();
    await page.getByRole("button", { name: "Remove the filter Product is STORAGE" }).click();
    await page.getByLabel("Reason").selectOption("any");
    await shows(page, "[aria-label=Resources] tbody tr", 5);
  });

  await t.test("an accepted cause leaves the list until its day, and is taken back", async (t) => {
    await page.getByRole("link", { name: "To fix (4)" }).waitFor();
    await shows(page, lacking, 4);
    await page.getByRole("link", { name: "Accept The line names no identity, STORAGE, storage" }).click();
    const drawer = page.getByRole("dialog");
    await drawer.getByLabel("Until (UTC)").fill("2026-03-31");
    await drawer.getByLabel("Reason").fill("tagged in March");
    await drawer.getByLabel("Your name").fill("ada");
    await noBarriers(t, page, "the form for an accepted cause");
    await drawer.getByRole("button", { name: "Accept the cause" }).click();
    await drawer.getByText("Saved. The cause leaves the list until 31 Mar 2026.").waitFor();
    await drawer.getByRole("button", { name: "Close" }).click();
    await shows(page, "[aria-label=Resources] tbody tr", 3);
    await page.getByRole("link", { name: "To fix (3)" }).waitFor();
    t.equal(await textOf(page, "[aria-label='By cause'] tfoot"), "3 causes 500.00");
    t.equal((await rowsOf("By cause"))[0], "No metrics for the resource NETWORK 495.00 99 % 99 % Accept");
    await shows(page, lacking, 3);
    await page.getByText("Accepted (1), 500.00 USD, 50 %").click();
    t.strictSame(await rowsOf("Accepted causes"), [
      "STORAGE storage 500.00 USD 31 Mar 2026 tagged in March ada Take back",
    ]);
    await noBarriers(t, page, "the accepted causes");
    await page
      .getByRole("button", { name: "Take back The line names no identity, STORAGE, storage" })
      .click();
    await shows(page, "[aria-label=Resources] tbody tr", 5);
    await page.getByRole("link", { name: "To fix (4)" }).waitFor();
    t.equal(await page.getByText("Accepted (").count(), 0);
  });

  await t.test("of more causes than the list shows, the smallest is accepted and not counted", async (t) => {
    const payload = {
      ...{ allocation_detail: "owner_unknown", product_type: "P-0", rule: "" },
      ...{ accepted_until: "2026-03-31", reason: "tiny", created_by: "ada" },
    };
    await app.inject({ method: "POST", url: "/api/v1/tenants/acme/accepted-causes", payload });
    const many = await open("/tenants/acme/worklist?start_date=2026-03-05&end_date=2026-03-05");
    await many.getByRole("link", { name: "To fix (204)" }).waitFor();
    t.equal(await textOf(many, "[aria-label='By cause'] tfoot"), "204 causes 21,114.00");
    await many.getByText("Accepted (1), 1.00 USD, 0.0 %").waitFor();
  });
  t.strictSame(troubles, []);
});
