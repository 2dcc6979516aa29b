/** The rows of a table of groups, and the first cell of each. */
import { type BreakdownRow, listed, type Sums, type Totals } from "../api/breakdown.js";
import type { BreakdownResult } from "../api/comparison.js";
import { OTHERS_COLOR } from "../state/colors.js";
import type { Place } from "../state/location.js";
import { columnName, en } from "../text/en.js";
import { chartColors, keyOf, nameOf } from "./breakdown-chart.js";
import { Swatch } from "./chart-tip.js";
import { drilled, othersHref } from "./drill-down.js";
import { Link } from "./link.js";
import type { TableColumn } from "./table.js";

/** A row of a table: a group, or the sum of all others. */
export interface GroupRow extends Sums {
  readonly group?: BreakdownRow;
  readonly key: string;
  readonly name: string;
}

/** The groups of a currency, then the others, then what is unallocated. */
export function rowsOf({ breakdown, request: { groupBy } }: BreakdownResult, currency: string): GroupRow[] {
  const { groups, others, unallocated } = listed(breakdown, currency);
  const rowOf = (group: BreakdownRow): GroupRow => ({
    ...group,
    group,
    key: keyOf(group, groupBy),
    name: nameOf(group, groupBy),
  });
  return [
    ...groups.map(rowOf),
    ...(others === undefined ? [] : [{ ...others, key: "", name: en.other(others.group_count) }]),
    ...(unallocated === undefined ? [] : [rowOf(unallocated)]),
  ];
}

/** A column for each column of the groups. The first has the colour and leads to the group. */
export function nameColumns(place: Place, result: BreakdownResult, totals: Totals): TableColumn<GroupRow>[] {
  const { groupBy } = result.request;
  const colors = chartColors(result, totals.currency);
  return groupBy.map((column, index) => ({
    key: column,
    title: columnName(column),
    sortKey: column,
    cell: (row) =>
      index === 0 ? (
        <Name
          row={row}
          place={place}
          columns={groupBy}
          color={colors.get(row.key) ?? OTHERS_COLOR}
          othersHref={othersHref(place, result, totals)}
        />
      ) : (
        <bdi title={row.group?.dimensions[column]}>{row.group && nameOf(row.group, [column])}</bdi>
      ),
  }));
}

interface NameProps {
  readonly row: GroupRow;
  readonly place: Place;
  readonly columns: readonly string[];
  readonly color: string;
  readonly othersHref: string | undefined;
}

function Name({ row, place, columns: groupBy, color, othersHref: more }: NameProps) {
  const { group } = row;
  const swatch = <Swatch color={color} />;
  if (group === undefined)
    return (
      <>
        {swatch} {more === undefined ? row.name : <Link href={more}>{row.name}</Link>}
      </>
    );
  const inside = drilled(place, group, groupBy);
  const name = <bdi>{nameOf(group, groupBy.slice(0, 1))}</bdi>;
  return (
    <>
      {swatch}{" "}
      {inside === undefined ? (
        name
      ) : (
        <Link href={inside} title={Object.values(group.dimensions).join(" · ")}>
          {name}
        </Link>
      )}
      {group.provisional && (
        <span class="badge" title={en.explorer.provisionalGroup}>
          {" ≈"}
          <span class="unseen"> {en.explorer.provisionalGroup}</span>
        </span>
      )}
    </>
  );
}
