/** The parameters of the address. Filters are parameters, too: their names are columns of the API. */
import { columnOfFilter, isFilterColumn } from "./filters.js";
import type { TenantView } from "./paths.js";
import type { Place } from "./place.js";

interface Parameter {
  /**
   * - `general`: concerns every view
   * - `choice`: what a view shows, or how
   * - `page`: the page of the view's list
   * - `below`: the page of a list further down
   * - `drawer`: opens a drawer
   */
  readonly kind: "general" | "choice" | "page" | "below" | "drawer";
  /** Views that read it. Default: all of them. */
  readonly views?: readonly TenantView[];
  /** Parameters that lose their meaning when this one changes. */
  readonly resets?: readonly string[];
  /** Value after a reset, if the list is open only while the address has the parameter. */
  readonly first?: string;
}

const lists = ["page", "lacking_page", "rows"];

export const parameters: Readonly<Partial<Record<string, Parameter>>> = {
  start_date: { kind: "general", resets: lists },
  end_date: { kind: "general", resets: lists },
  digits: { kind: "general" },
  marks: { kind: "general" },
  group_by: { kind: "choice", views: ["overview", "explorer", "topics"] },
  time_bucket: { kind: "choice", views: ["explorer", "topics"] },
  limit: { kind: "choice", views: ["explorer", "topics"] },
  order: { kind: "choice", views: ["explorer", "topics", "inventory"], resets: ["page"] },
  topic_name: { kind: "choice", views: ["topics"] },
  cluster_resource_id: { kind: "choice", views: ["topics"] },
  attribution_method: { kind: "choice", views: ["topics"] },
  chart: { kind: "choice", views: ["explorer"] },
  cost: { kind: "choice", views: ["explorer"] },
  table: { kind: "choice", views: ["explorer"] },
  compare: { kind: "choice", views: ["explorer"] },
  compare_start: { kind: "choice", views: ["explorer"] },
  compare_end: { kind: "choice", views: ["explorer"] },
  kind: { kind: "choice", views: ["inventory"], resets: ["type", "status", "order", "page"] },
  type: { kind: "choice", views: ["inventory"], resets: ["page"] },
  status: { kind: "choice", views: ["inventory"], resets: ["page"] },
  costless: { kind: "choice", views: ["inventory"], resets: ["page"] },
  search: { kind: "choice", views: ["topics", "inventory", "tags"], resets: ["page"] },
  causes: { kind: "choice", views: ["worklist"] },
  cause_product: { kind: "choice", views: ["worklist"] },
  cause_rule: { kind: "choice", views: ["worklist"] },
  key: { kind: "choice", views: ["tags"] },
  of: { kind: "choice", views: ["statement"] },
  page: { kind: "page", views: ["worklist", "inventory", "tags", "deliveries", "settings"] },
  lacking_page: { kind: "below", views: ["worklist"] },
  rows: { kind: "below", views: ["explorer", "statement"], first: "1" },
  why: { kind: "drawer" },
  why_sum: { kind: "drawer", resets: ["why_by"] },
  why_by: { kind: "drawer" },
  dimension: { kind: "drawer" },
  accept: { kind: "drawer", views: ["worklist"] },
  assign: { kind: "drawer", views: ["worklist", "inventory"] },
  history: { kind: "drawer", views: ["inventory"] },
};

/** Filters select the rows of every list. */
const filter: Parameter = { kind: "choice", resets: lists };

/** A parameter that is not listed belongs to the view that is shown. */
const parameterOf = (name: string): Parameter =>
  parameters[name] ?? (isFilterColumn(columnOfFilter(name)) ? filter : { kind: "choice" });

const only = ({ path, query }: Place, isKept: (parameter: Parameter) => boolean): Place => ({
  path,
  query: new URLSearchParams([...query].filter(([name]) => isKept(parameterOf(name)))),
});

/** The address without filters, for links from views that ignore filters. */
export const datesAlone = (place: Place): Place => only(place, ({ kind }) => kind === "general");

/** The address with what follows the reader to other views: days and filters. */
export const withoutChoices = (place: Place): Place =>
  only(place, (parameter) => parameter === filter || parameter.kind === "general");

/** The address without drawers and lists further down: changing these does not scroll to the top. */
export const withoutDrawers = (place: Place): Place =>
  only(place, ({ kind }) => kind !== "below" && kind !== "drawer");

/** The parameters that a change of others resets, each with its value after that. */
export function resetBy(changed: readonly string[]): ReadonlyMap<string, string | undefined> {
  const names = changed.flatMap((name) => parameterOf(name).resets ?? []);
  return new Map(names.map((name) => [name, parameters[name]?.first]));
}
