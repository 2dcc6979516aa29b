/** Texts of assignments. */
import { counted } from "../../common/plural.js";

export const assignTexts = {
  assign: "Assign",
  assignOf: (resource: string) => `Assign ${resource}`,
  assignSelected: (count: number) => `Assign the selected (${count.toLocaleString("en")})`,
  select: (resource: string) => `Select ${resource}`,
  title: (count: number) =>
    count === 1
      ? "Who does this resource belong to?"
      : `Who do these ${count.toLocaleString("en")} resources belong to?`,
  hint: "From the next run on, the identity pays what nobody pays, and what was divided without better data. What is measured, owned or shared by design stays as it is.",
  notRead:
    "This tenant does not read assignments. Its configuration needs this identity source, first in its list:",
  lookback: "Only days that runs still gather are calculated again.",
  identity: "Identity or team",
  from: "From day",
  to: "Last day (optional)",
  reason: "Reason",
  submit: "Save the assignment",
  done: (count: number, identity: string) =>
    count === 1
      ? `Saved. The next run charges ${identity}.`
      : `Saved for ${count.toLocaleString("en")} resources. The next run charges ${identity}.`,
  toRuns: "To the runs",
  assignments: "Assignments",
  none: "No resource is assigned.",
  noneOfThese: "Not assigned yet.",
  count: (count: number) => counted(count, "assignment", "assignments"),
  days: (from: string, to: string | null) => (to === null ? `since ${from}` : `${from} – ${to}`),
  daysTitle: "Days (UTC)",
  by: "By",
  end: "End",
  endOf: (resource: string) => `End the assignment of ${resource}`,
  lastDay: "Last day",
  remove: "Delete",
  removeOf: (resource: string) => `Delete the assignment of ${resource}`,
  removing: "Delete this assignment, for all of its days?",
  map: "Download as a map",
  assignedTo: (identity: string) => `Assigned to ${identity}. The next run counts it.`,
  configuration: "Or change the configuration",
  configurationHint: "A rule charges somebody in the same way, without an end:",
  whoPays: "WHO-PAYS",
  mapHint: (map: string) => `Add this line to the map ${map}:`,
  tagHint: (key: string) => `Or set the bill tag ${key} on the resource, at its provider.`,
  similarTagHint: (key: string, similar: string) =>
    `The resource has the bill tag ${similar} instead of ${key}: ignore_case: true reads both.`,
  ruleHint: (rule: string) =>
    `The configured rule ${rule} takes these lines. An assignment counts only if its split has by: line.`,
  knownNow: (identity: string) => `The configuration names ${identity} now: the next run counts it.`,
  copy: "Copy",
  copied: "Copied",
} as const;
