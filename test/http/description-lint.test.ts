/** Runs the common linters for OpenAPI with all of their recommended rules. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import spectral from "@stoplight/spectral-core";
import rulesets from "@stoplight/spectral-rulesets";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";

const file = join(projectRoot(), "docs/reference/openapi.json");
const source = readFileSync(file, "utf8");

/** Findings in the document, and in one without security and without a description. */
const documents = [
  { name: "the committed document", text: source, redocly: [], spectral: [] },
  {
    name: "a document with faults",
    text: source.replace(/"security": \[\],/, "").replace(/"contact": \{[^}]*\},/, ""),
    redocly: ["security-defined"],
    spectral: ["info-contact"],
  },
];

for (const { name, text, ...wanted } of documents) {
  t.test(`linters on ${name}`, async (t) => {
    await t.test("Redocly finds no problem by its recommended rules", async (t) => {
      // Liveness has no errors of the client.
      const rules = { "security-defined": "error", "operation-4xx-response": "off" } as const;
      const config = await createConfig({ extends: ["recommended"], rules });
      const found = await lintFromString({ source: text, absoluteRef: file, config });
      t.strictSame([...new Set(found.map(({ ruleId }) => ruleId))], wanted.redocly);
    });
    await t.test("Spectral finds no problem by the rules spectral:oas", async (t) => {
      const linter = new spectral.Spectral();
      // The types of the two packages are not compatible.
      linter.setRuleset(Object.assign({ extends: [] }, { extends: [rulesets.oas] }));
      t.strictSame(
        (await linter.run(text)).map(({ code }) => code),
        wanted.spectral,
      );
    });
  });
}
