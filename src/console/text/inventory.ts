/** Texts of the inventory view and of the history of an entity. */
import { counted } from "../../common/plural.js";

export const inventoryTexts = {
  title: "Inventory",
  kinds: { resources: "Resources", identities: "Identities" },
  search: "Search ids and names",
  status: "Status",
  anyStatus: "any",
  statuses: { active: "active", deleted: "deleted" },
  type: "Type",
  anyType: "any",
  name: "Name",
  costless: "Also those without cost",
  parent: "Part of",
  owner: "Owner",
  team: "Team",
  created: "Created",
  lastSeen: "Last seen",
  deleted: "Deleted",
  cost: "Cost in this period",
  count: (count: number) => `${count.toLocaleString("en")} found`,
  none: "Nothing found",
  noCostHint:
    "Nothing that matches has a cost in this period. Choose “Also those without cost” to see the rest.",
  noneHint: "Change the search, or check the runs: the inventory may not have been gathered yet.",
} as const;

export const historyTexts = {
  title: "History",
  costs: "Cost and owner by month",
  costsOfTeam: "Cost and team by month",
  versions: "Changes",
  nobody: "nobody",
  of: (id: string) => `History of ${id}`,
  now: "now",
  unknownStart: "earliest known",
  older: (count: number) => `and ${counted(count, "older version", "older versions")}`,
} as const;
