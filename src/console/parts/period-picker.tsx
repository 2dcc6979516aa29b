import { useEffect, useRef, useState } from "preact/hooks";
import { firstOfMonth, lastOfMonth } from "../../common/days.js";
import { currentDay, shownDay, shownMonth } from "../state/days.js";
import { changed, go, type Place } from "../state/location.js";
import {
  isPossible,
  type Period,
  type Preset,
  periodOf,
  periodParameters,
  presetNames,
  presetOf,
  presets,
} from "../state/period.js";
import { en } from "../text/en.js";

/** Selects the period in the address. */
export function PeriodPicker({ place }: { readonly place: Place }) {
  const period = periodOf(place);
  const show = (next: Period) => go(changed(place, periodParameters(next)));
  const dates = useDates(period, show);
  return (
    <fieldset class="period">
      <legend class="unseen">{en.period.label}</legend>
      <select
        aria-label={en.period.label}
        value={presetOf(period) ?? ""}
        onChange={({ currentTarget: { value } }) => {
          if (value !== "") show(presets[value as Preset](currentDay()));
        }}
      >
        {presetNames.map((name) => (
          <option key={name} value={name}>
            {en.period.presets[name]}
          </option>
        ))}
        {presetOf(period) === undefined && <option value="">{en.period.custom}</option>}
      </select>
      <input
        type="date"
        aria-label={en.period.from}
        value={dates.draft.first}
        onChange={({ currentTarget }) => dates.set({ ...dates.draft, first: currentTarget.value })}
        onKeyDown={dates.onKey}
        onPointerDown={dates.onPointer}
        onBlur={dates.end}
      />
      <span aria-hidden="true">–</span>
      <input
        type="date"
        aria-label={en.period.to}
        value={dates.draft.last}
        onChange={({ currentTarget }) => dates.set({ ...dates.draft, last: currentTarget.value })}
        onKeyDown={dates.onKey}
        onPointerDown={dates.onPointer}
        onBlur={dates.end}
      />
      <span class="hint" title={en.period.utc}>
        UTC
      </span>
    </fieldset>
  );
}

/** While a user types, every key may form a valid date. A date is applied after this time without another key. */
const TYPED_MS = 1000;

/**
 * Draft of the two dates. A date that is picked applies at once. A date that is typed applies when the user pauses or
 * leaves the field. Dates in the wrong order may be half of a change, so they are swapped only when the user leaves.
 */
function useDates(period: Period, show: (period: Period) => void) {
  const [draft, setDraft] = useState(period);
  const typing = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setDraft(period), [period.first, period.last]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const apply = (next: Period) => {
    clearTimeout(timer.current);
    if (isPossible(next) && (next.first !== period.first || next.last !== period.last)) show(next);
  };
  return {
    draft,
    set(next: Period) {
      setDraft(next);
      clearTimeout(timer.current);
      if (typing.current) timer.current = setTimeout(() => apply(next), TYPED_MS);
      else apply(next);
    },
    onKey({ key }: KeyboardEvent) {
      if (key === "Enter") apply(draft);
      else if (key !== "Tab") typing.current = true;
    },
    onPointer() {
      typing.current = false;
    },
    end() {
      typing.current = false;
      const turned = draft.first > draft.last ? { first: draft.last, last: draft.first } : draft;
      setDraft(isPossible(turned) ? turned : period);
      apply(turned);
    },
  };
}

export const shownPeriod = ({ first, last }: Period) =>
  first === last
    ? shownDay(first)
    : `${shownDay(first, first.slice(0, 4) !== last.slice(0, 4))} – ${shownDay(last)}`;

/** `in September 2026` for a whole month, or `on 3 – 9 Oct 2026`. */
export const duringPeriod = ({ first, last }: Period) =>
  first === firstOfMonth(first) && last === lastOfMonth(first)
    ? en.period.inMonth(shownMonth(first))
    : en.period.onDays(shownPeriod({ first, last }));
