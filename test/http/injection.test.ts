/**
 * Sends text that SQL could take for its own syntax, in every position where a client can send text. The response has
 * to equal that to any other text that matches nothing, and both stores have to stay unchanged. The positions come from
 * the API's own description.
 */
import t from "tap";
import { holds } from "../holds.js";
import { mirrored, recordTestDimensions, sendTagRequest, writtenTags } from "../tags/tagging.js";
import { documentOf } from "./contract.js";
import { percentEncoded } from "./fuzzing/drawing.js";
import { injections } from "./fuzzing/hostile.js";
import { filled } from "./fuzzing/known-values.js";
import { type FuzzedPlace, LITERAL, placesOf } from "./fuzzing/places.js";
import { get, insertChargebacks, startService } from "./service.js";
import { contents } from "./store-contents.js";

const ROWS = "/api/v1/tenants/acme/chargebacks";

/**
 * Every text in every position takes long. CI tries some in each position, in turn, so that each kind of position gets
 * all of them.
 */
const isLong = process.env.FUZZ_RUNS !== undefined;
const TEXTS = isLong ? injections.length : 2;
const asData = injections.slice(0, isLong ? injections.length : 8);

function textsFor(place: number): string[] {
  return Array.from({ length: TEXTS }, (_, at) => injections[(place * TEXTS + at) % injections.length] ?? "");
}

const jsonText = (text: string) => JSON.stringify(text).slice(1, -1);

/** Reads a literal as ClickHouse does. */
const sqlLiteral = (text: string) =>
  text.replaceAll(/[\\']/g, "\\$&").replaceAll(/\p{Cc}/gu, (character) => {
    const code = character.charCodeAt(0);
    return code > 0x7f ? character : `\\x${code.toString(16).padStart(2, "0")}`;
  });

