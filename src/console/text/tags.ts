/** Texts of the tags view. */
import { counted } from "../../common/plural.js";

export const tagsTexts = {
  title: "Labels",
  key: "Key",
  value: "Value",
  author: "Your name",
  by: "By",
  none: "There are no labels yet",
  noneHint: "Add the first one below. Filters select what it applies to.",
  untagged: "(without this label)",
  coverage: (key: string) => `Costs by the label ${key}`,
  each: "All labels",
  search: "Search keys and values",
  count: (count: number) => counted(count, "label", "labels"),
  noneFound: "No label found",
  ofDimension: "Labels of one charge",
  noSuchDimension: "This link does not point to a charge",
  noneHere: "No labels yet.",
  add: "Add a label",
  rename: "Rename",
  renameOf: (tag: string) => `Rename the label ${tag}`,
  renaming: "Rename this label",
  remove: "Remove",
  removeOf: (tag: string) => `Remove the label ${tag}`,
  removing: "Remove this label?",
  save: "Save",
  cancel: "Cancel",
  more: "All its labels",
  tagThese: "Label everything that matches the filters",
  tagTheseHint:
    "A label belongs to a combination of identity, product and resource, and applies to all of its days. Combinations that appear later are not labelled automatically.",
  override: "Replace existing values",
  preview: "Preview",
  apply: (count: number) => `Label ${count.toLocaleString("en")} of them`,
  would: (created: number, updated: number, skipped: number) =>
    `${created.toLocaleString("en")} would get the label, ${updated.toLocaleString("en")} would get another value, ${skipped.toLocaleString("en")} already have the key and stay unchanged.`,
  did: (created: number, updated: number) =>
    `Done: ${created.toLocaleString("en")} labelled, ${updated.toLocaleString("en")} changed.`,
} as const;
