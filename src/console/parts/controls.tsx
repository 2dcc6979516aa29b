/** Form controls. */
import { useEffect, useState } from "preact/hooks";
import { changed, go, type Place } from "../state/location.js";
import { useSettled } from "../state/use-settled.js";

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  /** Values with their titles, in order. */
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly onChoose: (value: string) => void;
}

/** A labelled select. */
export function Choice({ label, value, options, onChoose }: ChoiceProps) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {options.map(([each, title]) => (
          <option key={each} value={each}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}

/** A search input whose label is its placeholder. */
export function SearchBox({ label, value, onInput }: TextProps) {
  return (
    <input
      type="search"
      placeholder={label}
      aria-label={label}
      value={value}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
  );
}

/** Changes filters of the address. An empty value removes its filter. */
export function narrow(place: Place, changes: Readonly<Record<string, string>>, how = {}): void {
  const given = Object.entries(changes).map(([name, value]) => [name, value === "" ? undefined : value]);
  go(changed(place, Object.fromEntries(given)), how);
}

/** A search input for the `search` parameter of the address. */
export function PlaceSearch({ place, label }: { readonly place: Place; readonly label: string }) {
  const [search, setSearch] = useState(place.query.get("search") ?? "");
  const settled = useSettled(search);
  useEffect(() => {
    if (settled !== (place.query.get("search") ?? "")) narrow(place, { search: settled }, { replace: true });
  }, [settled]);
  return <SearchBox label={label} value={search} onInput={setSearch} />;
}

/** A labelled, required text input. */
export function Field({ label, value, maxLength, onInput }: TextProps & { readonly maxLength: number }) {
  return (
    <label>
      {label}{" "}
      <input
        required
        maxLength={maxLength}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  );
}

interface DayProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly required?: boolean;
  readonly min?: string;
  readonly max?: string;
}

/** A labelled day. */
export function Day({ label, value, onInput, ...limits }: DayProps) {
  return (
    <label>
      {label}{" "}
      <input
        type="date"
        value={value}
        {...limits}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  );
}
