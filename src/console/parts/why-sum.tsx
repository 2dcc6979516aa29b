/** Drawer that breaks the change of a sum into causes. It is open while the address has `why_sum`. */
import { exact } from "../../common/exact-decimal.js";
import {
  type ChangeGroup,
  type ChangeSums,
  type ComparedChange,
  causesOf,
  LINE,
  loadChange,
  type ShownChange,
  useSumChange,
} from "../api/change.js";
import type { Filter } from "../state/filters.js";
import { changed, go, type Place } from "../state/location.js";
import { comparedPeriod, type Period, periodOf } from "../state/period.js";
import { useLoaded } from "../state/use-data.js";
import { factsOf } from "../text/change.js";
import { columnName, en } from "../text/en.js";
import { AmountCell, SignedAmount } from "./amount.js";
import { Choice } from "./controls.js";
import { Drawer } from "./drawer.js";
import { Shown } from "./messages.js";
import { duringPeriod } from "./period-picker.js";
import { DataTable, type TableColumn } from "./table.js";
import { WhySentence } from "./why-sentence.js";
import { filtersOfSum, WHY_SUM } from "./why-sum-link.js";

const text = en.why;

const MOST_GROUPS = 50;
type Grouping = keyof typeof text.groups;
const groupings: Readonly<Record<Grouping, readonly string[]>> = {
  line: LINE,
  product_type: ["product_type"],
  resource_id: ["resource_id"],
  rule: ["rule", "allocation_method"],
  identity_id: ["identity_id"],
};

interface SumProps {
  readonly place: Place;
  readonly tenant: string;
  readonly sum: string;
}

export function WhySum({ place, tenant, sum }: SumProps) {
  const period = periodOf(place);
  const filters = filtersOfSum(place, sum);
  const change = useSumChange({ tenant, period, before: comparedPeriod(place), filters });
  return (
    <Drawer place={place} parameter={WHY_SUM} title={text.title} isWide>
      <Shown data={change} height="60vh">
        {(loaded) =>
          loaded.lines.totals.map((totals) => (
            <section key={totals.currency}>
              <WhySentence
                tenant={tenant}
                period={period}
                filters={filters}
                change={loaded}
                totals={totals}
              />
              <Parts totals={totals} period={period} change={loaded} />
              <Groups place={place} tenant={tenant} filters={filters} change={loaded} totals={totals} />
            </section>
          ))
        }
      </Shown>
    </Drawer>
  );
}

interface ChangeProps {
  readonly change: ComparedChange;
  readonly totals: ChangeSums;
}

/** From the amount before to the amount now, cause by cause. */
function Parts({ change, totals, period }: ChangeProps & { readonly period: Period }) {
  const { currency } = totals;
  if (change.comparison.firstDay !== undefined) return null;
  return (
    <ol class="strip" aria-label={text.parts}>
      <li>
        <span class="hint">{duringPeriod(change.comparison.before)}</span>
        <strong>
          <AmountCell value={exact(totals.previous_amount)} currency={currency} />
        </strong>
      </li>
      {causesOf(totals).map(({ cause, amount }) => (
        <li key={cause}>
          <span class="hint">{text.causes[cause]}</span>
          <strong>
            <SignedAmount value={amount} currency={currency} />
          </strong>
          <span class="hint">{text.hints[cause]}</span>
        </li>
      ))}
      <li>
        <span class="hint">{duringPeriod(period)}</span>
        <strong>
          <AmountCell value={exact(totals.amount)} currency={currency} />
        </strong>
      </li>
    </ol>
  );
}

interface GroupsProps extends ChangeProps {
  readonly place: Place;
  readonly tenant: string;
  readonly filters: readonly Filter[];
}

/** The change by product, resource, rule or identity. `why_by` in the address says by which. */
function Groups({ place, tenant, filters, change, totals }: GroupsProps) {
  const by = (place.query.get("why_by") ?? "line") as Grouping;
  const groupBy = groupings[by] ?? LINE;
  const period = periodOf(place);
  const request = { tenant, period, before: change.comparison.before, filters, groupBy, limit: MOST_GROUPS };
  const isLoaded = groupBy === LINE;
  const data = useLoaded(loadChange, isLoaded ? undefined : request);
  const groups = isLoaded ? { ...data, value: change.lines } : data;
  return (
    <>
      <p class="controls">
        <Choice
          label={text.group}
          value={by}
          options={Object.entries(text.groups)}
          onChoose={(next) =>
            go(changed(place, { why_by: next === "line" ? undefined : next }), { replace: true })
          }
        />
      </p>
      <Shown data={groups} height="20rem">
        {(loaded) => (
          <GroupTable
            groups={loaded}
            columns={Object.keys(loaded.groups[0]?.dimensions ?? {})}
            totals={totals}
            isCompared={change.comparison.firstDay === undefined}
          />
        )}
      </Shown>
    </>
  );
}

interface Row extends ChangeSums {
  readonly group?: ChangeGroup;
}

interface TableProps {
  readonly groups: ShownChange;
  readonly columns: readonly string[];
  readonly totals: ChangeSums;
  readonly isCompared: boolean;
}

function GroupTable({ groups: { groups, others }, columns, totals, isCompared }: TableProps) {
  const { currency } = totals;
  const rows: Row[] = [
    ...groups
      .filter((group) => group.currency === currency)
      .map((group) => ({ ...group, group, group_count: 1 })),
    ...others.filter((each) => each.currency === currency),
  ];
  const money = (key: "amount" | "previous_amount", title: string): TableColumn<Row> => ({
    key,
    title: en.inCurrency(title, currency),
    isNumber: true,
    money: (row) => [{ value: exact(row[key]), currency, isNamed: true }],
    totalMoney: [{ value: exact(totals[key]), currency, isNamed: true }],
  });
  const compared = (sums: ChangeSums) => ({
    now: exact(sums.amount),
    before: exact(sums.previous_amount),
    currency,
  });
  return (
    <DataTable
      caption={text.title}
      columns={[
        ...columns.map(
          (column, index): TableColumn<Row> => ({
            key: column,
            title: columnName(column),
            wraps: true,
            cell: (row) =>
              row.group === undefined
                ? index === 0 && text.others(row.group_count)
                : nameIn(row.group, column),
          }),
        ),
        ...(isCompared ? [money("previous_amount", text.before)] : []),
        money("amount", text.now),
        ...(isCompared
          ? [
              {
                key: "change",
                title: text.change,
                isNumber: true,
                leads: true,
                change: compared,
                totalChange: compared(totals),
              },
              {
                key: "because",
                title: text.because,
                wraps: true,
                cell: (row: Row) => <Because row={row} />,
              },
            ]
          : []),
      ]}
      rows={rows}
      keyOf={({ group }) => JSON.stringify(group?.dimensions ?? null)}
      totalTitle={en.total}
    />
  );
}

function nameIn({ dimensions, display_names: names }: ChangeGroup, column: string) {
  const value = dimensions[column] ?? "";
  const name = column === "allocation_method" ? en.rows.methods[value] : names[column];
  return <bdi>{(name ?? value) || (column === "rule" ? text.productRule : en.unnamed)}</bdi>;
}

/** The causes of a row, with the figures of the bill. */
function Because({ row }: { readonly row: Row }) {
  return (
    <ul>
      {causesOf(row).map(({ cause, amount }) => {
        const facts = row.group && factsOf(cause, row.group);
        return (
          <li key={cause}>
            <SignedAmount value={amount} currency={row.currency} isNamed /> {text.causes[cause]}
            {facts !== undefined && <span class="hint"> {facts}</span>}
          </li>
        );
      })}
    </ul>
  );
}
