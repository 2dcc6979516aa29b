/** The style sheet: colours that everybody can tell apart, and classes that exist. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import ts from "typescript";
import { projectRoot } from "../../src/common/project.js";
import { contrast, distance, labOf, visions } from "./color-distance.js";

const folder = join(projectRoot(), "src/console");
const style = readFileSync(join(folder, "style.css"), "utf8");

/** Colours by name, for light and dark. */
const colors = new Map(
  [...style.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }] as const,
  ),
);
const series = [...colors.keys()].filter((name) => /^(color-\d+|unallocated)$/.test(name));

t.test("distances between colours are those of the standard", async (t) => {
  for (const [one, other, expected] of [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ] as const)
    t.equal(Number(distance(one, other).toFixed(4)), expected);
  t.equal(Number(contrast("#ffffff", "#777777").toFixed(2)), 4.48);
});

t.test("any two series can be told apart, also by people who are colour-blind", async (t) => {
  t.equal(series.length, 14);
  for (const theme of ["light", "dark"] as const)
    for (const [name, vision] of Object.entries(visions)) {
      const pairs = series.flatMap((one, index) =>
        series.slice(index + 1).map((other) => {
          const [a = "", b = ""] = [one, other].map((each) => colors.get(each)?.[theme]);
          return { pair: `${one} and ${other}`, distance: distance(labOf(a, vision), labOf(b, vision)) };
        }),
      );
      const near = pairs.filter((each) => each.distance < (name === "normal" ? 15 : 10));
      t.strictSame(near, [], `${theme}, ${name} vision`);
    }
});

t.test("every series has a contrast of 3 to 1 to the page and to cards", async (t) => {
  for (const theme of ["light", "dark"] as const)
    for (const name of series)
      for (const background of ["page", "card"]) {
        const [color = "", behind = ""] = [name, background].map((each) => colors.get(each)?.[theme]);
        const found = contrast(color, behind);
        t.ok(found >= 3, `${name} on the ${background}, ${theme}: ${found.toFixed(2)}`);
      }
});

/** Classes that are put together when a page is drawn, by the file and the variable part. */
const computed: Readonly<Record<string, readonly string[]>> = {
  "parts/health.tsx kind": ["good", "warn", "bad"],
  "parts/table.tsx classOf(column)": ["number", "wraps", "leads"],
  "parts/table.tsx kind": [],
  "views/runs.tsx state": "unknown provisional published outdated pending no_bill failed lost".split(" "),
  "views/runs.tsx status": ["failed", "completed_with_errors"],
  "views/deliveries.tsx statusOf(delivery.state)": ["failed", "completed_with_errors"],
};
/** Classes without a style. The page itself and its tests find elements by them. */
const hooks = ["assignments", "each-tag", "givings", "methods", "removing", "renaming", "used"];

/** All classes of the elements of a file. */
function classesOf(file: string): { readonly classes: readonly string[]; readonly open: readonly string[] } {
  const text = readFileSync(join(folder, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const classes: string[] = [];
  const open: string[] = [];
  const collect = (node: ts.Node): void => {
    if (ts.isJsxExpression(node)) ts.forEachChild(node, collect);
    else if (ts.isStringLiteralLike(node)) classes.push(...node.text.split(/\s+/));
    else if (ts.isConditionalExpression(node)) [node.whenTrue, node.whenFalse].forEach(collect);
    else if (ts.isTemplateExpression(node)) {
      const literals = [node.head, ...node.templateSpans.map(({ literal }) => literal)];
      classes.push(...literals.flatMap(({ text: part }) => part.split(/\s+/)));
      for (const { expression } of node.templateSpans) open.push(`${file} ${expression.getText()}`);
    } else if (node.getText() !== "undefined") open.push(`${file} ${node.getText()}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isJsxAttribute(node) && node.name.getText() === "class" && node.initializer !== undefined)
      collect(node.initializer);
    else ts.forEachChild(node, visit);
  };
  visit(source);
  return { classes: classes.filter((name) => name !== ""), open };
}

t.test("the rules of a class are in one place, because another place would be another meaning", async (t) => {
  // After a comma, a class shares rules with others and is not alone.
  const alone = [...style.matchAll(/(?<!,\n)^\.([\w-]+) \{$/gm)].map(([, name = ""]) => name);
  t.ok(alone.length > 50);
  t.strictSame(
    alone.filter((name, index) => alone.indexOf(name) !== index),
    [],
  );
});

t.test(
  "every class of an element is in the style sheet, and every class of the style sheet has elements",
  async (t) => {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".tsx"),
    );
    const found = files.map(classesOf);
    const used = new Set([...found.flatMap(({ classes }) => classes), ...Object.values(computed).flat()]);
    const styled = new Set(
      [...style.replaceAll(/\/\*.*?\*\//gs, "").matchAll(/([^{}]+)\{/g)]
        .filter(([, selector = ""]) => !selector.trim().startsWith("@"))
        .flatMap(([, selector = ""]) =>
          [...selector.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = ""]) => name),
        ),
    );
    t.strictSame([...used].filter((name) => !styled.has(name)).sort(), hooks, "classes without a style");
    t.strictSame([...styled].filter((name) => !used.has(name)).sort(), [], "styles without an element");
    t.strictSame(
      found.flatMap(({ open }) => open).filter((each) => computed[each] === undefined),
      [],
    );
  },
);
