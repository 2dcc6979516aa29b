/** Stands beside changes: what they rest on. */
import { type Comparison, isWhole } from "../api/comparison.js";
import { shifted, shownDay } from "../state/days.js";
import { en } from "../text/en.js";
import { shownPeriod } from "./period-picker.js";

const text = en.change;

/** Which days are compared. */
export const comparedWith = ({ before }: Comparison) => en.period.compared(shownPeriod(before));

/** Nothing where every day of both periods is there as a whole. */
export function ComparedNotes({ comparison: { missing, days } }: { readonly comparison: Comparison }) {
  const notes = [
    ...(missing === undefined
      ? []
      : [
          text.missing(
            shownPeriod(missing),
            missing.first === missing.last,
            shownDay(shifted(missing.first, -1)),
          ),
        ]),
    ...(days === undefined ? [text.unknown] : []),
    ...(days === undefined || isWhole(days.now) ? [] : [text.incompleteNow(days.now.complete, days.now.all)]),
    ...(days === undefined || isWhole(days.before)
      ? []
      : [text.incomplete(days.before.complete, days.before.all)]),
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
