import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";

/**
 * The modules of `src`, from the lowest layer up, and what each may import. So imports go one way, like the data.
 * `docs/explanation/architecture.md` draws the same plan.
 */
const stores = ["common", "domain", "config", "clickhouse", "postgres", "stores"];
const mayImport: Readonly<Record<string, readonly string[]>> = {
  common: [],
  domain: ["common"],
  config: ["common", "domain"],
  upstream: ["common", "config"],
  clickhouse: ["common", "domain"],
  postgres: ["common", "domain"],
  "embedded-clickhouse": ["common", "config", "clickhouse"],
  "embedded-postgres": ["common"],
  simulator: ["common"],
  focus: ["common", "clickhouse", "embedded-clickhouse"],
  // The console runs in the browser. It uses the API, and files of `common` that need nothing but the language.
  console: ["common"],
  stores: [...stores, "embedded-clickhouse", "embedded-postgres"],
  allocate: stores,
  tags: stores,
  assignments: stores,
  ingest: [...stores, "upstream", "focus"],
  query: [...stores, "focus"],
  export: [...stores, "upstream", "focus", "query"],
  runner: [...stores, "assignments", "tags", "ingest", "allocate", "export"],
  backup: [...stores, "embedded-clickhouse", "runner"],
  http: [...stores, "assignments", "tags", "query", "export", "runner"],
  cli: [
    ...stores,
    "embedded-postgres",
    "simulator",
    "focus",
    "allocate",
    "tags",
    "ingest",
    "query",
    "export",
    "runner",
    "backup",
    "http",
  ],
  main: ["cli"],
};

/** Modules that could be packages of their own. Other modules may import only these files of them. */
const entryFiles: Readonly<Record<string, readonly string[]>> = {
  "embedded-clickhouse": ["embedded-clickhouse/index.ts"],
  "embedded-postgres": ["embedded-postgres/index.ts"],
  simulator: ["simulator/index.ts"],
  // The command that checks files loads the checks. The pipeline needs only the standard.
  focus: ["focus/index.ts", "focus/check/index.ts"],
  console: [],
};

const sources = join(projectRoot(), "src");
const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((file) =>
  /\.tsx?$/.test(file),
);
const named = (path: string) => relative(sources, path);
const moduleOf = (path: string) =>
  dirname(named(path)) === "." ? "main" : (named(path).split("/")[0] ?? "");

/** Returns the files of `src` that a file imports. */
function importsOf(file: string): string[] {
  const path = join(sources, file);
  return [...readFileSync(path, "utf8").matchAll(/(?:from|import\(?) ?"(\.[^"]+)\.js"/g)].map(
    ([, target = ""]) => {
      const found = resolve(dirname(path), target);
      return files.includes(named(`${found}.tsx`)) ? `${found}.tsx` : `${found}.ts`;
    },
  );
}
const imports = new Map(files.map((file) => [join(sources, file), importsOf(file)]));

t.test("a module imports only the modules that the plan allows", async (t) => {
  t.ok([...imports.values()].flat().length > 1000, "imports are found");
  t.strictSame([...new Set([...imports.keys()].map(moduleOf))].sort(), Object.keys(mayImport).sort());
  for (const [file, targets] of imports) {
    const module = moduleOf(file);
    for (const target of targets) {
      if (moduleOf(target) !== module && !mayImport[module]?.includes(moduleOf(target))) {
        t.fail(`${named(file)} imports ${named(target)}: ${module} may not import ${moduleOf(target)}`);
      }
    }
  }
});

t.test(
  "the drawing in architecture.md has each module in a layer above those that it may import",
  async (t) => {
    const page = readFileSync(join(projectRoot(), "docs/explanation/architecture.md"), "utf8");
    const drawn = [...page.matchAll(/^layer (\d+) (.*)$/gm)].flatMap(([, layer, modules = ""]) =>
      [...modules.matchAll(/[a-z-]+(?=\*|\s{2,}|$)/g)].map(([module]) => [module, Number(layer)] as const),
    );
    const layers = new Map(drawn);
    t.strictSame([...layers.keys(), "main"].sort(), Object.keys(mayImport).sort());
    for (const [module, layer] of layers) {
      for (const below of mayImport[module] ?? []) {
        if (below !== module && (layers.get(below) ?? layer) >= layer)
          t.fail(`${module} is not above ${below}`);
      }
    }
  },
);

t.test("a module that could be a package of its own is imported only through its index.ts", async (t) => {
  for (const [file, targets] of imports) {
    for (const target of targets) {
      const entries = entryFiles[moduleOf(target)];
      if (entries === undefined || moduleOf(file) === moduleOf(target)) continue;
      if (!entries.includes(named(target)))
        t.fail(`${named(file)} imports ${named(target)}, not ${entries.join(" or ")}`);
    }
  }
});

t.test("the reader of configurations knows no setting", async (t) => {
  for (const [file, targets] of imports) {
    if (!named(file).startsWith("config/reader/")) continue;
    for (const target of targets) {
      if (moduleOf(target) === "config" && !named(target).startsWith("config/reader/")) {
        t.fail(`${named(file)} imports ${named(target)}`);
      }
    }
  }
});

t.test("no import cycle exists", async (t) => {
  const done = new Set<string>();
  const cycles: string[] = [];
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) cycles.push([...way.slice(way.indexOf(file)), file].map(named).join(" → "));
    if (way.includes(file) || done.has(file)) return;
    for (const next of imports.get(file) ?? []) walk(next, [...way, file]);
    done.add(file);
  };
  for (const file of imports.keys()) walk(file, []);
  t.strictSame(cycles, []);
});
