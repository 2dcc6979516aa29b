import t from "tap";
import {
  describeStorage,
  isSameStorage,
  parseStorage,
  storageKeys,
} from "../../src/config/settings/storage.js";
import { holds } from "../holds.js";
import fc from "../property.js";

function keyOf(text: string): string {
  const parsed = parseStorage(text);
  return "storage" in parsed ? storageKeys(parsed.storage).join(" ") : `problem: ${parsed.problem}`;
}

t.test("a connection string is parsed into its parts", async (t) => {
  t.same(parseStorage(" Embedded: Acme_1 "), { storage: { kind: "embedded", database: "acme_1" } });
  t.same(parseStorage("clickhouse://u:p%40%2F%23@Example.org/facts"), {
    storage: {
      kind: "server",
      urls: ["http://example.org:8123"],
      username: "u",
      password: "p@/#",
      database: "facts",
      tls: false,
    },
  });
  t.same(parseStorage("clickhouses://[2001:DB8::1]:443/facts"), {
    storage: {
      kind: "server",
      urls: ["https://[2001:db8::1]:443"],
      username: "default",
      password: "",
      database: "facts",
      tls: true,
    },
  });
  holds(t, parseStorage("clickhouse://h:80/f"), { storage: { urls: ["http://h:80"] } });
});

t.test("replicas of a cluster are configured by its name", async (t) => {
  const written = "clickhouses://u:a%2Cb@ch-1:9440,ch-2, [2001:DB8::1]:1/facts";
  const parsed = parseStorage(written);
  if (!("storage" in parsed)) return t.fail(parsed.problem);
  t.strictSame(parsed.storage, {
    kind: "server",
    username: "u",
    password: "a,b",
    database: "facts",
    tls: true,
    urls: ["https://ch-1:9440", "https://ch-2:8443", "https://[2001:db8::1]:1"],
  });
  t.equal(
    describeStorage(parsed.storage),
    "clickhouses://u:********@ch-1:9440,ch-2:8443,[2001:db8::1]:1/facts",
  );
  const isSame = (one: string, other: string) => {
    const [a, b] = [parseStorage(one), parseStorage(other)];
    return "storage" in a && "storage" in b && isSameStorage(a.storage, b.storage);
  };
  t.strictSame(
    [
      isSame("clickhouse://h,i/f", "clickhouse://I/f"),
      isSame("clickhouse://i,h/f", "clickhouse://h,j/f"),
      isSame("clickhouse://h,i/f", "clickhouse://h,i/g"),
      isSame("clickhouse://h,i/f", "clickhouse://j/f"),
      isSame("embedded:f", "clickhouse://h/f"),
    ],
    [true, true, false, false, false],
  );
  const problems = (rest: string) => {
    const refused = parseStorage(`clickhouse://${rest}`);
    return "problem" in refused ? refused.problem : "";
  };
  t.equal(problems("h,H:8123/f"), "must name each host once");
  t.equal(problems("localhost,127.0.0.1/f"), "must name each host once");
  t.equal(problems(`${"abcdefghijk".split("").join(",")}/f`), "must name at most 10 hosts");
  for (const rest of ["h,/f", ",h/f", "u:p@h,,i/f", "h,i,/f", ",/f"])
    t.equal(problems(rest), "must name a host before and after each comma", rest);
  t.match(problems("h,i:x/f"), /^must be `embedded:NAME`/);
});

t.test("spellings of one store have the same key", async (t) => {
  const groups = [
    ["embedded:acme", "EMBEDDED:acme", "embedded: acme", " embedded:ACME\n"],
    [
      "clickhouse://h/f",
      "clickhouse://H:8123/f",
      "clickhouse://h.:8123/f/",
      "ClickHouse://user:password@h//f//",
      "clickhouse://h:08123/%66",
      "clickhouses://h/f",
      "clickhouses://h:8443/f",
    ],
    [
      "clickhouse://localhost/f",
      "clickhouse://127.0.0.1/f",
      "clickhouse://127.1/f",
      "clickhouse://0x7f000001/f",
      "clickhouse://[::1]/f",
      "clickhouse://[::ffff:127.0.0.1]/f",
      "clickhouse://LOCALHOST.:8123/f",
    ],
    [
      "clickhouse://bücher.example/f",
      "clickhouse://xn--bcher-kva.example/f",
      "clickhouse://B%C3%BCcher.example/f",
    ],
    ["clickhouse://10.0.0.1/f", "clickhouse://[::ffff:a00:1]/f"],
  ];
  for (const group of groups) t.same([...new Set(group.map(keyOf))].length, 1, group.join(" "));
  t.equal(new Set(groups.map(([first = ""]) => keyOf(first))).size, groups.length);
});

