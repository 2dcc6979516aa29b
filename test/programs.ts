/** Programs of the machine that some tests work with. */
import { accessSync, constants } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";

/** The Debian packages that have them. `.ci/run` installs them. */
const packageOf: Readonly<Record<string, string>> = {
  prometheus: "prometheus",
  promtool: "prometheus",
  kcat: "kcat",
  chromium: "chromium",
  zstd: "zstd",
  pzstd: "zstd",
  "systemd-analyze": "systemd",
  nginx: "nginx-light",
  postgres: "postgresql",
};

/**
 * Options of a test that needs programs, by name or path: it is skipped, and says why, where one is missing. In CI nothing is skipped: there it runs, and
 * fails without them.
 */
export function needs(...programs: readonly string[]): { readonly skip: string | false } {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length === 0 || process.env.CI !== undefined) return { skip: false };
  const packages = missing.map((program) => packageOf[basename(program)] ?? program);
  return {
    skip: `needs ${missing.join(", ")} (Debian: apt-get install ${[...new Set(packages)].join(" ")})`,
  };
}

function isInstalled(program: string): boolean {
  const folders = isAbsolute(program) ? ["/"] : (process.env.PATH ?? "").split(delimiter);
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
