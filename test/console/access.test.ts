/** The pages of tokens, sessions and the audit, in a real browser with a real service. */
import t from "tap";
import { createToken } from "../../src/postgres/tokens.js";
import { get } from "../http/service.js";
import { needs } from "../programs.js";
import { noBarriers, openMenu, startConsole } from "./pages.js";

const local = { kind: "command", name: "ada" } as const;

t.test("administrators manage tokens and sessions, and read the audit", needs("chromium"), async (t) => {
  const { app, stores, open, url, troubles } = await startConsole(t, ["auth: tokens"]);
  const { postgres } = stores;
  const made = async (name: string, scopes: readonly ["admin"] | readonly ["read"]) =>
    await createToken(postgres, { name, scopes, tenants: null, days: 1 }, local);
  const [admin, reader] = [await made("ada", ["admin"]), await made("bob", ["read"])];
  const page = await open("/");
  const other = await open("/");
  const signIn = async (on: typeof page, token: string) => {
    await on.getByLabel("Token").fill(token);
    await on.getByRole("button", { name: "Sign in" }).click();
    await on.getByRole("heading", { name: "Tenants" }).waitFor();
  };
  await signIn(page, admin.token);
  await signIn(other, reader.token);
  troubles.length = 0;

  await t.test("the menu has the pages for those who may use them", async (t) => {
    await openMenu(other);
    await other.getByText("Signed in as bob").waitFor();
    t.equal(await other.getByRole("link", { name: "Tokens and sessions" }).count(), 0);
    await openMenu(page);
    await page.getByRole("link", { name: "Tokens and sessions" }).click();
    await page.getByRole("heading", { name: "Tokens and sessions" }).waitFor();
    t.equal(new URL(page.url()).pathname, "/access");
    t.equal(await page.title(), "Tokens and sessions · chargehouse");
    await page.getByRole("button", { name: "Revoke token 2 of bob" }).waitFor();
    await noBarriers(t, page, "tokens and sessions");
  });

  await t.test("a new token is shown once and works", async (t) => {
    await page.getByLabel("Name").fill("grafana");
    const create = page.getByRole("button", { name: "Create a token" });
    t.equal(await create.isDisabled(), true, "nobody gets access to every tenant by leaving out a choice");
    await page.getByRole("checkbox", { name: "acme" }).check();
    await create.click();
    const token = await page.getByRole("status").locator("code").textContent();
    const { body } = await get(app, "/api/v1/me", { authorization: `Bearer ${token}` });
    t.strictSame([body.name, body.scopes, body.tenants], ["grafana", ["read"], ["acme"]]);
    await page.getByRole("button", { name: "Revoke token 3 of grafana" }).click();
    await page.getByRole("button", { name: "Revoke", exact: true }).first().click();
    await page.getByRole("cell", { name: "revoked" }).waitFor();
    t.equal((await get(app, "/api/v1/me", { authorization: `Bearer ${token}` })).status, 401);
  });

  await t.test("ending a session signs its user out", async (t) => {
    t.equal(await page.getByText("this one").count(), 1);
    const bob = page.getByRole("button", { name: /^End session \d+ of bob$/ });
    await bob.click();
    await bob.waitFor({ state: "detached" });
    await other.reload();
    await other.getByLabel("Token").waitFor();
  });

  await t.test("the audit can be narrowed to a person and an operation", async (t) => {
    await page.goto(`${url}/audit?actor=ada&action=endSession`);
    await page.getByRole("cell", { name: "endSession" }).waitFor();
    t.equal(await page.locator("tbody tr").count(), 1);
    await noBarriers(t, page, "the audit");
    await page.getByLabel("What").fill("signIn");
    await page.keyboard.press("Enter");
    await page.getByRole("cell", { name: "signIn" }).waitFor();
    t.equal(new URL(page.url()).search, "?actor=ada&action=signIn");
    t.equal(await page.locator("tbody tr").count(), 1);
  });

  t.strictSame(
    troubles.filter((trouble) => !trouble.includes("401")),
    [],
  );
});
