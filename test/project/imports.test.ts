import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/config/project.js";

/** Imports go one way, like the data: a layer may use the layers below it, never those above or beside it. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  time: [],
  numbers: [],
  secrets: [],
  "upstream-http": ["secrets"],
  config: ["time"],
  tls: ["config"],
  s3: ["upstream-http", "config", "secrets"],
  simulator: ["time"],
  // The console runs in the browser and uses only the API.
  console: [],
  store: ["tls", "config", "secrets", "time"],
  ingest: ["focus", "store", "s3", "upstream-http", "config", "numbers", "time"],
  allocate: ["store", "config", "time"],
  focus: ["store", "config", "time"],
  query: ["focus", "store", "config", "numbers", "time"],
  tags: ["store", "config", "time"],
  emit: ["query", "store", "s3", "config", "numbers", "time"],
  runner: ["tags", "emit", "ingest", "allocate", "store", "config", "secrets", "time"],
  backup: ["runner", "store", "config", "time"],
  http: ["tags", "query", "runner", "store", "tls", "config", "time"],
  cli: [
    "tags",
    "http",
    "backup",
    "runner",
    "ingest",
    "allocate",
    "query",
    "focus",
    "store",
    "tls",
    "config",
    "secrets",
    "simulator",
    "time",
  ],
};

const sources = join(projectRoot(), "src");
const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".ts"),
);

/** Returns the layer of a source file, its folder. Files of `src` itself are the entry point. */
function stageOf(file: string): string {
  return relative(sources, file).split("/").slice(0, -1)[0] ?? "main";
}

t.test("every source file imports only from its own layer and those below", async (t) => {
  t.ok(files.length > 50, "the sources are found");
  for (const file of files.map((each) => join(sources, each))) {
    const stage = stageOf(file);
    const allowed = stage === "main" ? ["cli"] : mayImport[stage];
    if (allowed === undefined) {
      t.fail(`${stage} is not a stage`);
      continue;
    }
    for (const [, target = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import) "(\.[^"]+)"/g)) {
      const imported = stageOf(resolve(dirname(file), target));
      if (imported !== stage && !allowed.includes(imported)) {
        t.fail(`${relative(sources, file)} imports ${target}: ${stage} may not import ${imported}`);
      }
    }
  }
});

t.test("no import cycle exists", async (t) => {
  const imports = new Map(
    files.map((file) => {
      const path = join(sources, file);
      const found = readFileSync(path, "utf8").matchAll(/(?:from|import) "(\.[^"]+)\.js"/g);
      return [path, [...found].map(([, target = ""]) => `${resolve(dirname(path), target)}.ts`)] as const;
    }),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].map(named).join(" → "));
    if (way.includes(file) || done.has(file)) return;
    for (const next of imports.get(file) ?? []) walk(next, [...way, file]);
    done.add(file);
  };
  const named = (file: string) => relative(sources, file);
  for (const file of imports.keys()) walk(file, []);
  t.ok([...imports.values()].flat().length > 1000, "imports are found");
  t.strictSame(circles, []);
});
