/** A person finds what nobody pays for, assigns it, and the next run charges it. In a real browser, with real runs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { NOW } from "../http/service.js";
import { csv } from "../ingest/focus/bills.js";
import { needs } from "../programs.js";
import { runContext, runOnce } from "../runner/runs.js";
import { temporaryFolder } from "../stores.js";
import { noBarriers, shows, startConsole, textOf } from "./pages.js";

const list = "[aria-label=Resources] tbody tr";

t.test("what nobody pays for is assigned, and leaves the worklist", needs("chromium"), async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "bills", "2026-03"), { recursive: true });
  const lines = ["2026-03-01", "2026-03-02"].flatMap((day) =>
    Object.entries({ "i-1": "60", "i-2": "30", "i-3": "10" }).map(([ResourceId, EffectiveCost]) => ({
      ChargePeriodStart: `${day}T00:00:00Z`,
      ChargePeriodEnd: `${day}T23:59:59Z`,
      SubAccountId: "4711",
      ResourceId,
      EffectiveCost,
    })),
  );
  writeFileSync(join(folder, "bills", "2026-03", "bill.csv"), csv(lines));
  const map = join(folder, "accounts.csv");
  writeFileSync(map, "value,identity\n1,web\n");
  const tenant = (name: string, identity: string) => `  ${name}:
    ecosystem: focus
    tenant_id: ${name}
    lookback_days: 30
    cutoff_days: 1
    storage: { connection_string: "embedded:${name}" }
    allocation: { identity: [${identity}{ column: SubAccountId, map: ${map} }] }
    plugin_settings:
      sources: [{ name: bills, location: ${join(folder, "bills")}, limits: { settle_seconds: 0 } }]`;
  const tenants = [tenant("cloud", "{ assigned: resource_id }, "), tenant("unassigned", "")];
  const { app, config, stores, open, troubles } = await startConsole(t, [], [], tenants);
  const run = async () =>
    (await runOnce(runContext(stores, { now: () => NOW }), config, "cloud")).dates_calculated;
  t.equal(await run(), 2);
  const address = "/tenants/cloud/worklist?start_date=2026-03-01&end_date=2026-03-02";
  const page = await open(address);
  await shows(page, list, 3);
  const drawer = page.getByRole("dialog");

  await t.test("two resources are assigned from the second day on", async (t) => {
    await page.getByLabel("Select i-1").check();
    await page.getByLabel("Select i-3").check();
    await page.getByRole("button", { name: "Assign the selected (2)" }).click();
    await drawer.getByRole("heading", { name: "Who do these 2 resources belong to?" }).waitFor();
    t.equal(await drawer.getByLabel("From day").inputValue(), "2026-03-01");
    await noBarriers(t, page, "the form for assignments");
    await drawer.getByLabel("Identity or team").fill("payments");
    await drawer.getByLabel("From day").fill("2026-03-02");
    await drawer.getByLabel("Reason").fill("they took it over");
    await drawer.getByLabel("Your name").fill("ada");
    await drawer.getByRole("button", { name: "Save the assignment" }).click();
    await drawer.getByText("Saved for 2 resources. The next run charges payments.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Assigned to payments. The next run counts it.").first().waitFor();
    t.match(await textOf(page, list), /^i-1 .* Assigned to payments\. The next run counts it\./);
    await shows(page, "[aria-label=Assignments] tbody tr", 2);
  });

  await t.test("the next run charges the identity, and the first day is left", async (t) => {
    t.equal(await run(), 1);
    await page.reload();
    await shows(page, list, 3);
    t.match(await textOf(page, list), /60/);
    const later = await open(address.replace("start_date=2026-03-01", "start_date=2026-03-02"));
    await shows(later, list, 1);
    t.match(await textOf(later, list), /^i-2 /);
  });

  await t.test("an overlap is refused next to the form, with both named", async (t) => {
    await page.getByRole("link", { name: "Assign i-1" }).click();
    await drawer.getByText("since 2026-03-02").waitFor();
    await drawer.getByLabel("Identity or team").fill("ops");
    await drawer.getByLabel("Reason").fill("no");
    await drawer.getByLabel("Your name").fill("ada");
    await drawer.getByRole("button", { name: "Save the assignment" }).click();
    t.match(
      await drawer.getByRole("alert").textContent(),
      /belongs to "payments" from 2026-03-02 without end \(assignment \d+\), and would belong to "ops" from 2026-03-01/,
    );
    await drawer.getByLabel("Last day (optional)").fill("2026-03-01");
    await drawer.getByRole("button", { name: "Save the assignment" }).click();
    await drawer.getByText("Saved. The next run charges ops.").waitFor();
    await page.keyboard.press("Escape");
  });

  await t.test("the lines of the map and of a rule can be copied instead", async (t) => {
    await page.getByRole("link", { name: "Assign i-2" }).click();
    await drawer.getByText("Or change the configuration").click();
    await drawer.getByText(`Add this line to the map ${map}:`).waitFor();
    t.strictSame(await drawer.locator("pre").allInnerTexts(), [
      "4711,WHO-PAYS",
      `allocation:
  rules:
    - name: assigned-by-hand
      where: { resource_id: ["i-2"] }
      split: [{ by: fixed, shares: { WHO-PAYS: 1 } }]`,
    ]);
    await drawer.getByLabel("Identity or team").fill("search");
    await drawer.getByLabel("Reason").fill("theirs");
    await drawer.getByLabel("Your name").fill("ada");
    await drawer.getByRole("button", { name: "Save the assignment" }).click();
    await drawer.getByText("Saved. The next run charges search.").waitFor();
    await page.keyboard.press("Escape");
    t.equal(await run(), 2);
    await page.reload();
    await shows(page, list, 1);
    t.match(await textOf(page, list), /^i-3 /, "only the first day of i-3 is left");
  });

  await t.test("a tenant that reads no assignments shows what its configuration lacks", async (t) => {
    const other = await open(`${address.replace("cloud", "unassigned")}&assign=i-1`);
    const shown = other.getByRole("dialog");
    await shown.getByText("This tenant does not read assignments.").waitFor();
    t.equal(await textOf(other, ".copied pre"), "allocation: identity: - assigned: resource_id");
    t.equal(await shown.getByRole("button", { name: "Save the assignment" }).count(), 0);
    await noBarriers(t, other, "a tenant without assignments");
  });

  await t.test("an assignment ends, and is deleted after a confirmation", async (t) => {
    const assignments = page.locator(".assignments");
    await assignments.getByRole("button", { name: "End the assignment of i-2" }).click();
    await assignments.getByLabel("Last day").fill("2026-03-01");
    await assignments.getByRole("button", { name: "End", exact: true }).click();
    await assignments.getByText("2026-03-01 – 2026-03-01").first().waitFor();
    await assignments.getByRole("button", { name: "Delete the assignment of i-3" }).click();
    await assignments.getByText("Delete this assignment, for all of its days?").waitFor();
    await assignments.getByRole("button", { name: "Delete", exact: true }).click();
    await shows(page, "[aria-label=Assignments] tbody tr", 3);
    const response = await app.inject({
      method: "GET",
      url: "/api/v1/tenants/cloud/assignments/map?valid_on=2026-03-02",
    });
    t.equal(response.body, "value,identity\r\ni-1,payments\r\n");
    await noBarriers(t, page, "the worklist with assignments");
  });

  t.strictSame(
    troubles.filter((trouble) => !/status of 409/.test(trouble)),
    [],
  );
});
