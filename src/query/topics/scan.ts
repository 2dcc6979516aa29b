/** Which rows of `topic_attributions` a read looks at, as the text behind WHERE. */
import type { AttributionMethod } from "../../config/topic-rule.js";
import { type Condition, rowsInWindow } from "../chargebacks/scan.js";
import type { DateWindow } from "../time/date-window.js";

/** Filters by equality; a filter that is left out does not filter. */
export interface AttributionFilters {
  readonly cluster_resource_id?: string | undefined;
  readonly topic_name?: string | undefined;
  readonly product_type?: string | undefined;
  readonly currency?: string | undefined;
  readonly attribution_method?: AttributionMethod | undefined;
}

const filterNames = [
  "cluster_resource_id",
  "topic_name",
  "product_type",
  "currency",
  "attribution_method",
] as const;

export function attributionsInWindow(
  window: Pick<DateWindow, "from" | "to">,
  filters: AttributionFilters,
): Condition {
  const { condition, params } = rowsInWindow(window);
  const used = filterNames.filter((name) => filters[name] !== undefined);
  return {
    condition: condition + used.map((name) => ` AND ${name} = {${name}:String}`).join(""),
    params: { ...params, ...Object.fromEntries(used.map((name) => [name, filters[name]])) },
  };
}
