/** Stands beside changes: whether the period before has all of its days. */
import { useDays } from "../api/questions.js";
import { daysBetween } from "../state/days.js";
import { type Period, periodBefore } from "../state/period.js";
import { en } from "../text/en.js";

interface ComparedProps {
  readonly tenant: string;
  /** The one that is compared. */
  readonly period: Period;
}

/** Nothing where every day of the period before is there as a whole. */
export function IncompleteBefore({ tenant, period }: ComparedProps) {
  const before = periodBefore(period);
  const days = useDays(tenant, before);
  if (days.value === undefined || days.isStale) return null;
  const complete = days.value.filter(
    ({ state, provisional }) => !provisional && (state === "published" || state === "no_bill"),
  ).length;
  const all = daysBetween(before.first, before.last);
  return complete === all ? null : (
    <p class="incomplete" role="note">
      {en.change.incomplete(complete, all)}
    </p>
  );
}
