import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";

/**
 * The rooms of `src`, from the ground floor up. A room may import those that it names, so imports go one way, like the
 * data. `docs/explanation/architecture.md` draws the same plan.
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
  ingest: [...stores, "upstream", "focus"],
  query: [...stores, "focus"],
  export: [...stores, "upstream", "focus", "query"],
  runner: [...stores, "tags", "ingest", "allocate", "export"],
  backup: [...stores, "embedded-clickhouse", "runner"],
  http: [...stores, "tags", "query", "export", "runner"],
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

/** Rooms that could be packages of their own. Other rooms import nothing of them but these files. */
const doors: Readonly<Record<string, readonly string[]>> = {
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
const roomOf = (path: string) => (dirname(named(path)) === "." ? "main" : (named(path).split("/")[0] ?? ""));

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

t.test("every room imports only the rooms that the plan allows", async (t) => {
  t.ok([...imports.values()].flat().length > 1000, "imports are found");
  t.strictSame([...new Set([...imports.keys()].map(roomOf))].sort(), Object.keys(mayImport).sort());
  for (const [file, targets] of imports) {
    const room = roomOf(file);
    for (const target of targets) {
      if (roomOf(target) !== room && !mayImport[room]?.includes(roomOf(target))) {
        t.fail(`${named(file)} imports ${named(target)}: ${room} may not import ${roomOf(target)}`);
      }
    }
  }
});

t.test("the drawing in architecture.md has each room above those that it may import", async (t) => {
  const page = readFileSync(join(projectRoot(), "docs/explanation/architecture.md"), "utf8");
  const drawn = [...page.matchAll(/^floor (\d+) (.*)$/gm)].flatMap(([, floor, rooms = ""]) =>
    [...rooms.matchAll(/[a-z-]+(?=\*|\s{2,}|$)/g)].map(([room]) => [room, Number(floor)] as const),
  );
  const floors = new Map(drawn);
  t.strictSame([...floors.keys(), "main"].sort(), Object.keys(mayImport).sort());
  for (const [room, floor] of floors) {
    for (const below of mayImport[room] ?? []) {
      if (below !== room && (floors.get(below) ?? floor) >= floor) t.fail(`${room} is not above ${below}`);
    }
  }
});

t.test("a room with a door is entered only by it", async (t) => {
  for (const [file, targets] of imports) {
    for (const target of targets) {
      const door = doors[roomOf(target)];
      if (door === undefined || roomOf(file) === roomOf(target)) continue;
      if (!door.includes(named(target)))
        t.fail(`${named(file)} imports ${named(target)}, not ${door.join(" or ")}`);
    }
  }
});

t.test("the reader of configurations knows no setting", async (t) => {
  for (const [file, targets] of imports) {
    if (!named(file).startsWith("config/reader/")) continue;
    for (const target of targets) {
      if (roomOf(target) === "config" && !named(target).startsWith("config/reader/")) {
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
