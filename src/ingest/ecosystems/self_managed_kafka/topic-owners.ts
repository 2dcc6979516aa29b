/** Setting `topic_owners`: the identities that are charged for the usage of topics. */
import { type Static, Type } from "@sinclair/typebox";
import { RE2JS } from "re2js";
import type { IdentityMaps } from "../../../config/allocation/identity-map.js";
import { IDENTITY_GROUP, refuseIdentityPattern } from "../../../config/allocation/identity-source.js";
import { list, mapping, text } from "../../../config/reader/setting.js";
import { validityKeys, validityRule } from "../../../config/reader/validity.js";
import { missingValueTexts, UNALLOCATED } from "../../../domain/allocation-rule.js";
import { LONGEST_ID } from "../../../domain/text-limits.js";

const FORMS = ["map", "pattern", "prefix"] as const;

const topicOwner = mapping(
  {
    map: Type.Optional(
      text({
        description:
          "A CSV file with the header `value,identity` (separated by `,`, `;`, a tab or `|`), relative to the " +
          "configuration. It has the owner of each topic. A topic that is not in it has no owner here.",
        expected: "the path of a CSV file",
        maxLength: 4096,
      }),
    ),
    pattern: Type.Optional(
      text({
        description:
          "A regular expression (RE2) whose group `(?<identity>…)` is the owner. It may match any part of the name.",
        maxLength: 1000,
      }),
    ),
    prefix: Type.Optional(
      text({ description: "The beginning of the names of topics that `identity` owns.", maxLength: 249 }),
    ),
    identity: Type.Optional(text({ description: "For `prefix`: the owner.", maxLength: LONGEST_ID })),
    ...validityKeys,
  },
  {
    description: "A source of owners.",
    rules: [
      validityRule,
      {
        rule: "One of `map`, `pattern` and `prefix` is given, and `identity` with `prefix` only.",
        check(source, report) {
          const [form, other] = FORMS.filter((key) => source[key] !== undefined);
          if (form === undefined) report([], "needs map, pattern or prefix");
          else if (other !== undefined) report([other], `excludes ${form}: give one of the two`);
          if (source.prefix !== undefined && source.identity === undefined)
            report(["identity"], "is required with prefix");
          if (source.prefix === undefined && source.identity !== undefined)
            report(["identity"], "is only for prefix: a map or a pattern finds the identity");
          if (source.identity !== undefined && !isIdentity(source.identity))
            report(["identity"], "cannot be charged: it stands for nobody, or has spaces around it");
        },
      },
      {
        rule: "`pattern` is RE2 and has a group named `identity`.",
        check({ pattern }, report) {
          const refusal = pattern === undefined ? undefined : refuseIdentityPattern(pattern);
          if (refusal !== undefined) report(["pattern"], refusal);
        },
      },
    ],
  },
);

type TopicOwnerSource = Static<typeof topicOwner>;

export const topicOwners = list(topicOwner, {
  description:
    "For `usage_by: topic`: sources of owners, tried in order. The first that finds an owner of a topic counts. The " +
    "usage of topics without an owner counts as usage of `UNALLOCATED`.",
  expected: "a list of 1 to 100 sources",
  maxItems: 100,
});

/** Returns the owner of a topic, or undefined if no source knows one. */
export type OwnerOf = (topic: string) => string | undefined;

export function createOwnerOf(sources: readonly TopicOwnerSource[], maps: IdentityMaps): OwnerOf {
  const lookups = sources.map((source) => lookupOf(source, maps));
  const known = new Map<string, string | undefined>();
  return (topic) => {
    if (known.has(topic)) return known.get(topic);
    const owners = lookups.map((lookup) => lookup(topic)?.trim());
    const owner = owners.find((each) => each !== undefined && isIdentity(each));
    known.set(topic, owner);
    return owner;
  };
}

function lookupOf({ map, pattern, prefix = "", identity }: TopicOwnerSource, maps: IdentityMaps): OwnerOf {
  if (map !== undefined) {
    const entries = maps.get(map)?.entries;
    if (entries === undefined) throw new Error(`a map that was not read: ${map}`);
    return (topic) => entries.get(topic);
  }
  if (pattern !== undefined) {
    const expression = RE2JS.compile(pattern);
    return (topic) => {
      const matcher = expression.matcher(topic);
      return matcher.find() ? (matcher.group(IDENTITY_GROUP) ?? undefined) : undefined;
    };
  }
  return (topic) => (topic.startsWith(prefix) ? identity : undefined);
}

/** Skips the texts that identity sources of bills skip as well: they cannot be an identity. */
function isIdentity(found: string): boolean {
  const isMissing = found === UNALLOCATED || missingValueTexts.includes(found.toLowerCase());
  return found === found.trim() && found !== "" && !isMissing && isStorable(found);
}

function isStorable(found: string): boolean {
  return [...found].length <= LONGEST_ID && !/[\p{Cc}\p{Surrogate}]/u.test(found);
}
