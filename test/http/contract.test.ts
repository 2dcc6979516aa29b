import t from "tap";
import type { ApiDocument } from "../../src/http/description/openapi-types.js";
import { openapiDocument } from "../../src/http/description/write-documents.js";
import { holds } from "../holds.js";
import { lineNotOfCloud } from "../not-of-cloud.js";
import { type ContractResponse, judgeOf } from "./contract.js";

/** All tests of this folder rely on this check. */
t.test("a response that breaks the documented contract is reported", async (t) => {
  const document: ApiDocument = JSON.parse(await openapiDocument());
  const judge = judgeOf(document);
  const page = {
    items: [
      {
        ecosystem: "e",
        tenant_id: "acme",
        timestamp: "2026-01-01T00:00:00Z",
        resource_id: "r-1",
        product_category: "c",
        product_type: "p",
        quantity: "1",
        unit_price: "1",
        total_cost: "1.5",
        currency: "USD",
        ...lineNotOfCloud,
        granularity: "daily",
        resource_name: null,
        resource_type: "cluster",
        metadata: { anything: [1] },
      },
    ],
    total: 1,
    page: 1,
    page_size: 100,
    pages: 1,
    next_cursor: null,
  };
  const billing = (body: unknown, more: Partial<ContractResponse> = {}): ContractResponse => ({
    operationId: "listBilling",
    status: 200,
    type: "application/json",
    body,
    ...more,
  });
  const problem = (code: string, status: number) => ({
    type: "about:blank",
    title: "t",
    status,
    detail: "d",
    code,
  });
  const broken = { type: "application/problem+json" } as const;
  const line = page.items[0];

  t.equal(judge(billing(page)), undefined);
  t.equal(judge(billing(undefined, { status: 304, type: undefined })), undefined);
  t.equal(judge(billing(problem("invalid_cursor", 400), { ...broken, status: 400 })), undefined);
  t.equal(
    judge({ operationId: undefined, status: 405, ...broken, body: problem("method_not_allowed", 405) }),
    undefined,
  );

  const faults: [string, ContractResponse, RegExp][] = [
    ["a status that is not documented", billing({}, { status: 418 }), /418 .* not documented/],
    ["a type that is not documented", billing(page, { type: "text/html" }), /text\/html: is not documented/],
    ["no type where there is to be a body", billing(undefined, { type: undefined }), /not documented/],
    ["a body where there is to be none", billing(page, { status: 304 }), /not documented/],
    ["a field that is missing", billing({ ...page, total: undefined }), /required property 'total'/],
    ["a field that is not documented", billing({ ...page, sql: "SELECT" }), /unevaluated.*sql/],
    [
      "a field inside that is not documented",
      billing({ ...page, items: [{ ...line, x: 1 }] }),
      /items\/0.*unevaluated/,
    ],
    [
      "money as a number",
      billing({ ...page, items: [{ ...line, total_cost: 1.5 }] }),
      /total_cost must be string/,
    ],
    [
      "money with an exponent",
      billing({ ...page, items: [{ ...line, total_cost: "1e3" }] }),
      /must match pattern/,
    ],
    ["null for a text", billing({ ...page, items: [{ ...line, resource_id: null }] }), /must be string/],
    [
      "an error of another operation",
      billing(problem("tag_not_found", 404), { ...broken, status: 404 }),
      /code/,
    ],
    [
      "a status that is not that of the body",
      billing(problem("tenant_not_found", 400), { ...broken, status: 404 }),
      /status/,
    ],
    [
      "an error that is no problem",
      billing({ error: "no" }, { ...broken, status: 500 }),
      /required property/,
    ],
    [
      "HTML where the API has no such path",
      { operationId: undefined, status: 404, type: "text/html", body: "" },
      /not documented/,
    ],
  ];
  for (const [name, response, fault] of faults) {
    await t.test(name, async (t) => {
      holds(
        t,
        judge({ ...response, body: response.body && JSON.parse(JSON.stringify(response.body)) }) ?? "nothing",
        fault,
      );
    });
  }
});
