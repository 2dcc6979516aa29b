import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { checks } from "../../src/focus/check/all-checks.js";
import { ENGINE_MEMORY_GIB } from "../../src/focus/check/scratch-engine.js";
import { columnsOfVersion, focusColumns } from "../../src/focus/columns.js";
import { renames } from "../../src/focus/renames.js";
import { serviceCategories } from "../../src/focus/service-categories.js";
import { detectVersion, focusVersions } from "../../src/focus/version.js";

t.test("the reference page has all checks, as declared and in the same order", async (t) => {
  const page = readFileSync(join(projectRoot(), "docs/reference/focus-check.md"), "utf8");
  t.strictSame(
    page.match(/^\| `[a-z-]+` \| (error|warning) \| .* \|$/gm),
    checks.map(({ id, level, what }) => `| \`${id}\` | ${level} | ${what} |`),
  );
  t.ok(page.includes(`may use ${ENGINE_MEMORY_GIB} GiB of memory`));
  t.ok(page.includes(`: ${focusVersions.slice(0, -1).join(", ")} or ${focusVersions.at(-1)}.`));
});

t.test(
  "each version has its number of columns, with unique names in order and complete value lists",
  async (t) => {
    const names = focusColumns.map(({ name }) => name);
    t.strictSame(names, [...new Set(names)].sort());
    t.strictSame(
      focusVersions.map((version) => [version, columnsOfVersion(version).length]),
      [
        ["0.5", 21],
        ["1.0-preview", 39],
        ["1.0", 43],
        ["1.1", 50],
        ["1.2", 57],
        ["1.3", 65],
        ["1.4", 65],
      ],
    );
    const subcategories = Object.values(serviceCategories).flat();
    t.strictSame(
      [Object.keys(serviceCategories).length, subcategories.length, new Set(subcategories).size],
      [19, 82, 82],
    );
    const [before, now] = (["1.3", "1.4"] as const).map((version) =>
      columnsOfVersion(version).find(({ name }) => name === "PricingCurrency"),
    );
    t.strictSame(
      [before?.nullable, before?.format, now?.nullable, now?.format],
      [true, undefined, false, "Currency"],
    );
  },
);

t.test("each rename leads from a removed column to a new one", async (t) => {
  for (const { from, to, since } of renames) {
    const [old, renamed] = [from, to].map((name) => focusColumns.find((column) => column.name === name));
    t.strictSame([old?.name, renamed?.name, renamed?.since], [from, to, since]);
    t.ok(old?.until !== undefined, `${from} ends`);
  }
});

t.test("versions are detected from the columns in any case, unless they fit several versions", async (t) => {
  for (const version of focusVersions) {
    const names = columnsOfVersion(version).map(({ name }) => name.toLowerCase());
    t.equal(detectVersion(names), version);
  }
  for (const [names, version] of [
    [["BilledCost", "ServiceName"], undefined],
    [["BilledCost", "BillingAccountType", "ChargeClass"], "1.0"],
    [["ServiceProviderName", "ProviderName"], "1.3"],
    [["ServiceProviderName"], "1.4"],
    [["Region", "UsageQuantity"], "1.0-preview"],
  ] as const)
    t.equal(detectVersion(names), version, names.join());
});

t.test("the reference page of the export has all columns of 1.4 in order", async (t) => {
  const page = readFileSync(join(projectRoot(), "docs/reference/focus-export.md"), "utf8");
  const [, table = ""] = page.split("\n## Columns\n");
  t.strictSame(
    [...table.matchAll(/^\| `([A-Za-z]+)` \|/gm)].map(([, name]) => name),
    columnsOfVersion("1.4").map(({ name }) => name),
  );
});
