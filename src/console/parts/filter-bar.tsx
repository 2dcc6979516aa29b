/** Filters of a view that include or exclude values, and a chooser that lists the values with their costs. */
import { useEffect, useRef, useState } from "preact/hooks";
import { exact } from "../../common/exact-decimal.js";
import { type BreakdownRequest, type BreakdownRow, useBreakdown } from "../api/breakdown.js";
import {
  type FilterColumn,
  filtersOf,
  isFilterable,
  shownFilterColumns,
  toggled,
  withOnly,
} from "../state/filters.js";
import { changed, go, type Place } from "../state/location.js";
import { periodOf } from "../state/period.js";
import { useSettled } from "../state/use-settled.js";
import { columnName, en } from "../text/en.js";
import { filterInWords, joined, relationOf, type WordedFilter } from "../text/filter-words.js";
import { AmountCell } from "./amount.js";
import { SearchBox } from "./controls.js";
import { Shown } from "./messages.js";
import { Sheet } from "./sheet.js";
import type { Names } from "./whose.js";

interface FilterBarProps {
  readonly place: Place;
  readonly tenant: string;
  /** Tag columns, in addition to the columns that every tenant has. */
  readonly tagColumns: readonly string[];
}

export function FilterBar({
  place,
  tenant,
  tagColumns,
  names,
}: FilterBarProps & { readonly names: Names | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  const filters = filtersOf(place);
  return (
    <section class="filters" aria-label={en.filters.label}>
      <Sheet place={place} id="filters" title={en.filters.count(filters.length)}>
        {filters.map((filter) => (
          <Chip
            key={JSON.stringify(filter)}
            filter={filter}
            names={names}
            rest={changed(
              place,
              withOnly(
                filters,
                filters.filter((each) => each !== filter),
              ),
            )}
          />
        ))}
        <button
          ref={opener}
          type="button"
          class="chip add"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          + {en.filters.add}
        </button>
        {isOpen && <Chooser place={place} tenant={tenant} tagColumns={tagColumns} close={close} />}
      </Sheet>
    </section>
  );
}

interface ChipProps {
  readonly filter: WordedFilter;
  readonly names?: Names | undefined;
  /** The address without this filter. */
  readonly rest: string;
}

/** Shows names. The ids are in its title. */
export function Chip({ filter, names, rest }: ChipProps) {
  const text = filterInWords(filter);
  return (
    <span class={filter.isExcluding ? "chip excluding" : "chip"} title={text}>
      {columnName(filter.column)} <em>{relationOf(filter)}</em>{" "}
      <strong>
        <bdi>{joined(filter, (value) => names?.(filter.column, value))}</bdi>
      </strong>
      <button type="button" aria-label={en.filters.remove(text)} onClick={() => go(rest)}>
        ×
      </button>
    </span>
  );
}

function Chooser({ place, tenant, tagColumns, close }: FilterBarProps & { readonly close: () => void }) {
  const [column, setColumn] = useState<FilterColumn>("identity_id");
  const [search, setSearch] = useState("");
  const settled = useSettled(search);
  const filters = filtersOf(place);
  // Ignore filters on the column itself. Otherwise, only values that are selected already could be selected.
  const request: BreakdownRequest = {
    tenant,
    period: periodOf(place),
    filters: filters.filter((each) => each.column !== column),
    groupBy: [column],
    limit: 50,
    search: settled,
  };
  const data = useBreakdown(request);
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  const choose = (value: string, isExcluding: boolean) =>
    go(changed(place, toggled(filters, { column, value, isExcluding })));
  const isChosen = (value: string, isExcluding: boolean) =>
    filters.some(
      (each) => each.column === column && each.isExcluding === isExcluding && each.values.includes(value),
    );
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
          {[...shownFilterColumns, ...tagColumns].map((name) => (
            <option key={name} value={name}>
              {columnName(name)}
            </option>
          ))}
        </select>
        <SearchBox label={en.filters.search} value={search} onInput={setSearch} />
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
  readonly group: BreakdownRow;
  readonly column: string;
  readonly choose: (value: string, isExcluding: boolean) => void;
  readonly isChosen: (value: string, isExcluding: boolean) => boolean;
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
      <AmountCell value={exact(group.total_amount)} currency={group.currency} />
      {isFilterable(column, value) &&
        [false, true].map((isExcluding) => (
          <button
            key={String(isExcluding)}
            type="button"
            aria-pressed={isChosen(value, isExcluding)}
            onClick={() => choose(value, isExcluding)}
          >
            {isExcluding ? en.filters.exclude : en.filters.only}
          </button>
        ))}
    </li>
  );
}

const columnValue = (group: BreakdownRow, column: string) => group.dimensions[column] ?? "";
