/** The package of `npm pack`: its contents, and that it runs on its own. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";
import { temporaryFolder } from "../stores.js";

/** All files and folders that may be at the top of the package. */
const top = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "chargehouse.schema.json",
  "deploy",
  "dist",
  "docs",
  "examples",
  "migrations",
  "package.json",
];

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

t.test("the tarball contains only the needed files, and runs where it is installed", async (t) => {
  const root = temporaryFolder(t);
  const source = join(root, "source");
  mkdirSync(source);
  const built = ["dist", "chargehouse.schema.json"];
  for (const name of [...top.filter((each) => !built.includes(each)), "scripts"])
    cpSync(join(projectRoot(), name), join(source, name), { recursive: true });
  symlinkSync(join(projectRoot(), "node_modules"), join(source, "node_modules"));
  const run = (folder: string, program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  run(projectRoot(), "node", "scripts/compile.mjs", join(source, "dist"));
  run(source, "node", "scripts/build-schema.mjs");

  const [packed]: Packed[] = JSON.parse(run(source, "npm", "pack", "--json", "--ignore-scripts"));
  if (packed === undefined) throw new Error("npm packed nothing");
  const paths = packed.files.map(({ path }) => path);
  t.strictSame([...new Set(paths.map((path) => path.split("/")[0]))].sort(), [...top].sort());
  t.strictSame(
    paths.filter((path) => /\.(map|tsx?|tsbuildinfo|log)$|(^|\/)(test|bench|node_modules)\//.test(path)),
    [],
  );
  t.ok(
    existsSync(join(source, "dist/main.js.map")),
    "the build has source maps, which the package leaves out",
  );

  // Without the embedded engines, which are 600 MB and not needed here.
  const folder = join(root, "installed");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), "{}");
  const tarball = join(source, packed.filename);
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  run(folder, "npm", "install", "--omit=dev", "--omit=optional", ...quiet, tarball);
  t.match(run(folder, "npx", "chargehouse", "--help"), /^chargehouse COMMAND \[OPTIONS\]$/m);
  const example = "node_modules/chargehouse/examples/chargehouse.yaml";
  t.match(run(folder, "npx", "chargehouse", "check-config", "--config", example), /^ {2}postgres-prod:$/m);
  const { version } = JSON.parse(readFileSync(join(folder, "node_modules/chargehouse/package.json"), "utf8"));
  t.equal(packed.filename, `chargehouse-${version}.tgz`);
});
