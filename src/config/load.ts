/** Parses the text of a configuration file into a `Config`, or into a list of all its problems. */
import { dirname } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { checkAllocation } from "./allocation/check-allocation.js";
import { type Config, type Derived, toConfig } from "./config.js";
import type { ConfigProblem, Path } from "./reader/problem.js";
import { readValue } from "./reader/read.js";
import { type ReadingContext, readingContext } from "./reader/reading-context.js";
import type { Environment } from "./reader/substitute.js";
import { parseYaml } from "./reader/yaml.js";
import { configSchema, type WrittenConfig } from "./schema.js";
import type { EcosystemSettingsMap } from "./settings/ecosystem-settings.js";
import { checkRoles } from "./settings/sign-on.js";
import type { WrittenTenant } from "./settings/tenant.js";

export interface LoadOptions {
  /** Path of the file, for problems. Maps are relative to its folder. */
  file: string;
  /** The variables for `${NAME}`. */
  env: Environment;
  ecosystems: EcosystemSettingsMap;
  /** Base of a relative `data_dir`; the working directory by default. */
  folder?: string;
}

export type LoadResult =
  | { ok: true; config: Config; secrets: readonly string[] }
  | { ok: false; problems: ConfigProblem[] };

function inOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [...problems].sort((a, b) => a.line - b.line);
}

/** Never throws for any text or environment. Reads the maps that the text names, relative to `file`. */
export function loadConfig(
  text: string,
  { file, env, ecosystems, folder = process.cwd() }: LoadOptions,
): LoadResult {
  const { root, problems } = parseYaml(text, file);
  if (root === undefined) return { ok: false, problems: inOrder(problems) };
  const schema = configSchema(ecosystems);
  const context = readingContext(file, env);
  const value = readValue(schema, root, [], context);
  const derived = checkTogether(value as PartialConfig, { file, ecosystems, context });
  const all = [...problems, ...context.problems];
  if (all.length > 0) return { ok: false, problems: inOrder(all) };
  if (!Value.Check(schema, value))
    throw new Error("the configuration was read otherwise than its schema says");
  return { ok: true, config: toConfig(value, folder, derived, ecosystems), secrets: context.secrets };
}

/** The values that could be read. Other parts are missing. */
type PartialConfig =
  | { readonly tenants?: Readonly<Record<string, unknown>>; readonly api?: unknown }
  | undefined;

/**
 * Checks rules between settings on all values that could be read, so that their problems appear together with all
 * others.
 */
function checkTogether(
  value: PartialConfig,
  {
    file,
    ecosystems,
    context,
  }: Pick<LoadOptions, "file" | "ecosystems"> & { readonly context: ReadingContext },
): Map<string, Derived> {
  const derived = new Map<string, Derived>();
  for (const [name, tenant] of Object.entries(value?.tenants ?? {})) {
    const { ecosystem: kind } = tenant as Partial<WrittenTenant>;
    const ecosystem = kind === undefined ? undefined : ecosystems.get(kind);
    if (ecosystem === undefined) continue;
    const tenantPath = ["tenants", name];
    const isReadable = (path: Path) => context.isReadable([...tenantPath, ...path]);
    context.checkRule(tenantPath, (report) =>
      derived.set(
        name,
        checkAllocation(tenant as WrittenTenant, ecosystem, { folder: dirname(file), isReadable, report }),
      ),
    );
  }
  const { api, tenants = {} } = (value ?? {}) as Partial<WrittenConfig>;
  if (api !== undefined && context.isReadable(["api", "roles"]))
    context.checkRule(["api", "roles"], (report) => checkRoles(api.roles, tenants, report));
  return derived;
}
