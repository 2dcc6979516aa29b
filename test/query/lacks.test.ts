/** What the worklist says that an identity source lacks is what the store, which assigns the lines, did not find. */
import t from "tap";
import type { IdentitySource } from "../../src/config/allocation/identity-source.js";
import { columnsOfLines } from "../../src/config/allocation/line-columns.js";
import { UNALLOCATED } from "../../src/config/allocation-rule.js";
import { identitySql } from "../../src/ingest/configured/identity-sql.js";
import { prepareStore } from "../../src/ingest/configured/store-maps.js";
import { lackOf, lackReasons } from "../../src/query/rules/lacks.js";
import { readRows } from "../../src/store/clickhouse/statement.js";
import { LONGEST_ID } from "../../src/store/text-limits.js";
import fc from "../property.js";
import { openTestStores } from "../stores.js";

const MAP = "accounts.csv";
const map = {
  ...{
    hash: "map-of-the-test",
    entries: new Map([
      ["a-1", "web"],
      ["nobody", UNALLOCATED],
      ["x".repeat(LONGEST_ID + 1), "long"],
    ]),
  },
};
const maps = new Map([[MAP, map]]);
const columns = columnsOfLines();

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

t.test("a source that gave no identity lacks something, and one that gave it does not", async (t) => {
  const { stores } = await openTestStores(t);
  const { client } = await stores.tenant("acme");
  await prepareStore(client, { identity: [], maps, configured: [] }, new AbortController().signal);
  const met = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(source, value, fc.boolean(), async (source, value, isThere) => {
      const exists = isThere && !(source.column !== undefined && value === "");
      const given = exists ? value : "";
      const lack = lackOf(source, [exists, given], maps);
      const line = `SELECT if({exists:Bool}, map('team', {value:String}), CAST(map(), 'Map(String, String)')) AS line_tags, {value:String} AS env_id`;
      const [row] = await readRows<{ identity: string }>(client, {
        query: `SELECT ${identitySql({ identity: [source], maps, columns })} AS identity FROM (${line})`,
        params: { value: given, exists },
      });
      met.set(lack.reason, (met.get(lack.reason) ?? 0) + 1);
      if (row?.identity !== (lack.identity ?? "")) throw new Error(JSON.stringify({ row, lack }));
    }),
    { numRuns: 400 },
  );
  t.strictSame([...met.keys()].sort(), [...lackReasons].sort(), "every reason was met");
  t.comment(Object.fromEntries(met));
});
