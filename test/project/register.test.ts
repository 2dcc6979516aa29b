/** The register of hazards and behaviours names test files that exist. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";

const tests = join(projectRoot(), "test");

t.test("each hazard and behaviour of test/register.md names test files that exist", async (t) => {
  const lines = readFileSync(join(tests, "register.md"), "utf8").split("\n");
  const entries = lines.filter((line) => line.startsWith("- "));
  t.ok(entries.length > 200, "the register has its entries");
  const withoutTest = entries.filter((entry) => !/: `[^`]+\.test\.ts`(, `[^`]+\.test\.ts`)*$/.test(entry));
  t.strictSame(withoutTest, []);
  const named = entries.flatMap((entry) =>
    [...entry.matchAll(/`([^`]+\.test\.ts)`/g)].map(([, file]) => file ?? ""),
  );
  t.strictSame(
    named.filter((file) => !existsSync(join(tests, file))),
    [],
  );
});
