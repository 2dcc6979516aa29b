/** Reads the files of `deploy/` for tests. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { parse, parseAllDocuments } from "yaml";
import { projectRoot } from "../../src/common/project.js";
import { loadConfig } from "../../src/config/load.js";
import { parseDotEnv } from "../../src/config/reader/dotenv.js";
import { createServiceMetrics } from "../../src/http/metrics.js";
import { ecosystems } from "../../src/ingest/ecosystems/registry.js";

export const deployFolder = join(projectRoot(), "deploy");

/** All files, relative to the folder. */
export const deployFiles = readdirSync(deployFolder, { recursive: true, encoding: "utf8" })
  .filter((name) => statSync(join(deployFolder, name)).isFile())
  .sort();

export function deployText(file: string): string {
  return readFileSync(join(deployFolder, file), "utf8");
}

/** Parses YAML with merge keys, as Compose does. */
export function yamlOf<Content>(text: string): Content {
  return parse(text, { merge: true });
}

/** Parses a file with several documents. */
export function documentsOf<Content>(text: string): Content[] {
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** Returns the variables of an `env.example`. */
export function envOf(file: string): Readonly<Record<string, string>> {
  const { values, problems } = parseDotEnv(deployText(file), file);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return values;
}

/** Asserts that the service would start with the configuration, and returns it. */
export function loaded(t: Test, text: string, file: string, env: Readonly<Record<string, string>>) {
  const result = loadConfig(text, { file, env, ecosystems });
  t.strictSame(result.ok ? [] : result.problems, [], file);
  if (!result.ok) throw new Error(`${file} is not valid`);
  return result.config;
}

/** Returns every name of a series of `/metrics` in queries. */
export async function seriesNames(): Promise<ReadonlySet<string>> {
  const text = await createServiceMetrics().registry.metrics();
  return new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
  );
}
