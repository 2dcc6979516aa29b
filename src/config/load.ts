/** From the text of a configuration file to a `Config`, or to everything that is wrong with it. */
import { dirname } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { checkAllocation } from "./allocation/check-allocation.js";
import { columnsOfLines } from "./allocation/line-columns.js";
import { type Config, type Derived, toConfig } from "./config.js";
import type { EcosystemSettingsMap } from "./ecosystem-settings.js";
import type { ConfigProblem } from "./problem.js";
import { readValue } from "./read.js";
import { readingContext } from "./reading-context.js";
import { configSchema } from "./schema.js";
import { checkRoles } from "./sign-on.js";
import type { Environment } from "./substitute.js";
import { parseYaml } from "./yaml.js";

export interface LoadOptions {
  /** Stands in every problem; the text itself is the first argument. Maps are relative to its folder. */
  file: string;
  /** What `${NAME}` is taken from. */
  env: Environment;
  ecosystems: EcosystemSettingsMap;
  /** What a relative `data_dir` is relative to; the working directory unless given. */
  folder?: string;
}

export type LoadResult =
  | { ok: true; config: Config; secrets: readonly string[] }
  | { ok: false; problems: ConfigProblem[] };

function inOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [...problems].sort((a, b) => a.line - b.line);
}

/** Never throws for anything that stands in the text or the environment. Reads the maps that the text names, relative to `file`. */
export function loadConfig(
  text: string,
  { file, env, ecosystems, folder = process.cwd() }: LoadOptions,
): LoadResult {
  const { root, problems } = parseYaml(text, file);
  if (root === undefined) return { ok: false, problems: inOrder(problems) };
  const schema = configSchema(ecosystems);
  const context = readingContext(file, env);
  const value = readValue(schema, root, [], context);
  if (context.problems.length > 0) return { ok: false, problems: inOrder(context.problems) };
  if (!Value.Check(schema, value))
    throw new Error("the configuration was read otherwise than its schema says");
  const derived = new Map<string, Derived>();
  for (const [name, tenant] of Object.entries(value.tenants)) {
    const ecosystem = ecosystems.get(tenant.ecosystem);
    if (ecosystem === undefined) throw new Error(`an ecosystem that was not checked: ${tenant.ecosystem}`);
    context.hold(["tenants", name], (report) =>
      derived.set(name, {
        identity_maps: checkAllocation(tenant, ecosystem, dirname(file), report),
        line_columns: columnsOfLines(ecosystem.lineColumns),
      }),
    );
  }
  context.hold(["api", "roles"], (report) => checkRoles(value.api.roles, value.tenants, report));
  if (context.problems.length > 0) return { ok: false, problems: inOrder(context.problems) };
  return { ok: true, config: toConfig(value, folder, derived), secrets: context.secrets };
}
