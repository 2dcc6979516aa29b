/** Notes next to changes: which days are compared, and whether they are complete. */
import { addDays } from "../../common/days.js";
import { isWhole, type PeriodComparison } from "../api/comparison.js";
import { shownDay } from "../state/days.js";
import { en } from "../text/en.js";
import { shownPeriod } from "./period-picker.js";

const text = en.change;

/** The days that are compared, or why none are. */
export const comparedWith = ({ before, firstDay }: PeriodComparison) =>
  firstDay === undefined
    ? en.period.compared(shownPeriod(before))
    : en.change.nothingBefore(shownDay(firstDay));

/** Renders nothing if every day of both periods is complete. */
export function ComparedNotes({
  comparison: { missing, days, firstDay },
}: {
  readonly comparison: PeriodComparison;
}) {
  const notes = [
    ...(missing === undefined || firstDay !== undefined
      ? []
      : [
          text.missing(
            shownPeriod(missing),
            missing.first === missing.last,
            shownDay(addDays(missing.first, -1)),
          ),
        ]),
    ...(days === undefined ? [text.unknown] : []),
    ...(days === undefined || isWhole(days.now)
      ? []
      : [text.incompleteNow(days.now.complete, days.now.total)]),
    ...(days === undefined || firstDay !== undefined || isWhole(days.before)
      ? []
      : [text.incomplete(days.before.complete, days.before.total)]),
  ];
  return (
    <>
      {notes.map((note) => (
        <p key={note} class="incomplete" role="note">
          {note}
        </p>
      ))}
    </>
  );
}
