/** Resources that the tenant's store selects: how Postgres stores them, and their names when they are read back. */
import t from "tap";
import { readRows, type Statement } from "../../src/clickhouse/statement.js";
import type { ResourceRecord } from "../../src/ingest/ecosystem.js";
import { copyNames } from "../../src/ingest/inventory/copy-names.js";
import { createInventorySink } from "../../src/ingest/inventory/inventory-sink.js";
import fc from "../property.js";
import { Classes } from "./classes.js";
import { openGatheringStores } from "./gathering-stores.js";
import { forever } from "./generic_metrics_only/tenant.js";

interface Row {
  readonly id: Buffer;
  readonly type: Buffer;
  readonly name: Buffer;
  readonly parent: Buffer;
  /** Days since 1970, or none. */
  readonly days: readonly [first: number, last: number] | null;
}

/** Bytes are sent as hexadecimal digits, because a parameter is UTF-8. */
function selectOf(rows: readonly Row[]): Statement {
  const hex = (column: "id" | "type" | "name" | "parent") => rows.map((row) => row[column].toString("hex"));
  return {
    query: `
SELECT unhex(id) AS resource_id, unhex(type) AS resource_type, unhex(name) AS display_name, unhex(parent) AS parent_id, '' AS owner_id,
  if(first < 0, NULL, toDate(first)) AS first_day, if(first < 0, NULL, toDate(last)) AS last_day
FROM (SELECT {id:Array(String)} AS ids, {type:Array(String)} AS types, {name:Array(String)} AS names, {parent:Array(String)} AS parents,
  {first:Array(Int32)} AS firsts, {last:Array(Int32)} AS lasts)
ARRAY JOIN ids AS id, types AS type, names AS name, parents AS parent, firsts AS first, lasts AS last`,
    params: {
      id: hex("id"),
      type: hex("type"),
      name: hex("name"),
      parent: hex("parent"),
      first: rows.map(({ days }) => days?.[0] ?? -1),
      last: rows.map(({ days }) => days?.[1] ?? -1),
    },
  };
}

const bytes = (text: string) => Buffer.from(text);
const vm = (
  changes: Partial<Record<"id" | "type" | "name" | "parent", string>> = {},
  days: Row["days"] = null,
) => {
  const { id, type, name, parent } = { id: "vm", type: "Virtual Machine", name: "", parent: "", ...changes };
  return { id: bytes(id), type: bytes(type), name: bytes(name), parent: bytes(parent), days };
};