t.test("different stores have different keys", async (t) => {
  const stores = ["h/f", "h/F", "h/g", "h2/f", "h:9000/f", "127.0.0.2/f"].map((rest) =>
    keyOf(`clickhouse://${rest}`),
  );
  stores.push(keyOf("clickhouses://h:9000/f2"), keyOf("embedded:f"), keyOf("clickhouse://h:8443/f"));
  t.equal(new Set(stores).size, stores.length);
});

t.test("an invalid connection string is refused, and the reason does not quote it", async (t) => {
  const refused = [
    "",
    "acme",
    "sqlite:///hunter2.db",
    "embedded:",
    "embedded:hunter2-a",
    "embedded:../hunter2",
    "embedded:2hunter2",
    "embedded:system",
    "embedded:Default",
    `embedded:${"a".repeat(64)}`,
    "clickhouse:hunter2/f",
    "clickhouse://",
    "clickhouse://hunter2",
    "clickhouse://hunter2/",
    "clickhouse://h/f/hunter2",
    "clickhouse://h/hunter2?secure=1",
    "clickhouse://h/f#hunter2",
    "clickhouse://h/f?",
    "clickhouse://h/information_schema",
    "clickhouse://h/SYSTEM",
    "clickhouse://h/hunter2%20b",
    "clickhouse://u:hunter2%@h/f",
    "clickhouse://u:hunter2#x@h/f",
    "clickhouse://h:99999/hunter2",
    "clickhouse://h/..",
  ];
  for (const text of refused) {
    const parsed = parseStorage(text);
    t.ok("problem" in parsed, text);
    t.notMatch(JSON.stringify(parsed), /hunter2/);
  }
});

const database = fc
  .stringMatching(/^[a-z][a-z0-9_]{0,20}$/)
  .filter((name) => !["system", "default"].includes(name));
const host = fc.stringMatching(/^[a-z][a-z0-9-]{0,10}[a-z0-9](\.[a-z]{2,5})?$/);

t.test("property: case, user, password, slashes and percent-encoding do not change the store", async (t) => {
  const anyCase = (text: string) => fc.mixedCase(fc.constant(text));
  const encoded = (text: string) =>
    fc
      .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
      .map((which) =>
        [...text]
          .map((letter, index) => (which[index] ? `%${letter.charCodeAt(0).toString(16)}` : letter))
          .join(""),
      );
  const spelled = fc
    .tuple(host, database, fc.constantFrom("", ":8123", ":80", ":9000"))
    .chain(([name, db, port]) =>
      fc
        .tuple(
          anyCase("clickhouse"),
          anyCase(name),
          encoded(db),
          fc.string({ unit: "grapheme" }),
          fc.string(),
          fc.nat(3),
          fc.nat(3),
        )
        .map(([scheme, spelledHost, path, user, password, before, after]) => ({
          plain: `clickhouse://${name}${port}/${db}`,
          user,
          password,
          other: `${scheme}://${encodeURIComponent(user)}:${encodeURIComponent(password)}@${spelledHost}${port}${"/".repeat(before + 1)}${path}${"/".repeat(after)}`,
        })),
    );
  fc.assert(
    fc.property(spelled, ({ plain, other, user, password }) => {
      const parsed = parseStorage(other);
      if (!("storage" in parsed) || parsed.storage.kind !== "server") return false;
      const credentials =
        parsed.storage.username === (user || "default") && parsed.storage.password === password;
      return credentials && keyOf(plain) === keyOf(other);
    }),
  );
  t.pass("the property is true for all examples");
});

t.test("property: a description never contains the password and parses to the same store", async (t) => {
  fc.assert(
    fc.property(host, database, fc.stringMatching(/^[\w!*'()~-]{8,30}$/), (name, db, password) => {
      const parsed = parseStorage(`clickhouses://u:${encodeURIComponent(password)}@${name}/${db}`);
      if (!("storage" in parsed)) return false;
      const description = describeStorage(parsed.storage);
      return !description.includes(password) && keyOf(description) === storageKeys(parsed.storage).join(" ");
    }),
  );
  t.pass("the property is true for all examples");
});

t.test("property: no connection string makes the parser throw", async (t) => {
  const messy = fc.array(
    fc.oneof(fc.constantFrom("clickhouse://", "embedded:", "@", ":", "/", "%", "[", "?"), fc.string()),
  );
  fc.assert(fc.property(messy, (parts) => typeof parseStorage(parts.join("")) === "object"));
  t.pass("the property is true for all examples");
});
