/** Filters of a view: what is only shown and what is left out, with the values there are and what they cost. */
import { useEffect, useRef, useState } from "preact/hooks";
import { askBreakdown, type BreakdownQuestion, breakdownKey, type Group } from "../api/breakdown.js";
import { decimal } from "../money/decimal.js";
import {
  asParameters,
  type Filter,
  type FilterColumn,
  filterColumns,
  filtersOf,
  toggled,
} from "../state/filters.js";
import { changed, go, type Place } from "../state/location.js";
import { periodOf } from "../state/period.js";
import { useData } from "../state/use-data.js";
import { columnName, en } from "../text/en.js";
import { Amount } from "./amount.js";
import { Shown } from "./messages.js";

interface FilterBarProps {
  readonly place: Place;
  readonly tenant: string;
  /** Keys of the tenant's tags. */
  readonly tagKeys: readonly string[];
}

export function FilterBar({ place, tenant, tagKeys }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false);
  const filters = filtersOf(place);
  return (
    <section class="filters" aria-label={en.filters.label}>
      {filters.map((filter) => (
        <Chip key={filter.column} place={place} filter={filter} />
      ))}
      <button type="button" class="chip add" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        + {en.filters.add}
      </button>
      {isOpen && <Chooser place={place} tenant={tenant} tagKeys={tagKeys} close={() => setOpen(false)} />}
    </section>
  );
}

function Chip({ place, filter }: { readonly place: Place; readonly filter: Filter }) {
  const text = `${columnName(filter.column)} ${en.filters.is} ${filter.values.join(", ")}`;
  return (
    <span class="chip" title={text}>
      {columnName(filter.column)} <em>{en.filters.is}</em>{" "}
      <strong>
        <bdi>{filter.values.join(", ")}</bdi>
      </strong>
      <button
        type="button"
        aria-label={en.filters.remove(text)}
        onClick={() => go(changed(place, asParameters({ ...filter, values: [] })))}
      >
        ×
      </button>
    </span>
  );
}

function Chooser({ place, tenant, tagKeys, close }: FilterBarProps & { readonly close: () => void }) {
  const [column, setColumn] = useState<FilterColumn>("identity_id");
  const [search, setSearch] = useState("");
  const settled = useSettled(search);
  const filters = filtersOf(place);
  // Values of a column are not narrowed down by the filter on it: else only what is chosen could be chosen.
  const question: BreakdownQuestion = {
    tenant,
    period: periodOf(place),
    filters: filters.filter((each) => each.column !== column),
    groupBy: [column],
    limit: 50,
    search: settled,
  };
  const data = useData(breakdownKey(question), (signal) => askBreakdown(question, signal));
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  const choose = (value: string) => go(changed(place, asParameters(toggled(filters, column, value))));
  const isChosen = (value: string) =>
    filters.some((each) => each.column === column && each.values.includes(value));
  return (
    <div
      class="chooser"
      role="dialog"
      aria-label={en.filters.add}
      onKeyDown={({ key }) => {
        if (key === "Escape") close();
      }}
    >
      <div class="row">
        <select
          ref={first}
          aria-label={en.filters.column}
          value={column}
          onChange={({ currentTarget }) => setColumn(currentTarget.value as FilterColumn)}
        >
          {[...filterColumns, ...tagKeys.map((key) => `tag:${key}`)].map((name) => (
            <option key={name} value={name}>
              {columnName(name)}
            </option>
          ))}
        </select>
        <input
          type="search"
          placeholder={en.filters.search}
          aria-label={en.filters.search}
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <button type="button" onClick={close}>
          {en.filters.close}
        </button>
      </div>
      <Shown data={data}>
        {({ groups }) =>
          groups.length === 0 ? (
            <p class="hint">{en.filters.noValues}</p>
          ) : (
            <ul class="values">
              {groups.map((group) => (
                <Value
                  key={`${group.currency} ${columnValue(group, column)}`}
                  group={group}
                  column={column}
                  choose={choose}
                  isChosen={isChosen}
                />
              ))}
            </ul>
          )
        }
      </Shown>
    </div>
  );
}

interface ValueProps {
  readonly group: Group;
  readonly column: string;
  readonly choose: (value: string) => void;
  readonly isChosen: (value: string) => boolean;
}

function Value({ group, column, choose, isChosen }: ValueProps) {
  const value = columnValue(group, column);
  const name = group.display_names[column];
  return (
    <li>
      <span class="what">
        <bdi>{value === "" ? en.unnamed : value}</bdi>
        {name !== undefined && (
          <span class="hint">
            {" "}
            <bdi>{name}</bdi>
          </span>
        )}
      </span>
      <Amount value={decimal(group.total_amount)} currency={group.currency} />
      {value !== "" && (
        <button type="button" aria-pressed={isChosen(value)} onClick={() => choose(value)}>
          {en.filters.only}
        </button>
      )}
    </li>
  );
}

const columnValue = (group: Group, column: string) => group.dimensions[column] ?? "";

/** A text that has not changed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
