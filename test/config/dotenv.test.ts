import t from "tap";
import { parseDotEnv } from "../../src/config/reader/dotenv.js";
import fc from "../property.js";

t.test("every form of a line is parsed", async (t) => {
  const source = [
    "# comment",
    "",
    "A=1",
    "  export B = two words  ",
    "C=value # comment",
    "D=a#b",
    "E=",
    "F='single $x # \\n'  # comment",
    'G="double \\"x\\" \\n\\$ # in"',
    'H="first',
    'second"',
    "I=#only a comment",
    "A=again",
    'J="a" # "b"',
  ].join("\r\n");
  t.same(parseDotEnv(source, ".env"), {
    values: {
      A: "again",
      B: "two words",
      C: "value",
      D: "a#b",
      E: "",
      F: "single $x # \\n",
      G: 'double "x" \n$ # in',
      H: "first\nsecond",
      I: "",
      J: "a",
    },
    problems: [],
  });
});

t.test("invalid lines are problems with their line number, without their text", async (t) => {
  const { values, problems } = parseDotEnv('A="x\ny"\nhunter2\nB="open\n1C=2\nD=\'a\' hunter2\n', ".env");
  t.same(values, { A: "x\ny" });
  t.same(
    problems.map(({ line, message }) => [line, message]),
    [
      [3, "is not of the form NAME=value"],
      [4, "the quotes around this value are not closed, or something follows them"],
      [5, "is not of the form NAME=value"],
      [6, "the quotes around this value are not closed, or something follows them"],
    ],
  );
});

t.test("property: a value in single or double quotes is read unchanged", async (t) => {
  const name = fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,10}$/);
  const entries = fc.uniqueArray(
    fc.tuple(
      name,
      fc.string().map((text) => text.replaceAll("\r\n", "\n")),
    ),
    {
      selector: ([key]) => key,
    },
  );
  fc.assert(
    fc.property(entries, (expected) => {
      const lines = expected.map(([key, value]) => `${key}="${value.replace(/[\\"$]/g, "\\$&")}"`);
      const { values, problems } = parseDotEnv(lines.join("\n"), ".env");
      return problems.length === 0 && expected.every(([key, value]) => values[key] === value);
    }),
  );
  t.pass("the property is true for all examples");
});

t.test("property: no text makes the parser throw or hang", async (t) => {
  const messy = fc
    .array(fc.constantFrom("A", "=", '"', "'", "\\", "\n", "#", " ", "export "))
    .map((parts) => parts.join(""));
  fc.assert(fc.property(messy, (text) => Array.isArray(parseDotEnv(text, ".env").problems)));
  t.pass("the property is true for all examples");
});
