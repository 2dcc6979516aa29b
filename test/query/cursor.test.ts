import t from "tap";
import {
  cursorFingerprint,
  cursorOf,
  decodeCursor,
  encodeCursor,
  type KeyColumn,
} from "../../src/query/page/cursor.js";

const fingerprint = cursorFingerprint({ tenant: "acme", search: "ü" });
const encoded = (...key: (string | number)[]) => encodeCursor("rows", fingerprint, key);

/** The error says where a cursor must come from. */
const refusal = { parameter: "cursor", message: /`next_cursor` of a response to the same query/ };

const columnsOf = (key: readonly (string | number)[]): KeyColumn[] =>
  key.map((part) => (typeof part === "number" ? "integer" : "text"));

t.test("a decoded cursor returns the encoded key", async (t) => {
  for (const key of [["a"], ["ä;'\\\"", 0, "-0.000001"], ["", Number.MAX_SAFE_INTEGER]]) {
    const cursor = encoded(...key);
    t.match(cursor, /^[A-Za-z0-9_-]+$/, "a cursor needs no escaping in a URL");
    t.same(decodeCursor(cursor, "rows", fingerprint), key);
    t.same(cursorOf({ cursor, page: 1 }, "rows", fingerprint, columnsOf(key)), key);
  }
  t.equal(cursorOf({ page: 3 }, "rows", fingerprint, []), undefined);
});

t.test("a cursor fits four ids of the maximum length in characters of two bytes", async (t) => {
  const key = [...Array.from({ length: 4 }, () => "\u0436".repeat(1000)), 1_767_225_600, 0, "USD", 1];
  t.same(decodeCursor(encoded(...key), "rows", fingerprint), key);
});

t.test("a fingerprint does not depend on how a query is written", async (t) => {
  t.equal(cursorFingerprint({ search: "ü", tenant: "acme", sort: undefined }), fingerprint);
  for (const other of [
    { tenant: "acme" },
    { tenant: "acme", search: "u" },
    { tenant: "acmeü", search: "" },
    {},
  ]) {
    t.not(cursorFingerprint(other), fingerprint);
  }
});

t.test("a cursor of another query is rejected", async (t) => {
  t.throws(() => decodeCursor(encoded("a"), "others", fingerprint), refusal);
  t.throws(() => decodeCursor(encoded("a"), "rows", cursorFingerprint({})), refusal);
});

t.test("a cursor is rejected together with a page number above 1", async (t) => {
  t.throws(() => cursorOf({ cursor: encoded("a"), page: 2 }, "rows", fingerprint, ["text"]), {
    parameter: "cursor",
    message: /exclude each other/,
  });
});

for (const [column, good, bad] of [
  ["text", ["", "anything"], [1, "zero\0byte"]],
  ["integer", [0, -5], ["0", 1.5, 2 ** 60]],
  ["decimal", ["0", "-12.5", "1767225600.000001"], ["", "1e5", "NaN", ".5", "0x1", "1".repeat(27), 1]],
  ["day", ["2026-02-28"], ["2026-02-30", "2026-2-1", "0001-01-01", "today", 20260228]],
  [
    "instant",
    ["2026-02-28T00:00:00Z", "2026-02-28 23:59:59", "2026-02-28T00:00:00.123456Z"],
    [
      "2026-02-30T00:00:00Z",
      "2026-02-28T24:00:00Z",
      "2026-02-28",
      "infinity",
      "2026-02-28T00:00:00.1234567Z",
    ],
  ],
  [
    "uuid",
    ["0b7e1f5e-6f1c-4c39-9d8e-3f0a2f6f7a10"],
    ["0b7e1f5e6f1c4c399d8e3f0a2f6f7a10", "0b7e1f5e-6f1c-4c39-9d8e-3f0a2f6f7a1g", ""],
  ],
] as const) {
  t.test(`an invented cursor key is rejected before it reaches the store: ${column}`, async (t) => {
    for (const part of good) t.same(decodeCursor(encoded(part), "rows", fingerprint, [column]), [part]);
    for (const part of bad) {
      t.throws(() => decodeCursor(encoded(part), "rows", fingerprint, [column]), refusal, String(part));
    }
    t.throws(() => decodeCursor(encoded(), "rows", fingerprint, [column]), refusal);
    t.throws(() => decodeCursor(encoded(...good, ...good), "rows", fingerprint, [column]), refusal);
  });
}

t.test("malformed cursors are rejected", async (t) => {
  const text = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  for (const cursor of [
    "",
    "a b",
    "!!",
    "abc",
    text({}),
    text(null),
    text([]),
    text([1]),
    text([1, "rows", fingerprint, null]),
    text([1, "rows", fingerprint, ["a"]]),
    text([2, "rows", fingerprint, "a"]),
    encoded("a").slice(0, -4),
    encoded("x".repeat(12_000)),
  ]) {
    t.throws(() => decodeCursor(cursor, "rows", fingerprint), refusal, cursor.slice(0, 40));
  }
});
