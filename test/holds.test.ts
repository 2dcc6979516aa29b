import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual, promisify } from "node:util";
import t from "tap";
import { projectRoot } from "../src/common/project.js";
import { holds } from "./holds.js";
import { temporaryFolder } from "./stores.js";

function takes(actual: unknown, expected: unknown): boolean {
  const strictSame = (found: unknown, wanted: unknown) => isDeepStrictEqual(found, wanted);
  return holds({ strictSame, currentAssert: undefined }, actual, expected);
}

t.test("listed fields with the given values match", async (t) => {
  for (const [actual, expected] of [
    [{ off: [], days: 3 }, { off: [] }],
    [{ a: { b: "1", c: 2 } }, { a: { b: "1" } }],
    [
      [{ a: 1, b: 2 }, "x"],
      [{ a: 1 }, "x"],
    ],
    [{ message: "it is away" }, { message: /away$/ }],
    [
      { a: "", b: 0, c: new Date(), d: false },
      { a: String, b: Number, c: Date, d: Boolean },
    ],
    [{}, { a: undefined }],
    [{ a: {}, b: 1 }, { a: {} }],
    [new Error("away"), { message: "away" }],
    [null, null],
    ["text", /^t/],
  ])
    t.ok(takes(actual, expected), JSON.stringify(expected));
});

t.test("values that tap's match accepts by mistake do not match", async (t) => {
  for (const [actual, expected] of [
    [{ off: ["a day"] }, { off: [] }],
    [{ a: [1, 2] }, { a: [1] }],
    [{ a: "10" }, { a: "0" }],
    [{ a: "1" }, { a: 1 }],
    [{ a: 1 }, { a: /1/ }],
    [{ a: null }, { a: undefined }],
    [{}, { a: null }],
    [{ a: { b: 1 } }, { a: {} }],
    [{ a: 0 }, { a: String }],
    [undefined, { a: undefined }],
    [{ a: { 0: "x" } }, { a: ["x"] }],
    [["x"], { 0: "x" }],
    [undefined, /undefined/],
  ])
    t.notOk(takes(actual, expected), JSON.stringify(expected));
});

t.test("lint refuses assertions that always pass", async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(
    join(folder, "biome.json"),
    JSON.stringify({
      plugins: [join(projectRoot(), "test/lint/exact-assertions.grit")],
      linter: { rules: { preset: "none" } },
    }),
  );
  const refused = [
    "t.match(found, { off: [] });",
    "t.match(found, pattern);",
    "t.notMatch(found, 'secret', 'said');",
    "inner.has({}, {});",
    "t.matchOnlyStrict(found, {});",
  ];
  const taken = ["t.match(text, /a/);", "t.notMatch(text, new RegExp(name), 'said');", "known.has(name);"];
  const lines = [...refused, ...taken];
  writeFileSync(join(folder, "sample.ts"), lines.join("\n"));
  const biome = join(projectRoot(), "node_modules/.bin/biome");
  const ran = promisify(execFile)(biome, ["lint", "--reporter=github", folder], { cwd: folder });
  const { stdout } = await ran.catch((error: { stdout: string }) => error);
  const found = [...stdout.matchAll(/line=(\d+)/g)].map(([, line]) => lines[Number(line) - 1]);
  t.strictSame(found, refused, stdout);
});
