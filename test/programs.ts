/** External programs that some tests need. */
import { accessSync, constants } from "node:fs";
import { basename, delimiter, isAbsolute, join } from "node:path";

/** The Debian packages of the programs. `.ci/run` installs them. */
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
 * Options of a test that needs programs, by name or path. The test is skipped with a reason if one is missing. In CI it
 * is never skipped and fails without them.
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
