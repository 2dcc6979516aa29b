/** Editing single tags, in a real browser with a real service. */
import t from "tap";
import { get, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { recordTestDimensions } from "../tags/tagging.js";
import { until } from "../until.js";
import { digitsOf, inCents, noBarriers, shows, startConsole, textOf } from "./pages.js";

const day = "2026-03-01";
const period = `start_date=${day}&end_date=${day}`;
const hostile = "<b>Netz & Co, \\ 'x' \u202eabc 🧾";
const api = "/api/v1/tenants/acme";

t.test("single tags can be edited in the console", needs("chromium"), async (t) => {
  const { app, stores, open, troubles } = await startConsole(t);
  await insertChargebacks(
    stores,
    "acme",
    ["STORAGE", "NETWORK", "READ"].map((product_type, index) => ({
      timestamp: `${day}T00:00:00Z`,
      identity_id: `sa-${index}`,
      product_type,
      amount: `${index + 1}.123456789012`,
    })),
  );
  await recordTestDimensions(stores, "acme");
  const { body: rows } = await get(app, `${api}/chargebacks?${period}`);
  const dimensionOf = (product: string): number =>
    rows.items.find((row: { product_type: string }) => row.product_type === product).dimension_id;
  const tagged = async () =>
    (await get(app, `${api}/tags`)).body.items.map(
      (tag: { tag_key: string; display_name: string; created_by: string; product_type: string }) =>
        `${tag.product_type} ${tag.tag_key}=${tag.display_name} by ${tag.created_by}`,
    );
  for (const [product, display_name] of [
    ["STORAGE", "web"],
    ["NETWORK", "data"],
  ] as const) {
    const url = `${api}/chargebacks/${dimensionOf(product)}/tags`;
    const payload = { tag_key: "squad", display_name, created_by: "ada" };
    t.equal((await app.inject({ method: "POST", url, payload })).statusCode, 201);
  }
  const page = await open(`/tenants/acme/tags?${period}`);
  const each = page.locator(".each-tag tbody tr");
  const edit = page.locator("form.edit");
  /** The page shows the API's sums by tag. */
  const sameSums = async (message: string) => {
    const { body } = await get(app, `${api}/chargebacks/breakdown?${period}&group_by=tag:squad`);
    const wanted = body.groups.map(
      (group: { dimensions: Record<string, string>; total_amount: string }) =>
        `${group.dimensions["tag:squad"]?.replace("UNTAGGED", "(without this label)")} ${inCents(group.total_amount)}`,
    );
    const shown = async () => {
      const cells = await page
        .locator(".card:not(.each-tag) tbody tr")
        .evaluateAll((found) => found.map((row) => [...row.children].map((cell) => cell.textContent ?? "")));
      return cells.map(([name, , amount = ""]) => `${name} ${digitsOf(amount)}`);
    };
    await until(message, async () => JSON.stringify(await shown()) === JSON.stringify(wanted));
    t.strictSame(await shown(), wanted, message);
  };

  await t.test("all tags are listed and can be searched", async (t) => {
    await shows(page, ".each-tag tbody tr", 2);
    t.match(
      await textOf(page, ".each-tag tbody tr"),
      /^squad web Rename Remove sa-0 STORAGE r-1 ada All its labels$/,
    );
    await sameSums("sums by tag");
    await page.getByLabel("Search keys and values").fill("DAT");
    await shows(page, ".each-tag tbody tr", 1);
    t.equal(new URL(page.url()).searchParams.get("search"), "DAT");
    await page.getByLabel("Search keys and values").fill("none");
    await page.getByText("No label found").waitFor();
    await page.getByLabel("Search keys and values").fill("");
    await shows(page, ".each-tag tbody tr", 2);
    await noBarriers(t, page, "all tags");
  });

  await t.test("a tag is renamed, and an error of the API is shown next to it", async (t) => {
    await each.getByRole("button", { name: "Rename the label squad=data" }).click();
    const field = edit.getByLabel("Value");
    t.equal(await field.inputValue(), "data");
    await noBarriers(t, page, "a tag that is renamed");
    await field.press("Escape");
    t.equal(await edit.count(), 0, "Escape cancels the change");
    const back = "document.activeElement.getAttribute('aria-label')";
    t.equal(await page.evaluate(back), "Rename the label squad=data", "the focus returns to the button");
    await each.getByRole("button", { name: "Rename the label squad=data" }).click();
    await field.fill("a\u0001b");
    await edit.getByRole("button", { name: "Save" }).click();
    t.match(await edit.getByRole("alert").textContent(), /without control characters/);
    await field.fill(hostile);
    await edit.getByRole("button", { name: "Save" }).click();
    await until("it is saved", async () => (await edit.count()) === 0);
    t.strictSame(await tagged(), ["STORAGE squad=web by ada", `NETWORK squad=${hostile} by ada`]);
    await each.getByRole("button", { name: `Rename the label squad=${hostile}` }).waitFor();
    await sameSums("sums by tag, one renamed");
  });

  await t.test("a tag is removed after a confirmation", async (t) => {
    await each.getByRole("button", { name: "Remove the label squad=web" }).click();
    await edit.getByText("Remove this label? web").waitFor();
    await edit.getByRole("button", { name: "Cancel" }).click();
    t.equal((await tagged()).length, 2);
    await each.getByRole("button", { name: "Remove the label squad=web" }).click();
    await edit.getByRole("button", { name: "Remove" }).click();
    await shows(page, ".each-tag tbody tr", 1);
    t.strictSame(await tagged(), [`NETWORK squad=${hostile} by ada`]);
    await sameSums("sums by tag, one removed");
  });

  await t.test("a tag is added to a dimension from a row, and the view behind reloads", async (t) => {
    const rowsPage = await open(`/tenants/acme/explorer?${period}&group_by=tag:squad&rows=1`);
    await rowsPage.getByRole("link", { name: "Labels of READ, paid by sa-2" }).click();
    const drawer = rowsPage.getByRole("dialog", { name: "Labels of one charge" });
    await drawer.getByText("No labels yet.").waitFor();
    t.equal(new URL(rowsPage.url()).searchParams.get("dimension"), String(dimensionOf("READ")));
    await noBarriers(t, rowsPage, "the tags of a dimension");
    const add = async (key: string, value: string) => {
      await drawer.getByLabel("Key").fill(key);
      await drawer.getByLabel("Value").fill(value);
      await drawer.getByLabel("Your name").fill("bob");
      await drawer.getByRole("button", { name: "Add a label" }).click();
    };
    await add("squad", "web");
    await drawer.getByRole("button", { name: "Remove the label squad=web" }).waitFor();
    await add("squad", "other");
    t.match(await drawer.getByRole("alert").textContent(), /squad/, "a dimension has each key only once");
    await add("stage", "prod");
    await drawer.getByRole("button", { name: "Remove the label stage=prod" }).waitFor();
    t.equal(await drawer.getByRole("alert").count(), 0);
    t.strictSame(await tagged(), [
      `NETWORK squad=${hostile} by ada`,
      "READ squad=web by bob",
      "READ stage=prod by bob",
    ]);
    await until("the view behind has the tag", async () =>
      (await rowsPage.locator("tbody tr td:first-child").allInnerTexts()).some(
        (name) => name.trim() === "web",
      ),
    );
    const copied = await open(new URL(rowsPage.url()).pathname + new URL(rowsPage.url()).search);
    await copied.getByRole("dialog").getByRole("button", { name: "Remove the label stage=prod" }).waitFor();
    await rowsPage.keyboard.press("Escape");
    await until("it is closed", async () => !new URL(rowsPage.url()).searchParams.has("dimension"));
    await page.reload();
    await shows(page, ".each-tag tbody tr", 3);
    await sameSums("sums by tag, one added");
    for (const wrong of ["x", "1e5"]) {
      const none = await open(`/tenants/acme/tags?dimension=${wrong}`);
      await none.getByText("This link does not point to a charge").waitFor();
    }
  });

  t.strictSame(
    // The tests above send names and keys that the API rejects.
    troubles.filter((trouble) => !/status of (400|409|422)/.test(trouble)),
    [],
  );
});
