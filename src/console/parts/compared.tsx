/** Stands beside changes: whether the period before has all of its days. */
import { useRef } from "preact/hooks";
import { useDays } from "../api/questions.js";
import { daysBetween, shifted, today } from "../state/days.js";
import { type Period, periodBefore } from "../state/period.js";
import { en } from "../text/en.js";

interface ComparedProps {
  readonly tenant: string;
  /** The one that is compared. */
  readonly period: Period;
}

/** Days of a year at once, so that the next periods that somebody looks at need not be asked for. */
const DAYS_AT_ONCE = 365;

/** Nothing where every day of the period before is there as a whole. */
export function IncompleteBefore({ tenant, period }: ComparedProps) {
  const before = periodBefore(period);
  const asked = useRef(around(before));
  if (before.first < asked.current.first || before.last > asked.current.last) asked.current = around(before);
  const days = useDays(tenant, asked.current);
  if (days.value === undefined || days.isStale) return null;
  const complete = days.value.filter(
    ({ tracking_date, state, provisional }) =>
      tracking_date >= before.first &&
      tracking_date <= before.last &&
      !provisional &&
      (state === "published" || state === "no_bill"),
  ).length;
  const all = daysBetween(before.first, before.last);
  return complete === all ? null : (
    <p class="incomplete" role="note">
      {en.change.incomplete(complete, all)}
    </p>
  );
}

/** The period and what lies around it, up to today. */
function around({ first, last }: Period): Period {
  const far = shifted(today(), -DAYS_AT_ONCE);
  return { first: first < far ? first : far, last: last > today() ? last : today() };
}
