/** Prints the settings that a preset of the configuration stands for, as YAML to copy and change. */
import { stringify } from "yaml";
import { kubernetesQueries } from "../ingest/ecosystems/focus/usage/kubernetes/queries.js";
import { presetNames, presetYaml } from "../ingest/ecosystems/self_managed_kafka/presets.js";

const KUBERNETES = `# Paste this into plugin_settings of a tenant, in place of usage.preset and usage.kubernetes.
${stringify({ usage: { queries: kubernetesQueries() } }, { lineWidth: 0 })}`;

/** By the name that the configuration uses. */
export const presets: ReadonlyMap<string, string> = new Map([
  ["kubernetes", KUBERNETES],
  ...presetNames.map((name) => [name, presetYaml(name)] as const),
]);
