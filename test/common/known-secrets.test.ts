import t from "tap";
import { deepWithoutSecrets, keepSecrets, withoutSecrets } from "../../src/common/known-secrets.js";
import { passwordsIn } from "../../src/config/reader/passwords-in.js";
import fc from "../property.js";

t.test("a secret is masked in every encoding", async (t) => {
  const secret = 'pä/ss "w+rd\\';
  const forms = [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    new URLSearchParams({ p: secret }).toString().slice(2),
    JSON.stringify(secret).slice(1, -1),
  ];
  t.equal(withoutSecrets(secret), secret, "it is not known yet");
  keepSecrets([secret]);
  for (const form of forms) t.equal(withoutSecrets(`<${form}> and ${form}`), "<***> and ***", form);
  t.strictSame(deepWithoutSecrets({ a: [secret, 1, null], [secret]: { b: `${secret}!` } }), {
    a: ["***", 1, null],
    [secret]: { b: "***!" },
  });
});

t.test("property: the base64 of a text that contains a secret reveals nothing of its middle", async (t) => {
  const secret = "correct-horse-battery";
  keepSecrets([secret]);
  const around = fc.string({ maxLength: 20 });
  fc.assert(
    fc.property(around, around, (before, after) => {
      const shown = withoutSecrets(Buffer.from(before + secret + after).toString("base64"));
      return [0, 1, 2].every((at) => {
        const decoded = Buffer.from(shown.slice(at), "base64").toString("latin1");
        return !decoded.includes(secret.slice(3, -3));
      });
    }),
  );
  t.pass("the property is true for all examples");
});

t.test(
  "the longer of two overlapping secrets is masked as a whole, and two characters are not a secret",
  async (t) => {
    keepSecrets(["tomato", "tomato-soup", "ab", ""]);
    t.equal(withoutSecrets("tomato-soup, tomato, ab"), "***, ***, ab");
  },
);

for (const [text, passwords] of [
  ["embedded", []],
  ["embedded:acme", []],
  ["postgres://host/app", []],
  ["postgres://u@host/app", []],
  ["postgres://u:p%2Fw@host:5432/app?sslmode=require", ["p%2Fw", "p/w"]],
  ["postgres://u:a%ZZ@host/app", ["a%ZZ", "a%ZZ"]],
  ["postgresql:///app?host=/run&user=u&password=p%20w&sslpassword=k", ["p%20w", "p w", "k", "k"]],
  ["clickhouses://u:p@w@host/facts", ["p@w", "p@w"]],
] as const) {
  t.test(`passwords are found in ${text}`, async (t) => t.strictSame(passwordsIn(text), passwords));
}
