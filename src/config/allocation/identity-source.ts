/** `tenants.T.allocation.identity`: the columns and tags of a line that name the identity to charge. */
import { type Static, Type } from "@sinclair/typebox";
import { flag, list, mapping, text } from "../reader/setting.js";
import { groupPosition, refusePattern } from "./patterns.js";

/** The named group of a pattern that matches the identity. */
export const IDENTITY_GROUP = "identity";

const identitySource = mapping(
  {
    assigned: Type.Optional(
      Type.Literal("resource_id", {
        description:
          "The column that is looked up in the assignments, which people make in the console or by the API.",
      }),
    ),
    tag: Type.Optional(
      text({
        description: "The key of a tag whose value is the identity.",
        maxLength: 500,
        pattern: "^[^\\u0000-\\u001f\\u007f]+$",
      }),
    ),
    column: Type.Optional(
      text({
        description:
          "A column of the line whose value is the identity, or from which `map` or `pattern` finds it.",
        pattern: "^[A-Za-z][A-Za-z0-9_]{0,99}$",
        expected: "a column of the lines, such as resource_id",
      }),
    ),
    map: Type.Optional(
      text({
        description:
          "A CSV file with the header `value,identity` (separated by `,`, `;`, a tab or `|`), relative to the " +
          "configuration. It has the identity of each value. A value that is not in it has no identity.",
        expected: "the path of a CSV file",
        maxLength: 4096,
      }),
    ),
    pattern: Type.Optional(
      text({
        description:
          "A regular expression (RE2) whose group `(?<identity>…)` is the identity. A value without a match has no " +
          "identity.",
        maxLength: 1000,
      }),
    ),
    ignore_case: Type.Optional(
      flag({
        description:
          "If true, the key of the tag and the values in `map` are compared without regard to case: with `tag: team`, " +
          "the tag `Team` is read if the line has no `team`. Default: false.",
      }),
    ),
  },
  {
    description: "A source of identities.",
    rules: [
      {
        rule: "One of `assigned`, `tag` and `column` is given; `map` and `pattern` exclude each other.",
        check({ assigned, tag, column, map, pattern, ignore_case }, report) {
          if (assigned !== undefined) {
            for (const [key, value] of Object.entries({ tag, column, map, pattern, ignore_case }))
              if (value !== undefined) report([key], "excludes assigned: give one of the two");
            return;
          }
          if (tag === undefined && column === undefined) report([], "needs assigned, tag or column");
          if (tag !== undefined && column !== undefined)
            report(["column"], "excludes tag: give one of the two");
          if (map !== undefined && pattern !== undefined)
            report(["pattern"], "excludes map: give one of the two");
        },
      },
      {
        rule: "`ignore_case` goes with `tag` or `map`.",
        check({ assigned, tag, map, ignore_case }, report) {
          if (assigned !== undefined) return;
          if (ignore_case === true && tag === undefined && map === undefined)
            report(["ignore_case"], "needs tag or map; a pattern ignores case with `(?i)`");
        },
      },
      {
        rule: "`pattern` is RE2 and has a group named `identity`.",
        check({ pattern }, report) {
          if (pattern === undefined) return;
          const refusal = refuseIdentityPattern(pattern);
          if (refusal !== undefined) report(["pattern"], refusal);
        },
      },
    ],
  },
);

export type IdentitySource = Static<typeof identitySource>;

export const identitySetting = list(identitySource, {
  description:
    "Sources of the identity that a line names. The first one that finds an identity counts. Rules with `by: line` " +
    "charge that identity, and its costs are the weights of `by: cost`. By default, only assignments are read. A list " +
    "without `assigned: resource_id` ignores them.",
  maxItems: 100,
  default: [{ assigned: "resource_id" }],
});

/** Whether assignments count for a tenant with these sources. */
export function readsAssignments(sources: readonly IdentitySource[]): boolean {
  return sources.some(isAssigned);
}

export function isAssigned({ assigned }: IdentitySource): boolean {
  return assigned !== undefined;
}

/** Returns why a pattern cannot find identities, or undefined if it can. */
export function refuseIdentityPattern(pattern: string): string | undefined {
  const refusal = refusePattern(pattern);
  if (refusal !== undefined) return refusal;
  if (groupPosition(pattern, IDENTITY_GROUP) === undefined)
    return "needs a group named identity: (?<identity>…)";
  return undefined;
}

/** The name of the column or tag, as conditions and `within` spell it. */
export function sourceColumn({ assigned, tag, column = assigned ?? "" }: IdentitySource): string {
  return tag === undefined ? column : `tag.${tag}`;
}
