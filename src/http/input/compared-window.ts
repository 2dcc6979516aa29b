import { addDays, daysBetween, type InstantRange } from "../../common/days.js";
import { type DateWindow, EARLIEST_YEAR, InvalidParameterError } from "../../query/time/date-window.js";
import { startOfDay } from "../../query/time/start-of-day.js";

/** The previous period: as many days directly before the window, unless the request has other dates. */
export function comparedWindow(
  { startDate, endDate, timezone }: DateWindow,
  start = addDays(startDate, -(daysBetween(startDate, endDate) + 1)),
  end = addDays(startDate, -1),
): InstantRange {
  if (end >= startDate)
    throw new InvalidParameterError(
      "compare_end_date",
      "`compare_end_date` must be earlier than `start_date`.",
    );
  if (start > end)
    throw new InvalidParameterError(
      "compare_start_date",
      "`compare_start_date` must not be later than `compare_end_date`, or than the day before `start_date`.",
    );
  if (start < `${EARLIEST_YEAR}-01-01`)
    throw new InvalidParameterError(
      "start_date",
      `The previous period would begin before ${EARLIEST_YEAR}: give a later \`start_date\`, or leave out \`compare\`, \`order=change\` and \`movers\`.`,
    );
  return { from: startOfDay(start, timezone), to: startOfDay(addDays(end, 1), timezone) };
}
