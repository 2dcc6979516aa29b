/** What one chooses and types in. */
import { useEffect, useState } from "preact/hooks";
import { changed, go, type Place } from "../state/location.js";
import { useSettled } from "../state/use-settled.js";

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  /** Values and what they are called, in order. */
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly onChoose: (value: string) => void;
}

/** One of several, behind its label. */
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

/** A text to look for; its label stands in the box. */
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

/** The first page of what fits; an empty text does not narrow. */
export function narrow(place: Place, changes: Readonly<Record<string, string>>, how = {}): void {
  const given = Object.entries(changes).map(([name, value]) => [name, value === "" ? undefined : value]);
  go(changed(place, { ...Object.fromEntries(given), page: undefined }), how);
}

/** `search` of the address. */
export function PlaceSearch({ place, label }: { readonly place: Place; readonly label: string }) {
  const [search, setSearch] = useState(place.query.get("search") ?? "");
  const settled = useSettled(search);
  useEffect(() => {
    if (settled !== (place.query.get("search") ?? "")) narrow(place, { search: settled }, { replace: true });
  }, [settled]);
  return <SearchBox label={label} value={search} onInput={setSearch} />;
}

/** A text that has to be given, behind its label. */
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