t.test("SQL injection is not possible", async (t) => {
  const service = await startService(t, ["rate_limit: { max_per_minute: 1000000 }"]);
  const { app, stores } = service;
  const known = await filled(service);
  const hostileRows = injections.map((text) => ({
    timestamp: "2026-03-05T00:00:00Z",
    amount: "1",
    identity_id: text,
    resource_id: text,
    product_type: text,
    env_id: text,
  }));
  await insertChargebacks(stores, "acme", hostileRows);
  await recordTestDimensions(stores, "acme");
  const response = async ({ request, compared }: FuzzedPlace, text: string) => {
    const { statusCode: status, body } = await app.inject(request(text));
    if (compared === "code" && status >= 400) return { status, body: JSON.parse(body).code };
    // A cursor is made of the filters and belongs to them.
    return { status, body: body.replace(/"next_cursor":"[^"]*"/, '"next_cursor":"…"') };
  };
  const hostileIds: number[] = [];
  const places = placesOf(documentOf(app), known);
  const literal = new Map<FuzzedPlace, Awaited<ReturnType<typeof response>>>();
  for (const place of places) literal.set(place, await response(place, LITERAL));
  // The first read of a dimension copies it. Reading all of them here keeps the stores unchanged afterwards.
  const before = await contents(stores);

  for (const [index, place] of places.entries()) {
    await t.test(place.name, async (t) => {
      const { status = 0, body = "" } = literal.get(place) ?? {};
      const texts = textsFor(index).filter((text) => !isData(place, text));
      // The requests run together, because each is a round trip.
      const responses = await Promise.all(texts.map((text) => response(place, text)));
      for (const [at, text] of texts.entries()) {
        const given = responses[at];
        t.equal(given?.status, status, text);
        // Replaces the text in the response by the other text.
        const escaped = (status === 200 && place.returnsSql ? sqlLiteral : jsonText)(place.carried(text));
        if (place.compared !== "status")
          t.equal(
            given?.body,
            body.replaceAll(LITERAL, () => escaped),
            text,
          );
      }
      for (const text of ["\0", "'\0 OR 1=1 --"])
        t.ok((await response(place, text)).status < 500, "NUL is refused");
    });
  }

  await t.test("the stores are unchanged", async (t) => {
    t.same(await contents(stores), before);
  });

  await t.test("hostile text that is stored as data is only found by itself", async (t) => {
    const found = async (text: string) => {
      const value = percentEncoded(text);
      const filters = ["identity_id", "resource_id", "product_type"]
        .map((name) => `${name}=${value}`)
        .join("&");
      const [list, sums] = await Promise.all([
        get(app, `${ROWS}?${filters}`),
        get(app, `${ROWS}/aggregate?group_by=environment_id&${filters}`),
      ]);
      holds(t, list.body, { total: 1, items: [{ identity_id: text, resource_id: text }] }, text);
      holds(t, sums.body, { total_rows: 1, buckets: [{ dimensions: { environment_id: text } }] }, text);
      return list.body.items[0].dimension_id;
    };
    for (const texts of inGroups(asData)) hostileIds.push(...(await Promise.all(texts.map(found))));
  });

  await t.test(
    "hostile text in keys, names and authors of tags is stored, mirrored, searched, grouped and filtered unchanged",
    async (t) => {
      const tagged = async (text: string, index: number) => {
        const id = hostileIds[index];
        const name = `${text}${index}`;
        const tag = { tag_key: text, display_name: text, created_by: text };
        const made = await sendTagRequest(app, "POST", `acme/chargebacks/${id}/tags`, tag);
        holds(t, [made.status, made.body], [201, tag], text);
        const renamed = await sendTagRequest(app, "PATCH", `acme/tags/${made.body.tag_id}`, {
          display_name: name,
        });
        holds(t, renamed.body, { ...tag, display_name: name }, text);
        const search = await get(app, `/api/v1/tenants/acme/tags?search=${percentEncoded(name)}`);
        t.ok(
          search.body.items.some((item: { tag_id: number }) => item.tag_id === made.body.tag_id),
          `search ${text}`,
        );
        const column = percentEncoded(`tag:${text}`);
        const filter = percentEncoded(name.replaceAll(/[\\,]/g, "\\$&"));
        const filtered = await get(app, `${ROWS}?${column}=${filter}`);
        holds(t, filtered.body, { total: 1, items: [{ dimension_id: id }] }, `tag:${text}`);
        const grouped = await get(
          app,
          `${ROWS}/aggregate?group_by=${column}&identity_id=${percentEncoded(text)}`,
        );
        holds(
          t,
          grouped.body,
          { total_rows: 1, buckets: [{ dimensions: { [`tag:${text}`]: name } }] },
          `group by tag:${text}`,
        );
      };
      for (const [at, texts] of inGroups(asData).entries())
        await Promise.all(texts.map((text, index) => tagged(text, at * GROUP + index)));
      const ids = known.dimension_id ?? [];
      for (const text of injections.slice(2, 5)) {
        const bulk = { tag_key: text, display_name: text, created_by: text, override_existing: true };
        const listed = await sendTagRequest(app, "POST", "acme/tags/bulk", { ...bulk, dimension_ids: ids });
        holds(t, listed.body, { created_count: ids.length, errors: [] }, text);
        const byFilter = { ...bulk, display_name: `${text}!`, identity_id: "sa-0" };
        const { body } = await sendTagRequest(app, "POST", "acme/tags/bulk-by-filter", byFilter);
        t.ok(body.updated_count > 0 && body.updated_count < ids.length, text);
        const byTag = { ...bulk, [`tag:${text}`]: `${text}!`.replaceAll(/[\\,]/g, "\\$&") };
        holds(
          t,
          (await sendTagRequest(app, "POST", "acme/tags/bulk-by-filter", byTag)).body,
          body,
          `by the tag ${text}`,
        );
      }
      t.same(
        await mirrored(stores, "acme"),
        await writtenTags(stores, "acme"),
        "both stores have the same tags",
      );
    },
  );

  await t.test("all tables are unchanged, except tags and their audit", async (t) => {
    const ofTags = /tag|outbox|dimension|audit/;
    const others = (all: Record<string, string>) =>
      Object.entries(all).filter(([name]) => !ofTags.test(name));
    const after = await contents(stores);
    t.same(Object.keys(after), Object.keys(before));
    t.same(others(after), others(before));
  });
});

const GROUP = 8;

function inGroups(texts: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(texts.length / GROUP) }, (_, at) =>
    texts.slice(at * GROUP, (at + 1) * GROUP),
  );
}

/** Texts that are valid in a position or occur in the service's own data. */
function isData({ name }: FuzzedPlace, text: string): boolean {
  if (
    /identity_id|resource_id|environment_id|product_type|(breakDownChargebacks|listInventoryCosts): search/.test(
      name,
    )
  )
    return true;
  return (
    /group_by|sort|columns|downloadStatements: by|an unknown parameter/.test(name) && text === "identity_id"
  );
}
