/** Maps of identity sources: equal content has the same hash, and any change that moves a charge changes it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import {
  daysOfChangeOfMap,
  digestInWindow,
  type IdentityMap,
  mapOn,
  readIdentityMap,
} from "../../src/config/allocation/identity-map.js";
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

  t.equal(
    read("sep=;\nvalue,identity\n111,web\n"),
    "must start with the header value,identity, and may also have valid_from and valid_to",
  );
  t.equal(
    read("# nothing else\n"),
    "must start with the header value,identity, and may also have valid_from and valid_to",
  );
  t.equal(read("value;identity\n111,web\n"), "line 2 has 1 fields, not 2", "the header decides");
  t.equal(read("value\tidentity\n111\t\n"), "line 2 has no identity");
  t.equal(
    read("value,identity,valid_to,valid_from\n"),
    "must start with the header value,identity, and may also have valid_from and valid_to",
  );
  t.equal(
    read("# made today\nsep=;\nvalue;identity\n111;web\n111;ops\n"),
    'line 5 has the value "111" of line 4 again',
    "lines are counted from the top of the file",
  );
});

t.test("rows of a map count on their days", async (t) => {
  const file = join(temporaryFolder(t), "map.csv");
  const read = (...lines: string[]) => {
    writeFileSync(file, `${lines.join("\n")}\n`);
    return readIdentityMap(file);
  };
  const good = (...lines: string[]) => {
    const map = read(...lines);
    if ("problem" in map) throw new Error(map.problem);
    return map;
  };
  const map = good(
    "value,identity,valid_from,valid_to",
    "111,web,,2026-02-28",
    "111,data,2026-03-01,2026-03-31",
    "222,ops,,",
  );
  const on = (day: string) => Object.fromEntries(mapOn(map, day).entries);
  t.strictSame(on("2026-02-28"), { "111": "web", "222": "ops" });
  t.strictSame(on("2026-03-01"), { "111": "data", "222": "ops" });
  t.strictSame(on("2026-04-01"), { "222": "ops" });
  t.strictSame(daysOfChangeOfMap(map).sort(), ["2026-03-01", "2026-03-01", "2026-04-01"]);

  const onlyFrom = good("value,identity,valid_from", "111,web,2026-03-01");
  t.strictSame([...mapOn(onlyFrom, "2026-02-28").entries], []);
  t.strictSame([...mapOn(onlyFrom, "2100-01-01").entries], [["111", "web"]]);

  const window = { start: "2026-02-10", end: "2026-02-20" };
  const later = good(
    "value,identity,valid_from,valid_to",
    "111,web,,2026-02-28",
    "111,other,2026-03-01,2026-03-31",
    "222,ops,,",
  );
  t.equal(digestInWindow(later, window), digestInWindow(map, window), "rows of other days do not count");
  t.not(
    digestInWindow(later, { start: "2026-02-10", end: "2026-03-02" }),
    digestInWindow(map, { start: "2026-02-10", end: "2026-03-02" }),
  );

  const header = "value,identity,valid_from,valid_to";
  for (const [lines, problem] of [
    [
      ["111,web,2026-02-30,"],
      "line 2 has a valid_from that is not a day from 1970-01-01 to 2105-12-31, such as 2026-03-01",
    ],
    [
      ["111,web,,2026-3-1"],
      "line 2 has a valid_to that is not a day from 1970-01-01 to 2105-12-31, such as 2026-03-01",
    ],
    [["111,web,2026-03-02,2026-03-01"], "line 2 has a valid_to before its valid_from"],
    [["111,web"], "line 2 has 2 fields, not 4"],
    [
      ["111,web,,2026-03-01", "222,ops,,", "111,data,2026-03-01,"],
      'line 4 has the value "111" of line 2 again, on some of the same days',
    ],
    [["111,web,,", "111,data,,"], 'line 3 has the value "111" of line 2 again'],
  ] as const)
    t.strictSame(read(header, ...lines), { problem });
});
