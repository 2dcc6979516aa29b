import t from "tap";
import { excerpt, redact } from "../../src/upstream/http/redact.js";

const cases: readonly (readonly [string, string])[] = [
  ["GET https://ada:hunter2@host/path failed", "GET https://***@host/path failed"],
  ["https://ada:hun@ter2@host/", "https://***@host/"],
  ["https://ada:what?@host/", "https://***@host/"],
  ["https://host/p?key=1&secret=2 said no", "https://host/p?*** said no"],
  ["http://a/x,http://u:p@b/y?z=1", "http://a/x,http://***@b/y?***"],
  ["redis+tls://u:p@h", "redis+tls://***@h"],
  ["https://host/@scope/name", "https://host/@scope/name"],
  ["Authorization: Basic YWRhOng=", "Authorization: *** ***"],
  ["bearer abcdef.ghi", "bearer ***"],
  ['{"password": "hunter2", "b": 1}', '{"password": "***", "b": 1}'],
  ["api_key=abc&x=1", "api_key=***&x=1"],
  ["sent s3cr3t and s3cr3t", "sent *** and ***"],
];

for (const [text, wanted] of cases) {
  t.test(text, async (t) => t.equal(redact(text, ["s3cr3t"]), wanted));
}

/** Texts that made an expression scan each character repeatedly: a million of them took minutes to hours. */
const repeated = [
  "a",
  "a-",
  "a.b+c-",
  "http://",
  "http://x",
  "a://",
  "a://?",
  "a://u@",
  "://",
  "?",
  "@",
  "bearer ",
  "token",
  "token ",
  'token" ',
  " ",
  "\n",
];

for (const piece of repeated) {
  t.test(`a million times ${JSON.stringify(piece)} is redacted in linear time`, async (t) => {
    const text = piece.repeat(1_000_000);
    t.ok(excerpt(text, ["s3cr3t"]).length <= 201);
    t.ok(excerpt(`http://${text}`).length <= 201);
    t.ok(excerpt(`token${" ".repeat(1_000_000)}${piece}`).length <= 201);
  });
}
