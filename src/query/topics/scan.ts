/** Selects rows of `topic_attributions`: the text after WHERE. */
import type { InstantRange } from "../../common/days.js";
import { type DaySpan, rowsInWindow, type SqlCondition } from "../chargebacks/scan.js";
import { type ValueFilters, valueConditions } from "../value-filters.js";

const filterColumns = {
  cluster_resource_id: "cluster_resource_id",
  topic_name: "topic_name",
  product_type: "product_type",
  currency: "currency",
  attribution_method: "attribution_method",
} as const;

export type AttributionFilters = ValueFilters<keyof typeof filterColumns>;

export function attributionsInWindow(
  window: InstantRange,
  filters: AttributionFilters,
  days?: DaySpan,
): SqlCondition {
  const { condition, params } = rowsInWindow(window, days);
  const byValue = valueConditions(filterColumns, filters);
  return {
    condition: condition + byValue.condition,
    params: { ...params, ...byValue.params },
  };
}
