/** Signing in, in a real browser with a real service that requires tokens. */
import { readFileSync } from "node:fs";
import t from "tap";
import type { Scope } from "../../src/domain/scopes.js";
import { createToken, revokeToken } from "../../src/postgres/tokens.js";
import { get, insertChargebacks } from "../http/service.js";
import { needs } from "../programs.js";
import { recordTestDimensions } from "../tags/tagging.js";
import { noBarriers, openMenu, startConsole } from "./pages.js";

const period = "start_date=2026-03-01&end_date=2026-03-01";

t.test("users sign in with a token", needs("chromium"), async (t) => {
  const { app, stores, open } = await startConsole(t, ["auth: tokens"]);
  await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1.25" }]);
  await recordTestDimensions(stores, "acme");
  const made = async (scopes: readonly Scope[]) => {
    const input = { name: scopes.join("-"), scopes, tenants: ["acme"], days: 1 };
    return await createToken(stores.postgres, input, { kind: "command", name: "ada" });
  };
  const [reader, tagger] = [await made(["read"]), await made(["tags"])];
  const page = await open(`/tenants/acme/tags?${period}`);
  const field = page.getByLabel("Token");
  const signIn = async (token: string) => {
    await field.fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForLoadState("networkidle");
  };

  await t.test("an invalid token leads back to the sign-in form", async (t) => {
    await noBarriers(t, page, "sign in");
    await signIn("chgt_none");
    await page.getByText("The service rejected this token.").waitFor();
    t.equal(await page.evaluate("sessionStorage.getItem('token')"), null);
  });

  await t.test("the console hides what the token does not allow", async (t) => {
    await signIn(reader.token);
    await page.getByRole("heading", { name: "Labels", exact: true }).waitFor();
    t.equal(await page.locator("form.tag-form").count(), 0);
    t.strictSame(
      await page.getByLabel("Tenant", { exact: true }).locator("option").allTextContents(),
      ["acme"],
      "other tenants are not listed",
    );
    await openMenu(page);
    await page.getByText("Signed in as read", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await signIn(tagger.token);
    await page.locator("form.tag-form").waitFor();
    t.equal(await page.getByLabel("Author").count(), 0, "the author is known from the token");
  });

  await t.test("a new tag has the caller as its author", async (t) => {
    const form = page.locator("form.tag-form");
    await form.locator("input").nth(0).fill("team");
    await form.locator("input").nth(1).fill("Core");
    await form.locator("button[type=submit]").click();
    await form.locator("button.primary").click();
    await page.locator(".each-tag tbody tr").waitFor();
    const { body } = await get(app, "/api/v1/tenants/acme/tags", { authorization: `Bearer ${reader.token}` });
    t.strictSame(
      body.items.map(({ created_by }: { created_by: string }) => created_by),
      ["tags"],
    );
  });

  await t.test("a download is the file that the API returns", async (t) => {
    await page.goto(`${page.url().split("/tenants")[0]}/tenants/acme/explorer?${period}`);
    const link = page.getByRole("link", { name: "CSV", exact: true });
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    t.equal(
      download.suggestedFilename(),
      "chargebacks_acme_2026-03-01_2026-03-01_0-of-1-days_incomplete.csv",
    );
    const file = await app.inject({
      url: String(await link.getAttribute("href")),
      headers: { authorization: `Bearer ${reader.token}` },
    });
    const columns =
      "timestamp,resource_id,product_category,product_type,identity_id,cost_type,amount,currency,allocation_method,tags";
    t.equal(file.body.split("\n")[0], columns);
    t.equal(file.body.trim().split("\n").length, 2);
    t.equal(readFileSync(await download.path(), "utf8"), file.body);
  });

  await t.test("a revoked token leads back to the sign-in form", async (t) => {
    await revokeToken(stores.postgres, tagger.token_id, { kind: "command", name: "ada" });
    await page.reload();
    await page.getByText("The service rejected this token. It may be wrong, expired or revoked.").waitFor();
    t.equal(await field.count(), 1);
  });
});
