/** Helpers for tests of the configuration: a valid tenant, and loading with problems as text. */
import type { Config } from "../../src/config/config.js";
import { loadConfig } from "../../src/config/load.js";
import { formatProblem } from "../../src/config/reader/problem.js";
import type { Environment } from "../../src/config/reader/substitute.js";
import { genericMetricsOnlySettings } from "../../src/ingest/ecosystems/generic_metrics_only/settings.js";

export const testEcosystems = new Map([["generic_metrics_only", genericMetricsOnlySettings]]);

export interface TenantText {
  /** YAML in flow style. */
  storage?: string;
  tenant_id?: string;
  /** More lines of the tenant and of its plugin_settings, without indentation. */
  tenant?: readonly string[];
  settings?: readonly string[];
  costTypes?: string;
}

const FIXED =
  "[{name: A, product_category: c, rate: 1, cost_quantity: {type: fixed, count: 1}, allocation_strategy: even_split}]";

/** Returns a tenant in 6 lines plus additions: the first line of `tenant` is its line 5, `settings` follow. */
export function tenantText(name: string, options: TenantText = {}): string {
  const {
    storage = `embedded:${name}`,
    tenant_id = name,
    tenant = [],
    settings = [],
    costTypes = FIXED,
  } = options;
  return [
    `  ${name}:`,
    "    ecosystem: generic_metrics_only",
    `    tenant_id: ${tenant_id}`,
    `    storage: {connection_string: "${storage}"}`,
    ...tenant.map((line) => `    ${line}`),
    "    plugin_settings:",
    "      cluster_id: k",
    `      cost_types: ${costTypes}`,
    ...settings.map((line) => `      ${line}`),
    "",
  ].join("\n");
}

/** Returns a file with one tenant `acme`, which starts in line 2. */
export function oneTenant(options: TenantText = {}): string {
  return `tenants:\n${tenantText("acme", options)}`;
}

export function loadYaml(text: string, env: Environment = {}) {
  return loadConfig(text, { file: "c.yaml", env, ecosystems: testEcosystems, folder: "/srv" });
}

/** Returns the problems as lines without the file's name: `3: api.port: must be …`. */
export function problemsOf(text: string, env: Environment = {}): string[] {
  const result = loadYaml(text, env);
  return result.ok ? [] : result.problems.map((problem) => formatProblem(problem).replace("c.yaml:", ""));
}

/** Loads a configuration that must be valid. */
export function configOf(text: string, env: Environment = {}): Config {
  const result = loadYaml(text, env);
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join("\n"));
  return result.config;
}
