/** Maps of identity sources: equal content has the same hash, and any change that moves a charge changes it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { type IdentityMap, readIdentityMap } from "../../src/config/allocation/identity-map.js";
import { planAllocation } from "../../src/config/allocation/plan.js";
import { ruleColumns } from "../../src/domain/rule-columns.js";
import { temporaryFolder } from "../stores.js";

t.test("the hash of a map depends on its entries", async (t) => {
  const file = join(temporaryFolder(t), "map.csv");
  const mapOf = (...lines: readonly string[]): IdentityMap => {
    writeFileSync(file, ["value,identity", ...lines, ""].join("\n"));
    const map = readIdentityMap(file);
    if ("problem" in map) throw new Error(map.problem);
    return map;
  };
  const map = mapOf("111,web", "222,data");
  t.strictSame(
    [...map.entries],
    [
      ["111", "web"],
      ["222", "data"],
    ],
  );
  t.equal(mapOf("222,data", "111,web").hash, map.hash, "the order of lines does not matter");
  for (const [what, ...lines] of [
    ["another identity", "111,web", "222,ops"],
    ["another value", "111,web", "223,data"],
    ["identities that changed places", "111,data", "222,web"],
    ["one entry more", "111,web", "222,data", "333,ops"],
    ["one entry less", "111,web"],
  ] as const)
    t.not(mapOf(...lines).hash, map.hash, what);

  await t.test("a changed identity changes the digest of who pays", async (t) => {
    const digest = (identity_map: IdentityMap) =>
      planAllocation(
        {
          allocation: {
            decimal_places: 4,
            pass_on: [],
            rules: [],
            identity: [{ column: "resource_id", map: "map.csv" }],
          },
          identity_maps: new Map([["map.csv", identity_map]]),
          line_columns: ruleColumns(),
        },
        [],
      )?.digest;
    t.equal(digest(mapOf("222,data", "111,web")), digest(map));
    t.not(digest(mapOf("111,web", "222,ops")), digest(map));
  });
});

t.test("a map is read with any separator, and with lines before its header", async (t) => {
  const file = join(temporaryFolder(t), "map.csv");
  const read = (text: string | Buffer) => {
    writeFileSync(file, text);
    const map = readIdentityMap(file);
    return "problem" in map ? map.problem : map;
  };
  const plain = 'value,identity\n111,web\n"a,b;c|d",data\n';
  const expected = read(plain);
  t.strictSame(typeof expected === "string" ? expected : [...expected.entries], [
    ["111", "web"],
    ["a,b;c|d", "data"],
  ]);
  const separated = (separator: string) =>
    ["value,identity", "111,web", '"a,b;c|d",data', ""]
      .map((line, at) => (at === 2 ? line.replace('",', `"${separator}`) : line.replace(",", separator)))
      .join("\n");
  for (const [what, text] of Object.entries({
    semicolons: separated(";"),
    tabs: separated("\t"),
    bars: separated("|"),
    "blanks around names and values": separated(" ; "),
    "line ends of Windows": separated(";").replaceAll("\n", "\r\n"),
    "a mark and a line sep=": `\uFEFFsep=;\r\n${separated(";")}`,
    "comments and empty lines": `# made today\n\n${separated("\t")}`,
  }))
    t.strictSame(read(text), expected, what);

  t.equal(read("sep=;\nvalue,identity\n111,web\n"), "must start with the header value,identity");
  t.equal(read("# nothing else\n"), "must start with the header value,identity");
  t.equal(read("value;identity\n111,web\n"), "line 2 has 1 fields, not 2", "the header decides");
  t.equal(read("value\tidentity\n111\t\n"), "line 2 has no identity");
  t.equal(
    read("# made today\nsep=;\nvalue;identity\n111;web\n111;ops\n"),
    'line 5 has the value "111" of line 4 again',
    "lines are counted from the top of the file",
  );
});
