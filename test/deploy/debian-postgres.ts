/**
 * Starts a Postgres of Debian's packages with Debian's authentication: by user name through the socket, by password
 * elsewhere.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import { freePort } from "../free-port.js";
import { until } from "../until.js";

const VERSIONS = "/usr/lib/postgresql";

/** The program for `needs`. */
export const postgresProgram = join(newestPrograms(), "postgres");

function newestPrograms(): string {
  try {
    const [newest = ""] = readdirSync(VERSIONS).sort((a, b) => Number(b) - Number(a));
    return join(VERSIONS, newest, "bin");
  } catch {
    return join(VERSIONS, "bin");
  }
}

export interface DebianPostgres {
  readonly port: number;
  /** Runs one of its programs as its administrator, with the given standard input. */
  run(program: string, args: readonly string[], input?: string): void;
}

/** `makeFolder` makes the data folder. */
export async function startDebianPostgres(
  t: Test,
  makeFolder: (folder: string) => void = mkdirSync,
): Promise<DebianPostgres> {
  const programs = newestPrograms();
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-debian-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o711);
  const data = join(folder, "data");
  makeFolder(data);
  chmodSync(data, 0o700);
  const user = administrator();
  if (user !== undefined) chownSync(data, user.uid, user.gid);
  const run = (program: string, args: readonly string[], input = "") =>
    void execFileSync("setsid", ["--wait", join(programs, program), ...args], { ...user, cwd: "/", input });
  run("initdb", ["--pgdata", data, "--auth-local=peer", "--auth-host=scram-sha-256"]);
  const port = await freePort();
  const args = ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", data];
  const server = spawn(join(programs, "postgres"), args, { ...user, cwd: "/", stdio: "ignore" });
  const ended = once(server, "exit");
  t.teardown(async () => {
    server.kill("SIGINT");
    await ended;
  });
  const byName = ["--host", data, "--port", String(port)];
  await until("Postgres responds", () => {
    try {
      run("pg_isready", byName);
      return true;
    } catch {
      return false;
    }
  });
  return { port, run: (program, given, input) => run(program, [...byName, ...given], input) };
}

/** The user `postgres` of the package, because Postgres refuses to run as root. */
function administrator(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (option: string) => Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}
