/** Costs of the same identity for the same product and resource, on the days before and after. */
import { addDays } from "../../common/days.js";
import { exact, zero } from "../../common/exact-decimal.js";
import { useBreakdown } from "../api/breakdown.js";
import type { Schemas } from "../api/client.js";
import { shownDay } from "../state/days.js";
import { isFilterable } from "../state/filters.js";
import { changed, type Place } from "../state/location.js";
import { Bars } from "./bars.js";
import { Link } from "./link.js";
import { Shown } from "./messages.js";

const DAYS = 3;

interface DaysProps {
  readonly explanation: Schemas["Explanation"];
  readonly place: Place;
  readonly tenant: string;
  readonly why: string;
}

export function WhyDays({ explanation, place, tenant, why }: DaysProps) {
  const { date, identity_id, resource_id, product_type, row } = explanation;
  const { currency } = row;
  const values = { identity_id, resource_id, product_type, currency };
  const filters = (["identity_id", "resource_id", "product_type", "currency"] as const)
    .filter((column) => isFilterable(column, values[column]))
    .map((column) => ({ column, isExcluding: false, values: [values[column]] }));
  const period = { first: addDays(date, -DAYS), last: addDays(date, DAYS) };
  const request = { tenant, period, filters, groupBy: ["currency"], timeBucket: "day", limit: 1 };
  const data = useBreakdown(request);
  const [dimension = "", timestamp = "", ...rest] = why.split(",");
  const sameOn = (day: string) => [dimension, day + timestamp.slice(day.length), ...rest].join(",");
  return (
    <Shown data={data} height="8rem">
      {({ time_buckets: buckets, totals: [total] }) => {
        const days = Array.from({ length: 2 * DAYS + 1 }, (_, index) => addDays(period.first, index));
        const amounts = days.map((day) => exact(total?.amounts?.[buckets.indexOf(day)] ?? "0"));
        return (
          <Bars
            currency={currency}
            bars={days.map((day, index) => {
              const amount = amounts[index] ?? zero;
              const name = shownDay(day, false);
              const isLinked = day !== date && amount.units !== 0n;
              return {
                key: day,
                amount,
                name: isLinked ? <Link href={changed(place, { why: sameOn(day) })}>{name}</Link> : name,
                isCurrent: day === date,
              };
            })}
          />
        );
      }}
    </Shown>
  );
}
