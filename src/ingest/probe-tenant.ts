/** Sends a tenant's upstream every request of a run once, and stores nothing: inventory, bill and metrics. */
import type { DayRange } from "../common/days.js";
import type { PluginSettings } from "../config/settings/plugin-settings.js";
import { UpstreamError } from "../upstream/http/upstream-error.js";
import type { AnyEcosystem, GatherContext, IdentityRecord, ResourceRecord } from "./ecosystem.js";
import type { Probe } from "./reports.js";

export interface ProbedTenant {
  readonly ecosystem: AnyEcosystem;
  readonly settings: PluginSettings;
  readonly context: Omit<GatherContext, "known">;
  readonly window: DayRange;
}

export async function probeTenant(
  { ecosystem, settings, context, window }: ProbedTenant,
  signal: AbortSignal,
): Promise<Probe[]> {
  const nothing = { resources: [], identities: [] };
  const gatherer = ecosystem.connect(settings, { ...context, known: async () => nothing });
  const resources: ResourceRecord[] = [];
  const identities: IdentityRecord[] = [];
  const sink = {
    resources: async (batch: readonly ResourceRecord[]) => void resources.push(...batch),
    identities: async (batch: readonly IdentityRecord[]) => void identities.push(...batch),
    resourceRows: async () => {
      throw new Error("there is no store to select resources from");
    },
  };
  const failures: Probe[] = [];
  try {
    try {
      const { errors, warnings = [] } = await gatherer.gatherInventory(sink, signal);
      failures.push(...[...errors, ...warnings].map((failure) => ({ name: "inventory", failure })));
    } catch (error) {
      if (!(error instanceof UpstreamError) || signal.aborted) throw error;
      failures.push({ name: "inventory", failure: error.message });
    }
    return [
      { name: "resources", found: countsOf(resources.map(({ resource_type }) => resource_type)) },
      { name: "identities", found: countsOf(identities.map(({ identity_type }) => identity_type)) },
      ...failures,
      ...((await gatherer.probe?.(window, resources, signal)) ?? []),
    ];
  } finally {
    await gatherer.close();
  }
}

function countsOf(types: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const type of types) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
}
