/**
 * Checks that the tests notice a list of mutants: `npm run mutants`, or `npm run mutants -- word` for those whose name
 * or file has the word. It works on copies, one for each processor. The tests of a mutant have to pass without it, and
 * one of them has to fail with it.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { projectRoot } from "../../src/common/project.js";
import { compileOptions, compileProject } from "../compiled.js";
import { MIGRATED_CLICKHOUSE, makeMigratedClickHouse } from "../migrated-clickhouse.js";
import { MIGRATED_POSTGRES, makeMigratedPostgres } from "../migrated-postgres.js";
import { mutants as all } from "./all.js";
import type { Mutant } from "./mutant.js";

const copied = ["src", "test", "migrations", "package.json", "tsconfig.json", "docs"];

function copyOfProject(): string {
  const folder = mkdtempSync(join(tmpdir(), "chargehouse-mutants-"));
  for (const name of copied) cpSync(join(projectRoot(), name), join(folder, name), { recursive: true });
  symlinkSync(join(projectRoot(), "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** A copy of the project. */
interface Workplace {
  passes(test: string): Promise<boolean>;
  survives(mutant: Mutant): Promise<boolean>;
  remove(): void;
}

async function prepareWorkplace(): Promise<Workplace> {
  const folder = copyOfProject();
  const compiled = join(folder, ".compiled");
  const compiledName = (file: string) => join(compiled, file.replace(/\.tsx?$/, ".js"));
  const migrated = {
    postgres: join(folder, "migrated-postgres"),
    clickhouse: join(folder, "migrated-clickhouse"),
  };
  await compileProject(folder, ["src", "test"], compiled);
  for (const each of Object.values(migrated)) mkdirSync(each);
  await makeMigratedPostgres(migrated.postgres);
  await makeMigratedClickHouse(migrated.clickhouse, migrated.postgres);

  /** Fewer lines than in CI are sufficient, because a mutant affects most of them. */
  const environment = {
    ...process.env,
    FC_LINES: process.env.FC_LINES ?? "1500",
    FC_SEED: process.env.FC_SEED ?? "1",
    TAP_TIMEOUT: "900",
    TAP_BAIL: "1",
    [MIGRATED_POSTGRES]: migrated.postgres,
    [MIGRATED_CLICKHOUSE]: migrated.clickhouse,
  };

  async function passes(test: string): Promise<boolean> {
    const child = spawn(process.execPath, [compiledName(test)], {
      cwd: folder,
      env: environment,
      stdio: "ignore",
    });
    return await new Promise((resolve) => child.once("exit", (code) => resolve(code === 0)));
  }

  return {
    passes,
    async survives({ file, from, to, tests }) {
      const path = join(folder, file);
      const text = readFileSync(path, "utf8");
      if (text.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`);
      const write = async (content: string) => {
        writeFileSync(path, content);
        await build({ ...compileOptions, entryPoints: [path], outfile: compiledName(file) });
      };
      await write(text.replace(from, () => to));
      try {
        for (const test of tests) if (!(await passes(test))) return false;
        return true;
      } finally {
        await write(text);
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const word = process.argv[2] ?? "";
const chosen = all.filter(({ name, file }) => name.includes(word) || file.includes(word));
const workplaces: Workplace[] = [];

/** Works on the items in all workplaces at the same time. */
async function inEach<Item>(
  items: Iterable<Item>,
  work: (place: Workplace, item: Item) => Promise<void>,
): Promise<void> {
  const waiting = [...items].values();
  await Promise.all(
    workplaces.map(async (place) => {
      for (const item of waiting) await work(place, item);
    }),
  );
}

try {
  for (let at = 0; at < availableParallelism(); at++) workplaces.push(await prepareWorkplace());
  await inEach(new Set(chosen.flatMap(({ tests }) => tests)), async (place, test) => {
    if (!(await place.passes(test))) throw new Error(`${test} fails without any mutant`);
  });
  let survived = 0;
  await inEach(chosen, async (place, mutant) => {
    const isAlive = await place.survives(mutant);
    if (isAlive) survived += 1;
    console.log(`${isAlive ? "SURVIVED" : "killed"}  ${mutant.file}: ${mutant.name}`);
  });
  console.log(`${chosen.length - survived} of ${chosen.length} mutants killed`);
  process.exitCode = survived === 0 ? 0 : 1;
} finally {
  for (const place of workplaces) place.remove();
}