t.test("the store selects resources for the inventory", async (t) => {
  const { postgres, store } = await openGatheringStores(t);
  const { client, tenantName, tenantId, ecosystem } = store;
  const begin = async (signal = forever) => {
    const { rows } = await postgres.query<{ now: string }>("SELECT clock_timestamp()::text AS now");
    const owner = { tenantName, tenantId, ecosystem };
    return createInventorySink({ postgres, client, owner, seenAt: rows[0]?.now ?? "", signal });
  };
  const takeAgain = async (rows: readonly Row[]) => {
    const { sink, findings } = await begin();
    await sink.resourceRows(selectOf(rows));
    return findings;
  };
  const take = async (rows: readonly Row[]) => {
    await postgres.query("UPDATE tenants SET merged_resources = NULL");
    return await takeAgain(rows);
  };
  const stored = async () =>
    (
      await postgres.query<Record<string, string | null>>(
        `SELECT resource_id, resource_type, display_name, parent_id, owner_id, metadata::text, status,
           (created_at AT TIME ZONE 'UTC')::text AS created_at, (last_seen_at AT TIME ZONE 'UTC')::text AS last_seen_at
         FROM resources ORDER BY resource_id COLLATE "C"`,
      )
    ).rows;
  t.beforeEach(async () => {
    await postgres.query("DELETE FROM resources");
  });

  await t.test("each selected resource is stored with its names and the days of its costs", async (t) => {
    const findings = await take([vm({ name: "web", parent: "111" }, [20_000, 20_003])]);
    t.strictSame(await stored(), [
      {
        resource_id: "vm",
        resource_type: "Virtual Machine",
        display_name: "web",
        parent_id: "111",
        owner_id: null,
        metadata: "{}",
        status: "active",
        created_at: "2024-10-04 00:00:00",
        last_seen_at: "2024-10-07 00:00:00",
      },
    ]);
    t.strictSame([...findings.counts], [["resource:Virtual Machine", 1]]);
    t.strictSame([findings.errors, [...findings.incomplete]], [[], []]);
  });

  await t.test("an unchanged resource is not written again, and a changed one is", async (t) => {
    const written = async () =>
      (await postgres.query<{ xmin: string }>("SELECT xmin::text FROM resources")).rows[0]?.xmin;
    const steps: [what: string, row: Row, isWritten: boolean][] = [
      ["the same", vm({ name: "web" }, [20_000, 20_003]), false],
      ["later first costs make it no younger", vm({ name: "web" }, [20_001, 20_003]), false],
      ["earlier ones make it older", vm({ name: "web" }, [19_999, 20_003]), true],
      ["seen later", vm({ name: "web" }, [19_999, 20_004]), true],
      ["a name", vm({ name: "shop" }, [19_999, 20_004]), true],
      ["a type", vm({ name: "shop", type: "VM" }, [19_999, 20_004]), true],
      ["a parent", vm({ name: "shop", type: "VM", parent: "1" }, [19_999, 20_004]), true],
      ["the same at last", vm({ name: "shop", type: "VM", parent: "1" }, [19_999, 20_004]), false],
    ];
    await take([vm({ name: "web" }, [20_000, 20_003])]);
    for (const [what, row, isWritten] of steps) {
      const before = await written();
      await take([row]);
      t.equal((await written()) !== before, isWritten, what);
    }
    await postgres.query("UPDATE resources SET status = 'deleted', deleted_at = now()");
    await take([vm({ name: "shop", type: "VM", parent: "1" }, [19_999, 20_004])]);
    t.strictSame(
      (await stored()).map(({ status }) => status),
      ["active"],
      "a resource that was wrongly taken for deleted becomes active again",
    );
  });

  await t.test(
    "the statement that was merged last is not read again, unless rows of it were refused",
    async (t) => {
      const [web, shop] = [[vm({ name: "web" })], [vm({ name: "shop" })]];
      const name = async () => (await stored())[0]?.display_name;
      const change = () => postgres.query("UPDATE resources SET display_name = 'changed'");
      await takeAgain(web);
      await change();
      t.strictSame([...(await takeAgain(web)).counts], []);
      t.equal(await name(), "changed");
      await takeAgain(shop);
      t.equal(await name(), "shop");
      await takeAgain(web);
      t.equal(await name(), "web");

      const refused = [...web, vm({ id: "" })];
      for (const turn of [1, 2]) {
        await change();
        t.equal((await takeAgain(refused)).errors.length, 1, `turn ${turn}`);
        t.equal(await name(), "web", `turn ${turn}`);
      }
    },
  );

  await t.test("a resource without days exists now", async (t) => {
    await take([vm()]);
    t.strictSame(
      (await stored()).map(({ created_at, last_seen_at }) => [created_at, (last_seen_at ?? "") > "2026"]),
      [[null, true]],
    );
  });

  await t.test("invalid bytes are replaced in names and refused in ids", async (t) => {
    const broken = Buffer.from([0x61, 0xff, 0x62]);
    const findings = await take([
      { ...vm(), name: broken, parent: Buffer.from("a\0b") },
      { ...vm(), id: broken },
      { ...vm({ id: "typed" }), type: broken },
      vm({ id: "x".repeat(1001) }),
      vm({ id: "ж".repeat(1000) }),
      vm({ id: "€".repeat(1000) }),
      vm({ id: "" }),
      vm({ id: "tab\t" }),
      vm({ id: "no type", type: "" }),
    ]);
    t.strictSame(
      (await stored()).map(({ resource_id, display_name, parent_id }) => [
        resource_id,
        display_name,
        parent_id,
      ]),
      [
        ["vm", "a\uFFFDb", "a\uFFFDb"],
        ["ж".repeat(1000), null, null],
      ],
    );
    t.strictSame(
      findings.errors.map((error) =>
        error.replace(/^the resource ".{0,120}(?:"|…"?) cannot be stored: /s, ""),
      ),
      [
        "its id is empty",
        "its id has control characters",
        "its type is empty",
        "its id has control characters",
        "its type has control characters",
        "its id is longer than 1000 characters",
        "its id is longer than 2000 bytes",
      ],
    );
    t.strictSame([...findings.incomplete].sort(), [
      "resource:",
      "resource:Virtual Machine",
      "resource:a\uFFFDb",
    ]);
  });

  await t.test("many refusals are counted", async (t) => {
    const findings = await take(Array.from({ length: 30 }, (_, at) => vm({ id: `${at}\n` })));
    t.equal(findings.errors.length, 21);
    t.equal(findings.errors.at(-1), "10 more cannot be stored");
  });

  await t.test("a store that fails during the merge leaves no changes", async (t) => {
    const { sink } = await begin();
    const failing = {
      query: `SELECT toString(number) AS resource_id, 'vm' AS resource_type, '' AS display_name, '' AS parent_id, '' AS owner_id,
          toDate(throwIf(number = 400000, 'the disk is gone') + 20000) AS first_day, first_day AS last_day
        FROM system.numbers LIMIT 500000`,
      params: {},
    };
    await t.rejects(sink.resourceRows(failing), /the disk is gone/);
    t.strictSame(await stored(), []);
  });

  await t.test("an abort leaves no changes", async (t) => {
    const stop = new AbortController();
    const { sink } = await begin(stop.signal);
    const endless = {
      query: `SELECT toString(number) AS resource_id, 'vm' AS resource_type, '' AS display_name, '' AS parent_id, '' AS owner_id,
          toDate(20000) AS first_day, first_day AS last_day FROM system.numbers`,
      params: {},
    };
    setTimeout(() => stop.abort(new Error("enough")), 500);
    // Before the first rows arrive, the store's client says it in its own words.
    await t.rejects(sink.resourceRows(endless), { message: /^enough$|^The user aborted a request\.$/ });
    t.strictSame(await stored(), []);
    t.equal(postgres.idleCount, postgres.totalCount, "the connection is back in the pool");
  });

  await t.test("any text is stored as by single records, also if its names come back", async (t) => {
    const classes = new Classes<"refused" | "escaped" | "null" | "beyond ASCII">();
    const piece = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 4 }),
      fc.constantFrom(
        "\t",
        "\n",
        "\r",
        "\\",
        "\\N",
        "\\.",
        "'",
        '"',
        "\b",
        "\f",
        "\v",
        "\0",
        "\x7f",
        "\u0085",
        "N",
      ),
    );
    const text = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(""));
    const row = fc.record({ id: text, type: fc.oneof(fc.constant("vm"), text), name: text, parent: text });
    const rows = fc.uniqueArray(row, { minLength: 1, maxLength: 40, selector: ({ id }) => id });
    await fc.assert(
      fc.asyncProperty(rows, async (rows) => {
        for (const { id, type, name } of rows) {
          if (/\p{Cc}/u.test(id + type)) classes.met("refused");
          if (/[\t\n\r\b\f\v\\]/.test(name)) classes.met("escaped");
          if (name === "") classes.met("null");
          if (/[^\0-\x7f]/.test(name)) classes.met("beyond ASCII");
        }
        await postgres.query("DELETE FROM resources");
        const one = await begin();
        await one.sink.resources(
          rows.map(
            ({ id, type, name, parent }): ResourceRecord => ({
              resource_id: id,
              resource_type: type,
              display_name: name === "" ? null : name,
              parent_id: parent === "" ? null : parent,
              owner_id: null,
              created_at: null,
              metadata: {},
            }),
          ),
        );
        await one.sink.flush();
        const expected = (await stored()).map(({ last_seen_at: _, ...rest }) => rest);
        await postgres.query("DELETE FROM resources");
        const findings = await take(rows.map((row) => vm(row)));
        const found = (await stored()).map(({ last_seen_at: _, ...rest }) => rest);
        if (JSON.stringify(found) !== JSON.stringify(expected))
          throw new Error(`stored ${JSON.stringify(found)} for ${JSON.stringify(expected)}`);
        const written = (type: string) => type.replaceAll("\0", "\uFFFD");
        const seen = (of: typeof findings) =>
          JSON.stringify([[...of.counts].sort(), [...new Set([...of.incomplete].map(written))].sort()]);
        if (seen(findings) !== seen(one.findings))
          throw new Error(`${seen(findings)}, not ${seen(one.findings)}`);
        await copyNames({ client, postgres, tenantName, signal: forever });
        const names = await readRows<{ resource_id: string; resource_name: string; parent_id: string }>(
          client,
          {
            query: "SELECT resource_id, resource_name, parent_id FROM resources ORDER BY resource_id",
            params: {},
          },
        );
        const shown = names.map((row) => [row.resource_id, row.resource_name, row.parent_id]);
        const kept = expected
          .filter(({ resource_type }) => resource_type !== "topic")
          .map((row) => [row.resource_id, row.display_name ?? "", row.parent_id ?? ""]);
        if (JSON.stringify(shown) !== JSON.stringify(kept))
          throw new Error(`shown ${JSON.stringify(shown)} for ${JSON.stringify(kept)}`);
      }),
      { numRuns: 40 },
    );
    t.strictSame(classes.missing(["refused", "escaped", "null", "beyond ASCII"], 20), []);
  });
});
