/** The configuration of a tenant as it is on a day. */
import { FIRST_DAY } from "../domain/stored-days.js";
import { daysOfChangeOfMap, mapOn } from "./allocation/identity-map.js";
import { type NumberedStep, numbered } from "./allocation/pass-on.js";
import type { ConfiguredTier } from "./allocation/tier.js";
import type { TenantConfig } from "./config.js";
import { daysOfChange, validOn } from "./reader/validity.js";
import { type EcosystemSettings, pluginDefinition } from "./settings/ecosystem-settings.js";
import { allocationSetting } from "./settings/tenant.js";

type Allocation = TenantConfig["allocation"];
type AllocationOnDay = Omit<Allocation, "pass_on"> & { pass_on: NumberedStep[] };

/** Rules, steps and shares that count on a day. Steps keep the numbers that they have among all steps. */
export function allocationOn(allocation: Allocation, day: string): AllocationOnDay {
  const whole = { ...allocation, pass_on: numbered(allocation.pass_on) };
  const valid = validOn<AllocationOnDay>(allocationSetting, whole, day);
  return {
    ...valid,
    rules: valid.rules.map(({ split, components, ...rule }) => ({
      ...rule,
      ...(split !== undefined && { split: untilShares(split) }),
      ...(components !== undefined && {
        components: components.map((each) => ({ ...each, split: untilShares(each.split) })),
      }),
    })),
    pass_on: valid.pass_on.map((step) => ({ ...step, split: untilShares(step.split) })),
  };
}

/** Shares always find somebody, so nothing behind them counts. Without days, nothing may be behind them. */
function untilShares(split: readonly ConfiguredTier[]): readonly ConfiguredTier[] {
  const shares = split.findIndex(({ by }) => by === "fixed");
  return shares < 0 ? split : split.slice(0, shares + 1);
}

/** A part of time in which the configuration of a tenant does not change. */
export interface ConfigPeriod {
  /** Its first day. Undefined: no day has an earlier configuration. */
  readonly start: string | undefined;
  /** The configuration, without days. Maps of identity sources keep theirs: lines are looked up by their day. */
  readonly tenant: TenantConfig;
}

/** Returns the periods of a tenant's configuration, the earliest first. A configuration without days has one period. */
export function periodsOf(tenant: TenantConfig, ecosystem: EcosystemSettings): ConfigPeriod[] {
  const plugin = pluginDefinition(ecosystem);
  const settings = tenant.plugin_settings;
  const filesOfSettings = (ecosystem.maps?.(settings) ?? []).map(({ file }) => file);
  const mapsOfSettings = [...tenant.identity_maps].filter(([file]) => filesOfSettings.includes(file));
  const changes = [
    ...daysOfChange(allocationSetting, tenant.allocation),
    ...daysOfChange(plugin, settings),
    ...mapsOfSettings.flatMap(([, map]) => daysOfChangeOfMap(map)),
  ];
  if (changes.length === 0) return [{ start: undefined, tenant }];
  return [undefined, ...[...new Set(changes)].sort()].map((start) => {
    const day = start ?? FIRST_DAY;
    const maps = mapsOfSettings.map(([file, map]) => [file, mapOn(map, day)] as const);
    const onDay: TenantConfig = {
      ...tenant,
      allocation: allocationOn(tenant.allocation, day),
      plugin_settings: validOn(plugin, settings, day),
      identity_maps: new Map([...tenant.identity_maps, ...maps]),
    };
    return { start, tenant: onDay };
  });
}

/** Returns the period that a day is in. */
export function periodOn<Period extends Pick<ConfigPeriod, "start">>(
  periods: readonly Period[],
  day: string,
): Period {
  const period = periods.findLast(({ start }) => start === undefined || start <= day);
  if (period === undefined) throw new Error("a configuration without a first period");
  return period;
}
