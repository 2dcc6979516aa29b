/** Texts of the inventory view and of the history of an entity. */
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
  parent: "Part of",
  owner: "Owner",
  team: "Team",
  created: "Created",
  lastSeen: "Last seen",
  deleted: "Deleted",
  cost: "Cost in this period",
  count: (count: number) => (count === 1 ? "1 found" : `${count.toLocaleString("en")} found`),
  none: "Nothing found",
  noneHint: "Change the search, or check the runs: the inventory may not have been gathered yet.",
} as const;

export const historyTexts = {
  title: "History",
  of: (id: string) => `History of ${id}`,
  now: "now",
  unknownStart: "earliest known",
  older: (count: number) =>
    count === 1 ? "and 1 older version" : `and ${count.toLocaleString("en")} older versions`,
} as const;
