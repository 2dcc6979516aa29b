/** The settings of a tenant, in a real browser with a real service. */
import t from "tap";
import { get } from "../http/service.js";
import { needs } from "../programs.js";
import { temporaryFolder } from "../stores.js";
import { noBarriers, shows, startConsole, textOf } from "./pages.js";

const uploads = "table[aria-label='Uploads of usage'] tbody tr, [aria-label='Uploads of usage'] tbody tr";

t.test("usage is uploaded, and others learn how they get the data out", needs("chromium"), async (t) => {
  const tenant = `  cloud:
    ecosystem: focus
    tenant_id: cloud
    lookback_days: 30
    cutoff_days: 1
    storage: { connection_string: "embedded:cloud" }
    plugin_settings:
      usage: { uploads: { metrics: [cpu], max_mib: 1 } }
      sources: [{ name: bills, location: ${temporaryFolder(t)} }]`;
  const { app, open, url, troubles } = await startConsole(t, [], [], [tenant]);
  const page = await open("/tenants/cloud/settings?start_date=2026-03-01&end_date=2026-03-02");
  await page.getByText("No usage was uploaded.").waitFor();
  const send = async (name: string, csv: string) => {
    await page.getByLabel("File").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(csv) });
    await page.getByRole("button", { name: "Upload", exact: true }).click();
  };
  const header = "date,metric,resource_id,identity_id,quantity\n";

  await t.test("a file is sent under its name, and listed", async (t) => {
    await send("march.csv", `${header}2026-03-01,cpu,vm-1,web,1.5\n2026-03-02,cpu,vm-1,web,2\n`);
    await page.getByText("2 rows stored.").waitFor();
    await shows(page, uploads, 1);
    t.match(
      await textOf(page, uploads),
      /^march\.csv .*stored 2026-03-01 – 2026-03-02 cpu 2 2 of 2 days and metrics$/,
    );
    const { items } = (await get(app, "/api/v1/tenants/cloud/usage")).body;
    t.equal(items[0].idempotency_key, "march.csv");
  });

  await t.test("an error is next to the form, and the list says what is wrong with the file", async (t) => {
    await page.getByLabel("Name of the upload").fill("april.csv");
    await send("april.csv", `${header}2026-03-01,gpu,vm-1,web,1\n`);
    t.match(await page.getByRole("alert").textContent(), /cpu/);
    await noBarriers(t, page, "the settings");
  });

  await t.test("the FOCUS export is a link and a command with the same address", async (t) => {
    await page.getByLabel("Format").selectOption("Parquet");
    const link = page.getByRole("link", { name: "Download" });
    const query = "format=focus_parquet&start_date=2026-03-01&end_date=2026-03-02&focus_version=1.4";
    await page.locator(`a[href*='${query}']`).first().waitFor();
    t.equal(await link.getAttribute("href"), `/api/v1/tenants/cloud/export?${query}`);
    t.equal(
      await page.locator("pre").first().textContent(),
      `curl -H "Authorization: Bearer $TOKEN" -OJ "${url}/api/v1/tenants/cloud/export?${query}"`,
    );
  });

  await t.test("a tenant that takes no uploads has no form, and the page says why", async (t) => {
    const none = await open("/tenants/acme/settings");
    await none.getByText("This tenant takes no uploads").waitFor();
    t.equal(await none.getByLabel("File").count(), 0);
  });

  await t.test("the page fits on a phone, with the command in view", async (t) => {
    const phone = await open("/tenants/cloud/settings", { width: 360 });
    t.equal(await phone.evaluate("document.documentElement.scrollWidth"), 360);
    const box = await phone.locator("pre").first().boundingBox();
    t.ok(box !== null && box.x < 360);
  });

  await t.test("a closed SQL port says who opens it", async () => {
    await page.getByText("An administrator opens it with embedded.sql_port and a SQL user.").waitFor();
  });
  troubles.splice(0, troubles.length, ...troubles.filter((each) => !each.includes("status of 400")));
  t.strictSame(troubles, []);
});
