import { useEffect, useRef, useState } from "preact/hooks";
import { shownDay, today } from "../state/days.js";
import { changed, go, type Place } from "../state/location.js";
import {
  asParameters,
  isPossible,
  type Period,
  type Preset,
  periodOf,
  presetNames,
  presetOf,
  presets,
} from "../state/period.js";
import { en } from "../text/en.js";

/** Chooses the days of the address. */
export function PeriodPicker({ place }: { readonly place: Place }) {
  const period = periodOf(place);
  const show = (next: Period) => go(changed(place, asParameters(next)));
  const dates = useDates(period, show);
  return (
    <fieldset class="period">
      <legend class="unseen">{en.period.label}</legend>
      <select
        aria-label={en.period.label}
        value={presetOf(period) ?? ""}
        onChange={({ currentTarget: { value } }) => {
          if (value !== "") show(presets[value as Preset](today()));
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

/** While somebody types, each key may make a date: it is looked at when this long no other came. */
const TYPED_MS = 1000;

/**
 * Two dates, shown as soon as they can be a period. A date that is picked is meant; one that is typed is when the typing rests, or ends. In the
 * wrong order they may be half of a change: they are turned round at its end.
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
