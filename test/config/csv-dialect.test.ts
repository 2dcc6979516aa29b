/** The separator of a header, and the lines before it. */
import t from "tap";
import { preambleOf, separatorOf } from "../../src/common/csv-dialect.js";

t.test("the separator is the one that splits the header into the most columns", async (t) => {
  const headers: Readonly<Record<string, string>> = {
    "a,b,c": ",",
    "a;b;c": ";",
    "a\tb": "\t",
    "a|b|c": "|",
    a: ",",
    "": ",",
    '"a;b;c",d': ",",
    '"a ""x;y;z"" b",c;d;e': ";",
    "a,b;c": ",",
  };
  for (const [header, separator] of Object.entries(headers)) t.equal(separatorOf(header), separator, header);
});

t.test(
  "a byte order mark, empty lines, comments and a `sep=` line before a header are skipped",
  async (t) => {
    const separated = (text: string) => {
      const preamble = preambleOf(text);
      return preamble && [text.slice(preamble.length), preamble.separator];
    };
    t.strictSame(separated("a,b\n1,2"), ["a,b\n1,2", undefined]);
    t.strictSame(separated("\uFEFFa,b\n"), ["a,b\n", undefined]);
    t.strictSame(separated("\u00EF\u00BB\u00BFa,b\n"), ["a,b\n", undefined]);
    t.strictSame(separated("sep=;\r\na;b\r\n"), ["a;b\r\n", ";"]);
    t.strictSame(separated('"sep=\t"\na'), ["a", "\t"]);
    t.strictSame(separated("SEP=|\na|b"), ["a|b", "|"]);
    t.strictSame(separated("\uFEFF# one\n\r\n#two\nsep=,\n#three\na,b"), ["a,b", ","]);
    t.strictSame(separated("separate,b\n"), ["separate,b\n", undefined]);
    t.strictSame(separated("sep=x\n"), ["sep=x\n", undefined], "no separator");
    t.equal(separated("# only\n"), undefined);
    t.equal(separated("# begun"), undefined);
    t.equal(separated(""), undefined);
  },
);
