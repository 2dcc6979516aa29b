/** Pages of other origins cannot make a browser use the API. The tests send requests and drive a real browser. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { needs } from "../programs.js";
import { dimensionIds, recordTestDimensions, writtenTags } from "../tags/tagging.js";
import { browserPath, launchBrowser } from "./browser.js";
import { insertChargebacks, type Service, startService } from "./service.js";

const CONSOLE = "https://console.example.org";
const OWN = "http://localhost:8080";
const tag = { tag_key: "team", display_name: "Platform", created_by: "page" };
const acme = "/api/v1/tenants/acme";

t.test("pages of other origins and hosts cannot use the API", async (t) => {
  const service = await startService(t, ["enable_cors: true", `cors_origins: ['${CONSOLE}']`]);
  const { app, stores, build, config } = service;
  await insertChargebacks(stores, "acme", [{ timestamp: "2026-03-01T00:00:00Z", amount: "1" }]);
  await recordTestDimensions(stores, "acme");
  const [id] = await dimensionIds(stores, "acme", "sa-1");
  const closed = await build({ config: { ...config, api: { ...config.api, enable_cors: false } } });
  const open = await build({ config: { ...config, api: { ...config.api, cors_origins: ["*"] } } });

  const requested = async (headers: Record<string, string>, to = app) => {
    const response = await to.inject({
      method: "POST",
      url: `${acme}/chargebacks/${id}/tags`,
      headers: { host: "localhost:8080", ...headers },
      payload: tag,
    });
    if (response.statusCode === 201) {
      await app.inject({ method: "DELETE", url: String(response.headers.location) });
      return 201;
    }
    t.strictSame(await writtenTags(stores, "acme"), [], "nothing was written");
    return `${response.statusCode} ${response.json().code}`;
  };
  const refused = "403 cross_site_request";
  const cases: [Record<string, string>, 201 | string][] = [
    [{}, 201],
    [{ "sec-fetch-site": "same-origin", origin: OWN }, 201],
    [{ "sec-fetch-site": "none" }, 201],
    [{ origin: OWN }, 201],
    [{ origin: "HTTP://LOCALHOST:8080" }, 201],
    [{ origin: CONSOLE, "sec-fetch-site": "cross-site" }, 201],
    [{ origin: CONSOLE }, 201],
    [{ "sec-fetch-site": "cross-site" }, refused],
    [{ "sec-fetch-site": "same-site", origin: "http://localhost:3000" }, refused],
    [{ "sec-fetch-site": "cross-site", origin: OWN }, refused],
    [{ "sec-fetch-site": "same-origin, cross-site" }, refused],
    [{ "sec-fetch-site": "" }, refused],
    [{ origin: "https://evil.example" }, refused],
    [{ origin: "https://console.example.org.evil.example" }, refused],
    [{ origin: "http://localhost:3000" }, refused],
    [{ origin: "null" }, refused],
    [{ origin: "" }, refused],
    [{ host: "evil.example", origin: "http://evil.example" }, "421 host_not_allowed"],
  ];
  for (const [headers, wanted] of cases) {
    await t.test(`a write with ${JSON.stringify(headers)}: ${wanted}`, async (t) => {
      t.equal(await requested(headers), wanted);
    });
  }
  await t.test("without enable_cors no other origin can write, and with * every origin can", async (t) => {
    const foreign = { origin: CONSOLE, "sec-fetch-site": "cross-site" };
    t.equal(await requested(foreign, closed), refused);
    t.equal(await requested(foreign, open), 201);
    t.equal(await requested({ origin: "null", "sec-fetch-site": "cross-site" }, open), 201);
  });

  await t.test("every operation with a body refuses cross-site requests, and no read does", async (t) => {
    const of = async (method: "GET" | "POST" | "PATCH" | "DELETE", path: string) => {
      const headers = { "sec-fetch-site": "cross-site" };
      return (await app.inject({ method, url: `${acme}${path}`, headers })).statusCode;
    };
    const writes = [
      ["PATCH", `/chargebacks/${id}`],
      ["PATCH", "/tags/1"],
      ["DELETE", "/tags/1"],
      ["POST", "/tags/bulk"],
      ["POST", "/tags/bulk-by-filter"],
      ["POST", "/pipeline/run"],
      ["POST", "/export"],
    ] as const;
    for (const [method, path] of writes) t.equal(await of(method, path), 403, path);
    for (const path of ["/chargebacks", "/tags", "/status"]) t.equal(await of("GET", path), 200, path);
  });

  await t.test("a Host that is not allowed gets 421 for every path except liveness", async (t) => {
    const under = async (url: string, headers: Record<string, string>, method: "GET" | "OPTIONS" = "GET") => {
      const response = await app.inject({ method, url, headers });
      return [response.statusCode, response.headers["content-type"], response.json().code];
    };
    const problem = [421, "application/problem+json", "host_not_allowed"];
    const host = "evil.example:8080";
    for (const url of [
      "/",
      "/nope",
      "/metrics",
      "/docs",
      "/openapi.json",
      "/api/v1/readiness",
      `${acme}/billing`,
    ])
      t.strictSame(await under(url, { host }), problem, url);
    const preflight = { host, origin: CONSOLE, "access-control-request-method": "POST" };
    t.strictSame(await under(`${acme}/tags/bulk`, preflight, "OPTIONS"), problem);
    t.strictSame(await under("/health", { host }), [200, "application/json; charset=utf-8", undefined]);
  });

  await t.test("a real browser cannot use the API from pages of other origins", needs(browserPath), (t) =>
    inBrowser(t, service),
  );
});

/** One page has a name of its own that resolves to this address. Others post from another origin and another site. */
async function inBrowser(t: Test, { stores, build, config }: Service): Promise<void> {
  const [id] = await dimensionIds(stores, "acme", "sa-1");
  const browser = await launchBrowser(t, "MAP *.example 127.0.0.1");
  const pages = createServer((_, response) =>
    response.setHeader("content-type", "text/html").end("<p>a page</p>"),
  );
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  t.teardown(() => pages.close());
  const attacked = await build({ config: { ...config, api: { ...config.api, enable_cors: false } } });
  const seen: string[] = [];
  attacked.addHook("onResponse", async ({ method, headers }, { statusCode }) => {
    if (method === "POST") seen.push(`${headers["sec-fetch-site"]} ${statusCode}`);
  });
  await attacked.listen({ host: "127.0.0.1", port: 0 });
  const { port } = attacked.server.address() as AddressInfo;
  const { port: elsewhere } = pages.address() as AddressInfo;
  const page = await browser.newPage();

  const rebound = await page.goto(`http://rebound.example:${port}/api/v1/tenants`);
  t.equal(rebound?.status(), 421, "a page whose name was rebound to this address reads nothing");

  const url = `http://127.0.0.1:${port}${acme}/chargebacks/${id}/tags`;
  for (const origin of [`http://page.example:${elsewhere}`, `http://127.0.0.1:${elsewhere}`]) {
    await page.goto(origin);
    const send = ([to, body]: readonly [string, string]) =>
      fetch(to, { method: "POST", mode: "no-cors", body }).then(
        () => undefined,
        () => undefined,
      );
    await page.evaluate(send, [url, JSON.stringify(tag)] as const);
  }
  t.strictSame(seen, ["cross-site 403", "same-site 403"], "no page of another origin writes");
  t.strictSame(await writtenTags(stores, "acme"), [], "nothing was written");

  await page.goto(`http://localhost:${port}/docs`);
  const own = await page.evaluate(
    async (path) => (await fetch(path, { method: "POST" })).status,
    `${acme}/tags/bulk`,
  );
  t.equal(own, 400, "a page of the service itself can write");
}
