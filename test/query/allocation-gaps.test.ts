/**
 * The worklist reports a gap of an identity source exactly if the store, which assigns the lines, found no identity.
 */
import t from "tap";
import { readRows } from "../../src/clickhouse/statement.js";
import type { IdentitySource } from "../../src/config/allocation/identity-source.js";
import { UNALLOCATED } from "../../src/domain/allocation-rule.js";
import { ruleColumns } from "../../src/domain/rule-columns.js";
import { LONGEST_ID } from "../../src/domain/text-limits.js";
import { identitySql } from "../../src/ingest/configured/identity-sql.js";
import { prepareStore } from "../../src/ingest/configured/store-maps.js";
import { type FoundValue, foundSql, gapOf, gapReasons } from "../../src/query/rules/worklist.js";
import fc from "../property.js";
import { openTestStores } from "../stores.js";

const MAP = "accounts.csv";
const map = {
  hash: "map-of-the-test",
  entries: new Map([
    ["a-1", "web"],
    ["nobody", UNALLOCATED],
    ["x".repeat(LONGEST_ID + 1), "long"],
  ]),
};
const maps = new Map([[MAP, map]]);
const columns = ruleColumns();

const patterns = [
  "^team-(?<identity>.*)$",
  "(?<identity>[a-zé]+)",
  "(?i)^(TEAM|A)-(?<identity>.+)",
  "(?:team)?(?<identity>-.)?",
  "(?<identity>^.$)",
  "^.(?<identity>web)$",
];

const source: fc.Arbitrary<IdentitySource> = fc.oneof(
  fc.constantFrom<IdentitySource>(
    { tag: "team" },
    { column: "env_id" },
    { tag: "team", map: MAP },
    { column: "env_id", map: MAP },
    { tag: "team", ignore_case: true },
    { tag: "team", map: MAP, ignore_case: true },
    { column: "env_id", map: MAP, ignore_case: true },
  ),
  fc.record({ tag: fc.constant("team"), pattern: fc.constantFrom(...patterns) }),
  fc.record({ column: fc.constant("env_id"), pattern: fc.constantFrom(...patterns) }),
);
const value = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\nweb",
    "a-1",
    " a-1",
    "A-1",
    "null",
    "None",
    "N/A",
    "nan",
    "NANCY",
    "nobody",
    UNALLOCATED,
    ` ${UNALLOCATED} `,
    "team-",
    "team- ",
    "team-web",
    "Team-é",
    "a\nb",
    "team-a\nb",
    "\u0085x",
  ),
  fc.constantFrom(LONGEST_ID, LONGEST_ID + 1).map((length) => "x".repeat(length)),
  fc.constantFrom(LONGEST_ID, LONGEST_ID + 1).map((length) => "😀".repeat(length)),
  fc.string({ unit: "grapheme-composite", maxLength: 12 }),
);

t.test("an allocation gap is reported exactly if the source finds no identity", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  await prepareStore(client, [{ identity: [], maps, configured: [] }], new AbortController().signal);
  const met = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(source, value, fc.constantFrom("", "team", "TEAM"), async (source, value, key) => {
      const line = `SELECT if({key:String} = '', CAST(map(), 'Map(String, String)'), map({key:String}, {value:String})) AS line_tags, {value:String} AS env_id`;
      const [row] = await readRows<{ identity: string; found: FoundValue }>(client, {
        query: `SELECT ${identitySql({ identity: [source], maps, columns })} AS identity, ${foundSql(source, columns)} AS found FROM (${line})`,
        params: { value, key },
      });
      if (row === undefined) throw new Error("no row");
      const lack = gapOf(source, row.found, maps);
      for (const class_ of [
        lack.reason,
        ...(lack.similar_tag === undefined ? [] : [`similar ${lack.reason}`]),
      ])
        met.set(class_, (met.get(class_) ?? 0) + 1);
      const isSimilar = source.tag !== undefined && source.ignore_case !== true && key === "TEAM";
      if (row.identity !== (lack.identity ?? "") || (lack.similar_tag === "TEAM") !== isSimilar)
        throw new Error(JSON.stringify({ row, lack }));
    }),
    { numRuns: 600 },
  );
  t.strictSame([...met.keys()].sort(), [...gapReasons, "similar no_tag"].sort(), "every reason was met");
  t.comment(Object.fromEntries(met));
});
