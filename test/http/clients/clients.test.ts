/** Clients that are generated from the description of the API compile under `strict`, and send correct requests. */
import type { AddressInfo } from "node:net";
import t from "tap";
import { recordTestDimensions } from "../../tags/tagging.js";
import { insertChargebacks, startService } from "../service.js";
import { generateClients } from "./generate.js";

const script = `
import createClient from "openapi-fetch";
import * as heyApi from "./hey-api";
import { client } from "./hey-api/client.gen";
import type { paths } from "./openapi";
import * as orval from "./orval/api";

const baseUrl = process.argv[2] ?? "";
const querySerializer = { object: { style: "form", explode: true } } as const;
const path = { tenant_name: "acme" };
const team = { tag_key: "team", created_by: "ada", override_existing: false };
const results: Record<string, unknown> = {};

const made = await orval.tagDimensionsByFilter("acme", { ...team, display_name: "One", identity_id: "sa-1", cost_type: "usage" });
results.orval = made.status === 200 ? made.data.created_count : made.data.code;
const none = await orval.listBilling("nobody", { page_size: 1 });
results.orvalError = none.status === 404 ? none.data.code : none.status;

const fetched = createClient<paths>({ baseUrl, querySerializer });
const all = await fetched.POST("/api/v1/tenants/{tenant_name}/tags/bulk-by-filter", {
  params: { path },
  body: { ...team, tag_key: "owner", display_name: "Two", product_type: "STORAGE", "tag:team": "One" },
});
results.openapiFetch = all.data?.created_count ?? all.error?.code;
const tags = { "tag:owner": "Two" };
const rows = await fetched.GET("/api/v1/tenants/{tenant_name}/chargebacks", { params: { path, query: { tags } } });
results.openapiFetchRows = rows.data?.items.map(({ identity_id, amount }) => [identity_id, amount]);

client.setConfig({ baseUrl, querySerializer });
const more = await heyApi.tagDimensionsByFilter({ path, body: { ...team, display_name: "Three", "tag:team": "UNTAGGED" } });
results.heyApi = more.data?.created_count ?? more.error?.code;
const found = await heyApi.listChargebacks({ path, query: { tags: { "tag:team": "Three" } } });
results.heyApiRows = found.data?.items.map(({ identity_id, amount }) => [identity_id, amount]);
console.log(JSON.stringify(results));
`;

t.test("generated clients of orval, openapi-typescript and @hey-api/openapi-ts work", async (t) => {
  const { app, stores } = await startService(t);
  await insertChargebacks(stores, "acme", [
    { timestamp: "2026-03-01T00:00:00Z", amount: "1", identity_id: "sa-1" },
    { timestamp: "2026-03-01T00:00:00Z", amount: "2", identity_id: "sa-2" },
  ]);
  await recordTestDimensions(stores, "acme");
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const clients = await generateClients(t, { url: `http://127.0.0.1:${port}`, script });

  await t.test("generated clients compile under strict", async (t) =>
    t.strictSame(await clients.compile(), []),
  );
  await t.test("generated clients tag by filter and read by tags, without a cast", async (t) => {
    t.strictSame(await clients.use(), {
      orval: 1,
      orvalError: "tenant_not_found",
      openapiFetch: 1,
      openapiFetchRows: [["sa-1", "1"]],
      heyApi: 1,
      heyApiRows: [["sa-2", "2"]],
    });
  });
});
