import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/config/project.js";

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
}

const lock: { packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
  readFileSync(join(projectRoot(), "package-lock.json"), "utf8"),
);

/**
 * Packages with a binary per platform name them all as optional. A lock file written on one platform can lack the others, and
 * `npm ci` then stops everywhere else.
 */
t.test("the lock file holds the optional packages of every platform", async (t) => {
  const names = Object.keys(lock.packages);
  for (const [path, { optionalDependencies = {} }] of Object.entries(lock.packages)) {
    for (const name of Object.keys(optionalDependencies)) {
      t.ok(
        names.some((each) => each.endsWith(`node_modules/${name}`)),
        `${path || "the project"} needs ${name}`,
      );
    }
  }
  for (const platform of ["darwin-arm64", "darwin-x64", "linux-arm64-gnu", "linux-x64-gnu"]) {
    t.ok(names.includes(`node_modules/@chdb/lib-${platform}`), platform);
  }
});

t.test("the lock file carries no download addresses", async (t) => {
  t.same(
    Object.entries(lock.packages).filter(([, { resolved }]) => resolved?.startsWith("http")),
    [],
  );
});
