import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import t from "tap";
import ts from "typescript";
import { packageVersion, projectRoot } from "../../src/common/project.js";
import { temporaryFolder } from "../stores.js";

t.test("the version is 0.0.0-dev when run from source", async (t) => {
  t.equal(packageVersion(), "0.0.0-dev");
});

t.test("the version of a built package is its own, wherever it is installed", async (t) => {
  const folder = temporaryFolder(t);
  const source = readFileSync(join(projectRoot(), "src/common/project.ts"), "utf8");
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  const built = join(folder, "node_modules/chargehouse/dist/config");
  mkdirSync(built, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "another", "version": "9.9.9" }');
  writeFileSync(
    join(folder, "node_modules/chargehouse/package.json"),
    '{ "name": "chargehouse", "version": "3.2.1", "type": "module" }',
  );
  writeFileSync(join(built, "project.js"), outputText);
  const project = await import(pathToFileURL(join(built, "project.js")).href);
  t.equal(project.packageVersion(), "3.2.1");
});
