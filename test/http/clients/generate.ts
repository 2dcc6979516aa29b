/** Generates clients from the committed description of the API in a temporary folder, with a script that uses them. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Test } from "tap";
import { projectRoot } from "../../../src/common/project.js";

const run = promisify(execFile);
const installed = (path: string) => join(projectRoot(), "node_modules", path);

export interface Clients {
  /** The compiler's messages, line by line. */
  compile(): Promise<string[]>;
  /** The output of the script, parsed. */
  use(): Promise<unknown>;
}

/**
 * `script` is TypeScript that imports `./orval/api`, `./openapi` and `./hey-api`. It gets the service's URL as its
 * argument.
 */
export async function generateClients(
  t: Test,
  { url, script }: { url: string; script: string },
): Promise<Clients> {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-clients-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(installed(""), join(folder, "node_modules"));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const input = join(projectRoot(), "docs/reference/openapi.json");
  const output = { target: "./orval/api.ts", client: "fetch", mode: "single", baseUrl: url };
  mkdirSync(join(folder, "orval"));
  write("orval.config.cjs", `module.exports = ${JSON.stringify({ api: { input, output } })}`);
  write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["orval", "hey-api", "use.ts"] }));
  write("package.json", '{ "type": "module" }');
  write("use.ts", script);
  const node = async (...args: string[]) =>
    await run(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 26 });
  await Promise.all([
    node(installed("orval/dist/bin/orval.js"), "--config", "orval.config.cjs"),
    node(installed("openapi-typescript/bin/cli.js"), input, "-o", "openapi.ts"),
    node(installed("@hey-api/openapi-ts/bin/index.cjs"), "-i", input, "-o", "hey-api", "--silent"),
  ]);
  return {
    async compile() {
      const compiled = node(installed("typescript/bin/tsc"), "-p", ".").catch((error) => error);
      return String((await compiled).stdout)
        .split("\n")
        .filter((line) => line !== "");
    },
    use: async () => JSON.parse((await node("--import", "tsx", "use.ts", url)).stdout),
  };
}

const compilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: "es2022",
  module: "esnext",
  moduleResolution: "bundler",
  lib: ["es2022", "dom", "dom.iterable"],
  types: ["node"],
};
