/** A map of an identity source: equal content has one hash, and whatever moves a charge changes it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { type IdentityMap, readIdentityMap } from "../../src/config/allocation/identity-map.js";
import { planAllocation } from "../../src/config/allocation/plan.js";
import { temporaryFolder } from "../stores.js";

t.test("hashes of maps", async (t) => {
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
            ...{ decimal_places: 4, rules: [] },
            identity: [{ column: "resource_id", map: "map.csv" }],
          },
          identity_maps: new Map([["map.csv", identity_map]]),
        },
        { lineColumns: {} },
        [],
      )?.digest;
    t.equal(digest(mapOf("222,data", "111,web")), digest(map));
    t.not(digest(mapOf("111,web", "222,ops")), digest(map));
  });
});
