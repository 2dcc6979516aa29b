/**
 * Settings that say who may be charged in an ecosystem without identities of its own: those that a query finds, those
 * that are named in the configuration, or both. `identities.ts` makes records of them.
 */
import { type Static, Type } from "@sinclair/typebox";
import { choice, list, mapOf, mapping, type Rule, text } from "../../config/reader/setting.js";
import type { IdentityScope } from "../../domain/allocation-rule.js";

export const LABEL = {
  expected: "a Prometheus label name such as principal",
  pattern: "^[A-Za-z_][A-Za-z0-9_]{0,199}$",
};

/**
 * `$step` is replaced by the step, so that a range looks back over exactly one step: `increase(bytes_total[$step])`.
 */
export const promql = (description: string) =>
  text({
    description: `${description} \`$step\` is replaced by the step, such as \`3600s\`.`,
    expected: "a PromQL expression",
    maxLength: 10_000,
  });

const staticIdentity = mapping(
  {
    identity_id: text({ description: "The id of the identity." }),
    identity_type: text({
      description: "What kind of identity it is.",
      maxLength: 100,
      default: "principal",
    }),
    display_name: Type.Optional(text({ description: "A name for people." })),
    team: Type.Optional(
      text({ description: "The team; without it that of `principal_to_team`, or `default_team`." }),
    ),
  },
  { description: "An identity that is configured instead of discovered." },
);

const properties = {
  source: choice(["prometheus", "static", "both"], {
    description: "The source of identities: a discovery query, `static_identities`, or both.",
    default: "prometheus",
  }),
  label: text({
    ...LABEL,
    description: "The label whose values are the identities in the result of `discovery_query`.",
    default: "principal",
  }),
  discovery_query: Type.Optional(promql("Its result has one series for each identity.")),
  principal_to_team: mapOf(
    {
      name: "IDENTITY",
      pattern: "^[^\\u0000-\\u001f\\u007f]{1,200}$",
      expected: "an identity of 1 to 200 characters",
    },
    text({ description: "The team of the identity." }),
    { description: "The team of each identity.", maxProperties: 10_000, default: {} },
  ),
  default_team: text({ description: "The team of identities without one.", default: "UNASSIGNED" }),
  static_identities: list(staticIdentity, {
    description: "The identities of `source: static` and `both`.",
    expected: "a list of at most 10000 identities",
    maxItems: 10_000,
    uniqueBy: "identity_id",
    default: [],
  }),
};

export type MeteredIdentitySource = Static<typeof written>;
const written = mapping(properties, { description: "" });

const unusedNames: Rule<MeteredIdentitySource> = {
  rule: "`static_identities` are allowed with `source: static` and `both`.",
  check({ source, static_identities: identities = [] }, report) {
    if (source !== "prometheus" || identities.length === 0) return;
    report(["static_identities"], "are not used with source prometheus: use source both");
  },
};

export interface IdentitySourceOptions {
  readonly description: string;
  /** Further rules of the ecosystem. */
  readonly rules: readonly Rule<MeteredIdentitySource>[];
}

/** The setting `identity_source`. */
export function identitySourceSettings({ description, rules }: IdentitySourceOptions) {
  return mapping(properties, { description, rules: [...rules, unusedNames] });
}

/** Returns true if identities are discovered by a query, and not only named in the configuration. */
export function discovers(source: MeteredIdentitySource | undefined): source is MeteredIdentitySource {
  return source !== undefined && source.source !== "static";
}

/** Identity sets that such a source provides. */
export function meteredSets(source: MeteredIdentitySource | undefined): IdentityScope[] {
  return [
    ...(namesIdentities(source) ? ["resource_active" as const] : []),
    ...(discovers(source) ? ["metrics_derived" as const] : []),
  ];
}

/** Returns true if the identities named in the configuration count. */
export function namesIdentities(source: MeteredIdentitySource | undefined): source is MeteredIdentitySource {
  return source !== undefined && source.source !== "prometheus";
}
