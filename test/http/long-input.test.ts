/** An invalid request of any length gets a short response, and costs little. */
import t from "tap";
import {
  type ApiDocument,
  operationsOf,
  resolvedParameter,
} from "../../src/http/description/openapi-types.js";
import { documentOf } from "./contract.js";
import { startService } from "./service.js";

/** The longest response in characters. It lists twenty problems with their allowed values. */
const LONGEST = 32_000;
const LONG = "x".repeat(8_000);

t.test("responses to long input are short", async (t) => {
  const { app } = await startService(t);
  await app.ready();
  const document: ApiDocument = documentOf(app);
  const long: string[] = [];
  const send = async (method: "GET" | "POST" | "PATCH" | "DELETE", url: string, payload?: object) => {
    const response = await app.inject({ method, url, ...(payload && { payload }) });
    if (response.statusCode >= 400 && response.body.length > LONGEST)
      long.push(`${method} ${url.slice(0, 100)}: ${response.body.length}`);
    return response;
  };
  const parameters = (length: number, name: (index: number) => string) =>
    Array.from({ length }, (_, index) => `${name(index)}=1`).join("&");
  const fields = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, index) => [`field ${index}`, index]));
  const bodies: readonly (readonly [string, object])[] = [
    ["a field of a megabyte", { [LONG.repeat(125)]: 1 }],
    ["tens of thousands of fields", fields(60_000)],
    ["the same inside", { filters: fields(50_000), tags: Array(500).fill(fields(100)) }],
    [
      "long values",
      { columns: Array(99).fill(LONG), timezone: LONG, start_date: LONG, tag_key: LONG, created_by: LONG },
    ],
    ["long tags", { [`tag:${LONG}`]: LONG, filters: { [`tag:${LONG}`]: LONG, identity_id: LONG } }],
    [
      "lists of the wrong",
      { tags: Array(1000).fill({}), dimension_ids: Array(100_000).fill("x"), columns: Array(100).fill({}) },
    ],
  ];

  for (const { method, path, operation } of operationsOf(document)) {
    const verb = ({ get: "GET", post: "POST", patch: "PATCH", delete: "DELETE" } as const)[method];
    const named = path.replace("{tenant_name}", "acme").replace(/\{\w+\}/g, "1");
    await t.test(`${verb} ${path}`, async (t) => {
      await send(verb, path.replace(/\{\w+\}/g, LONG));
      await send(verb, path.replace("{tenant_name}", "acme").replace(/\{\w+\}/g, LONG));
      for (const given of operation.parameters ?? []) {
        const { in: where, name } = resolvedParameter(given, document.components ?? {});
        if (where === "query") await send(verb, `${named}?${name}=${LONG}`);
      }
      await send(verb, `${named}?${LONG}=1`);
      await send(verb, `${named}?${parameters(3_000, (index) => `p${index}`)}`);
      await send(verb, `${named}?${parameters(3_000, () => "cursor")}`);
      await send(verb, `${named}?${parameters(2_000, (index) => `tag:k${index}`)}`);
      if (operation.requestBody !== undefined)
        for (const [what, body] of bodies) {
          const { statusCode } = await send(verb, named, body);
          t.ok([400, 413].includes(statusCode), `${what}: ${statusCode}`);
        }
      t.strictSame(long.splice(0), []);
    });
  }

  await t.test("a body that is expensive to parse is refused before it is parsed", async (t) => {
    const usual = "/api/v1/tenants/acme/pipeline/run";
    const patched = "/api/v1/tenants/acme/chargebacks/1";
    const headers = { "content-type": "application/json" };
    const refusal = async (method: "PATCH" | "POST", url: string, payload: string) => {
      const response = await app.inject({ method, url, headers, payload });
      const { status, detail } = response.json();
      return `${status} ${detail}`;
    };
    const MOST = 2 ** 20 - 16;
    const levels = "400 The body must have at most 16 levels of lists and objects.";
    const values = "413 The body must have at most 25000 values.";
    const repeated = (text: string) => text.repeat(MOST / text.length);
    t.equal(await refusal("PATCH", patched, repeated("[")), levels);
    t.equal(await refusal("PATCH", patched, repeated('{"tags":[')), levels);
    t.equal(await refusal("PATCH", patched, `{"tags":[${repeated("{},").slice(0, -1)}]}`), values);
    t.equal(await refusal("PATCH", patched, `{${repeated('"k":1,').slice(0, -1)}}`), values);
    t.equal(
      await refusal("PATCH", patched, `{"a":"${"[".repeat(1_000)}\\"[[","b":`),
      "400 The body is not valid JSON.",
    );
    t.equal(await refusal("POST", usual, " ".repeat(65_537)), "413 The body must be at most 64 KiB long.");
    t.equal(
      await refusal("PATCH", patched, " ".repeat(2 ** 20 + 1)),
      "413 The body must be at most 1024 KiB long.",
    );
  });

  await t.test("the first twenty problems are listed, and a sentence says that there are more", async (t) => {
    const { errors, detail } = (await send("POST", "/api/v1/tenants/acme/export", fields(20_000))).json();
    t.equal(errors.length, 20);
    t.match(detail, /The request has more problems\.$/);
    const few = (await send("POST", "/api/v1/tenants/acme/export", fields(20))).json();
    t.equal(few.errors.length, 20);
    t.notMatch(few.detail, /more problems/);
  });
});
