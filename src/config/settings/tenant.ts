/** `tenants.T`: one billing boundary, with its upstream, its store and its windows. */
import { type Static, type TObject, type TUnsafe, Type } from "@sinclair/typebox";
import { rulesSetting } from "../allocation/configured-rule.js";
import { identitySetting } from "../allocation/identity-source.js";
import { passOnSetting } from "../allocation/pass-on.js";
import { integer, mapOf, mapping, oneOf, type Rule, section, text } from "../reader/setting.js";
import { type Cutoff, type EcosystemSettingsMap, pluginDefinition } from "./ecosystem-settings.js";
import { LONGEST_TIMER_SECONDS } from "./features.js";
import type { PluginSettings } from "./plugin-settings.js";
import { storageSettings } from "./storage.js";

/** Names that need no escaping in a URL segment or as a word of a log line. */
export const TENANT_NAME = {
  name: "T",
  pattern: "^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$",
  expected: "1 to 100 letters, digits, `.`, `_`, `~` and `-`, starting with a letter or a digit",
};

const days = { unit: "days" };

/** Limits of `cutoff_days` for ecosystems without their own. */
const USUAL_CUTOFF: Cutoff = { minimum: 1, default: 5 };

function cutoffDays(limits: Cutoff) {
  return integer({
    ...days,
    description:
      "The last gathered day is this many days before yesterday, because upstreams still correct the latest days. For " +
      "`focus` from 0, and 1 by default.",
    maximum: 30,
    ...limits,
  });
}

export const allocationSetting = section(
  {
    decimal_places: integer({
      description: "The number of decimal places that amounts are split to. Sums are exact for every value.",
      unit: "digits",
      minimum: 2,
      maximum: 12,
      default: 4,
    }),
    identity: identitySetting,
    rules: rulesSetting,
    pass_on: passOnSetting,
  },
  { description: "How costs are split." },
);

const tenantProperties = {
  tenant_id: text({
    description: "The tenant's id in billing lines and chargebacks. No two tenants have the same.",
    expected: "text of 1 to 200 characters, without control characters and without spaces at its ends",
    pattern: "^(?! )[^\\u0000-\\u001f\\u007f-\\u009f]{1,200}(?<! )$",
  }),
  lookback_days: integer({
    ...days,
    description:
      "How many days before today are gathered. Also the default range of API requests without dates.",
    expected: "an integer from 1 to 364 (`chargehouse run --from DAY --to DAY` charges older days)",
    minimum: 1,
    maximum: 364,
    default: 200,
  }),
  cutoff_days: cutoffDays(USUAL_CUTOFF),
  retention_days: integer({
    ...days,
    description:
      "Days older than this are dropped, with their state, with the tags of dimensions that have no other days, and " +
      "with bills whose days are all older.",
    minimum: 1,
    maximum: 730,
    default: 250,
  }),
  allocation_retry_limit: integer({
    description:
      "Attempts after which a line that fails is allocated to `UNALLOCATED`, so that it does not block its day, and " +
      "a day whose data is still incomplete becomes final without it.",
    unit: "attempts",
    minimum: 1,
    maximum: 10,
    default: 3,
  }),
  gather_failure_threshold: integer({
    description: "The tenant is suspended until the next start after this many failed gatherings in a row.",
    unit: "gatherings",
    minimum: 1,
    maximum: 1_000_000,
    default: 5,
  }),
  zero_gather_deletion_threshold: integer({
    description:
      "The entities of a type are marked deleted after this many gatherings in a row without any of them. `-1`: " +
      "never. `0` is the same as 1.",
    unit: "gatherings",
    minimum: -1,
    maximum: 1_000_000,
    default: -1,
  }),
  tenant_execution_timeout_seconds: integer({
    description: "A run of this tenant that takes longer is aborted. `0`: no limit.",
    unit: "seconds",
    minimum: 0,
    maximum: LONGEST_TIMER_SECONDS,
    default: 3600,
  }),
  metrics_prefetch_workers: integer({
    description: "How many metric queries of this tenant run at the same time.",
    unit: "queries",
    minimum: 1,
    maximum: 20,
    default: 4,
  }),
  topic_attribution_retry_limit: integer({
    description:
      "A day is attributed to topics without its missing metrics after this many attempts. Only ecosystems with " +
      "`topic_attribution` use it; the others ignore it.",
    unit: "attempts",
    minimum: 1,
    maximum: 10,
    default: 3,
  }),
  identity_to_team: mapOf(
    {
      name: "IDENTITY",
      pattern: "^[^\\u0000-\\u001f\\u007f]{1,200}$",
      expected: "an identity of 1 to 200 characters",
    },
    text({ description: "The team of the identity." }),
    {
      description:
        "The team of each identity, in every ecosystem. It takes precedence over the team from the ecosystem. Costs " +
        "can be summed by team.",
      maxProperties: 100_000,
      default: {},
    },
  ),
  allocation: allocationSetting,
  storage: storageSettings,
};

export type WrittenTenant = Static<TObject<typeof tenantProperties>> & {
  ecosystem: string;
  plugin_settings: PluginSettings;
};

const windowRules: Rule<Static<TObject<typeof tenantProperties>>>[] = [
  {
    rule: "`lookback_days` must be greater than `cutoff_days`: otherwise there is no day to process.",
    check({ lookback_days: lookback, cutoff_days: cutoff }, report) {
      if (lookback === undefined || cutoff === undefined || lookback > cutoff) return;
      report(["lookback_days"], `must be greater than cutoff_days (${cutoff}), not ${lookback}`);
    },
  },
  {
    rule: "`retention_days` must be at least `lookback_days`: otherwise days are dropped and gathered again forever.",
    check({ retention_days: retention, lookback_days: lookback }, report) {
      if (retention === undefined || lookback === undefined || retention >= lookback) return;
      report(["retention_days"], `must be at least lookback_days (${lookback}), not ${retention}`);
    },
  },
];

/** Returns the schema of a tenant, with a form for each ecosystem. The forms differ in `plugin_settings`. */
export function tenantSettings(ecosystems: EcosystemSettingsMap): TUnsafe<WrittenTenant> {
  const forms = [...ecosystems].map(([name, ecosystem]) =>
    mapping(
      {
        ecosystem: Type.Literal(name, { description: "The kind of upstream." }),
        ...tenantProperties,
        ...(ecosystem.cutoff !== undefined && { cutoff_days: cutoffDays(ecosystem.cutoff) }),
        plugin_settings: pluginDefinition(ecosystem),
      },
      { description: "A tenant.", rules: windowRules },
    ),
  );
  const shared = Type.Object(tenantProperties, { rules: windowRules });
  return Type.Unsafe<WrittenTenant>(oneOf("ecosystem", shared, forms, { description: "A tenant." }));
}
