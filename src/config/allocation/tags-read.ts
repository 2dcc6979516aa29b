/** Finds the keys of the tags that a tenant's identity sources and rules read. Keys are case-sensitive. */
import { tagKeyOf } from "../../domain/rule-columns.js";
import { whereOf } from "./condition.js";
import type { ConfiguredRule } from "./configured-rule.js";
import type { IdentitySource } from "./identity-source.js";

export function tagsRead({
  identity,
  rules,
}: {
  readonly identity: readonly IdentitySource[];
  readonly rules: readonly Pick<ConfiguredRule, "where">[];
}): string[] {
  const ofSources = identity.flatMap(({ tag, ignore_case }) =>
    tag !== undefined && ignore_case !== true ? [tag] : [],
  );
  const ofRules = rules.flatMap(({ where }) => {
    const { conditions, any } = whereOf(where);
    return [conditions, ...any].flatMap((each) => Object.keys(each).flatMap((name) => tagKeyOf(name) ?? []));
  });
  return [...new Set([...ofSources, ...ofRules])].sort();
}
