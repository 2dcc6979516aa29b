import { shownDay, today } from "../state/days.js";
import { changed, go, type Place } from "../state/location.js";
import {
  asParameters,
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
  const choose = (first: string, last: string) => {
    if (first !== "" && last !== "") show(first <= last ? { first, last } : { first: last, last: first });
  };
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
        value={period.first}
        onChange={({ currentTarget }) => choose(currentTarget.value, period.last)}
      />
      <span aria-hidden="true">–</span>
      <input
        type="date"
        aria-label={en.period.to}
        value={period.last}
        onChange={({ currentTarget }) => choose(period.first, currentTarget.value)}
      />
      <span class="hint" title={en.period.utc}>
        UTC
      </span>
    </fieldset>
  );
}

export const shownPeriod = ({ first, last }: Period) =>
  first === last
    ? shownDay(first)
    : `${shownDay(first, first.slice(0, 4) !== last.slice(0, 4))} – ${shownDay(last)}`;
