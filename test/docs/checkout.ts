/** Makes a folder like a fresh clone after the build, for the commands of the pages. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Test } from "tap";
import { projectRoot } from "../../src/common/project.js";
import { freePort } from "../free-port.js";
import { temporaryFolder } from "../stores.js";

/** Ports of the pages, which may be in use here. Each is replaced with a free one. */
const namedPorts = ["8080", "8124", "8090", "9090"] as const;

export interface Checkout {
  /** Makes a new folder with the program, one for each page. */
  folder(): string;
  readonly env: NodeJS.ProcessEnv;
  /** Returns a page's text with the ports of this test. */
  withPorts(text: string): string;
  readonly port: Readonly<Record<(typeof namedPorts)[number], number>>;
}

const linked = ["package.json", "package-lock.json", "node_modules", "migrations", "examples", "deploy"];

/**
 * Builds the program once, so `npm ci` and `npm run build` do nothing later. All other commands of npm run as usual.
 */
export async function checkOut(t: Test): Promise<Checkout> {
  const root = temporaryFolder(t);
  const built = join(root, "built");
  mkdirSync(built);
  link(built);
  execFileSync(process.execPath, [join(projectRoot(), "scripts/compile.mjs"), join(built, "dist")]);
  const bin = join(root, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "npm"), npm);
  chmodSync(join(bin, "npm"), 0o755);
  const free = await Promise.all(namedPorts.map(freePort));
  const port = Object.fromEntries(namedPorts.map((name, at) => [name, free[at]])) as Checkout["port"];
  let folders = 0;
  return {
    folder() {
      const folder = join(root, `page-${++folders}`);
      mkdirSync(folder);
      link(folder);
      symlinkSync(join(built, "dist"), join(folder, "dist"));
      return folder;
    },
    env: {
      ...process.env,
      NODE_OPTIONS: "",
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      DEMO_FLAGS: `--port ${port["8080"]} --sql-port ${port["8124"]} --size tiny --days 4`,
      BI_PASSWORD: "of-the-test",
    },
    withPorts: (text) => namedPorts.reduce((done, name) => done.replaceAll(name, String(port[name])), text),
    port,
  };
}

function link(folder: string): void {
  for (const each of linked) symlinkSync(join(projectRoot(), each), join(folder, each));
}

/** Skips `npm ci` and the build, which are done already. The demo gets the test's ports and is small. */
const npm = `#!/usr/bin/env bash
case "$1 $2" in
  "ci "*|"run build") exit 0 ;;
  "run demo") shift 2; [ "$1" = -- ] && shift; exec node dist/main.js demo $DEMO_FLAGS "$@" ;;
  *) echo "npm $* is not known to this test"; exit 1 ;;
esac
`;
