import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";

const SECRETS = [".env", ".env.local", "examples/services/.env", "docs/.env", "dist/.env.production"];

t.test("git ignores secrets and data, wherever they are", async (t) => {
  const paths = [...SECRETS, "data/pg/PG_VERSION", "examples/services/data/clickhouse/x"];
  const ignored = execFileSync("git", ["check-ignore", "--no-index", ...paths], {
    cwd: projectRoot(),
    encoding: "utf8",
  });
  t.strictSame(ignored.trim().split("\n"), paths);
});

t.test("the package contains no secrets and no data", async (t) => {
  const folder = t.testdir({});
  for (const name of ["package.json", "examples", "CHANGELOG.md", ".gitignore"]) {
    cpSync(join(projectRoot(), name), join(folder, name), { recursive: true });
  }
  for (const each of [...SECRETS, "examples/services/data/facts", "dist/main.js"]) {
    mkdirSync(join(folder, each, ".."), { recursive: true });
    writeFileSync(join(folder, each), "");
  }
  const packed: { files: { path: string }[] }[] = JSON.parse(
    execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }),
  );
  const paths = packed.flatMap(({ files }) => files.map(({ path }) => path));
  t.ok(
    paths.includes("dist/main.js") && paths.includes("examples/services/compose.yaml"),
    "the package has everything else",
  );
  t.strictSame(
    paths.filter((path) => /(^|\/)(\.env|data\/)/.test(path)),
    [],
  );
});
