/** The table of all views: sortable, with totals, and virtualized if it has many rows. */
import type { ComponentChildren } from "preact";
import { flushSync } from "preact/compat";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Exact, minus } from "../../common/exact-decimal.js";
import { shownAmount } from "../money/amount-text.js";
import { AllDigits } from "../state/digits.js";
import { en } from "../text/en.js";
import { AmountCell, Change, type Compared, changeInPercent } from "./amount.js";

/** An amount in a cell. */
export interface Money {
  readonly value: Exact;
  readonly currency: string;
  /** Whether a heading names the currency. */
  readonly isNamed?: boolean;
  /** The amount does not add up, and is marked. */
  readonly broken?: boolean;
}

export interface TableColumn<Row> {
  readonly key: string;
  readonly title: string;
  readonly cell?: (row: Row) => ComponentChildren;
  /** Instead of `cell`: amounts, one per line. Their decimal points line up in the whole column. */
  readonly money?: (row: Row) => readonly Money[];
  /** Instead of `cell` and `money`: the change of an amount. The decimal points of the differences line up. */
  readonly change?: (row: Row) => Compared;
  /** On a phone, this cell is next to the name, and the other cells are below. */
  readonly leads?: boolean;
  /** Right-aligned. */
  readonly isNumber?: boolean;
  /** Long text wraps instead of being cut. */
  readonly wraps?: boolean;
  /** The service sorts by this name. Set if the table can be sorted by the column. */
  readonly sortKey?: string;
  readonly total?: ComponentChildren;
  /** Instead of `total`. */
  readonly totalMoney?: readonly Money[];
  readonly totalChange?: Compared;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Whether the row is the sum of rows below it. */
  readonly isSubtotal?: (row: Row) => boolean;
  /** The order of `rows`: a `sortKey` with `.asc` or `.desc`. */
  readonly order?: string | undefined;
  readonly onSort?: ((order: string) => void) | undefined;
  /** Title of the row of totals. Undefined: no such row. */
  readonly totalTitle?: string;
}

const ROW_PX = 34;
/** Up to this many rows are all in the document, so that find, print and copy work on them. */
const MAX_UNWINDOWED = 300;
const OVERSCAN_ROWS = 12;
/** On phones, rows have no fixed height and cannot be virtualized. A button shows more of them. */
const PHONE = "(max-width: 640px)";

export function DataTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  isSubtotal,
  order,
  onSort,
  totalTitle,
}: TableProps<Row>) {
  // Print has all rows, even if the paper is as narrow as a phone.
  const isPrinted = useIsPrinted();
  const isPhone = useMatch(PHONE) && !isPrinted;
  const [maxRows, setMaxRows] = useState(MAX_UNWINDOWED);
  const isWindowed = rows.length > MAX_UNWINDOWED && !isPhone && !isPrinted;
  const { frame, first, last, onScroll } = useWindow(isWindowed ? rows.length : 0);
  const shown = isWindowed ? rows.slice(first, last) : isPhone ? rows.slice(0, maxRows) : rows;
  const hasTotals = totalTitle !== undefined;
  const isExact = useContext(AllDigits);
  const widths = columns.map((column) => widthsOf(column, rows, isExact));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a region needs a name of its own, and currencies have the same tables
    <section
      class={isWindowed ? "table windowed" : "table"}
      ref={frame}
      onScroll={onScroll}
      role="group"
      aria-label={caption}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
      tabIndex={0}
    >
      <table aria-rowcount={rows.length + 1 + (hasTotals ? 1 : 0)}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.key} column={column} order={order} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {isWindowed && first > 0 && <Gap rows={first} columns={columns.length} />}
          {shown.map((row, index) => (
            <tr
              key={keyOf(row)}
              class={isSubtotal?.(row) ? "subtotal" : undefined}
              aria-rowindex={isWindowed ? first + index + 2 : undefined}
            >
              {columns.map((column, at) => (
                <td key={column.key} class={classOf(column)} data-title={column.title}>
                  {column.money !== undefined ? (
                    <Amounts amounts={column.money(row)} places={widths[at]?.places} />
                  ) : column.change !== undefined ? (
                    <Change {...column.change(row)} {...widths[at]} />
                  ) : (
                    column.cell?.(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
          {isWindowed && last < rows.length && <Gap rows={rows.length - last} columns={columns.length} />}
        </tbody>
        {hasTotals && (
          <tfoot>
            <tr>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.key} scope="row">
                    {totalTitle}
                  </th>
                ) : (
                  <td key={column.key} class={classOf(column)} data-title={column.title}>
                    {column.totalMoney !== undefined ? (
                      <Amounts amounts={column.totalMoney} places={widths[index]?.places} />
                    ) : column.totalChange !== undefined ? (
                      <Change {...column.totalChange} {...widths[index]} />
                    ) : (
                      column.total
                    )}
                  </td>
                ),
              )}
            </tr>
          </tfoot>
        )}
      </table>
      {isPhone && maxRows < rows.length && (
        <button type="button" class="more" onClick={() => setMaxRows(maxRows + MAX_UNWINDOWED)}>
          {en.table.more(rows.length - maxRows)}
        </button>
      )}
    </section>
  );
}

function classOf({
  isNumber,
  wraps,
  leads,
}: Pick<TableColumn<never>, "isNumber" | "wraps" | "leads">): string | undefined {
  const kind = isNumber === true ? "number" : wraps === true ? "wraps" : undefined;
  return leads === true ? `${kind ?? ""} leads`.trim() : kind;
}

function Amounts({
  amounts,
  places,
}: {
  readonly amounts: readonly Money[];
  readonly places: number | undefined;
}) {
  return (
    <>
      {amounts.map(({ broken, ...amount }, index) => (
        <div key={index} class={broken === true ? "broken" : undefined}>
          <AmountCell {...amount} places={places} />
        </div>
      ))}
    </>
  );
}

interface Widths {
  /** The largest number of decimal places beyond those of the currency in the column. */
  readonly places: number;
  /** Length of the longest percentage in the column, in characters. */
  readonly percentLetters: number;
}

function widthsOf<Row>(column: TableColumn<Row>, rows: readonly Row[], isExact: boolean): Widths {
  const { money, change, totalMoney = [], totalChange } = column;
  const amounts = [...(money === undefined ? [] : rows.flatMap(money)), ...totalMoney];
  const changes = [
    ...(change === undefined ? [] : rows.map(change)),
    ...(totalChange === undefined ? [] : [totalChange]),
  ];
  const values = [
    ...amounts,
    ...changes.map(({ now, before, currency }) => ({ value: minus(now, before), currency })),
  ];
  return {
    places: longest(values.map(({ value, currency }) => shownAmount(value, currency, isExact).beyond)),
    percentLetters: longest(changes.map(changeInPercent)),
  };
}

const longest = (texts: readonly string[]) => texts.reduce((most, { length }) => Math.max(most, length), 0);

/** Whether the media query matches. Updates when that changes. */
function useMatch(media: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(media).matches);
  useLayoutEffect(() => {
    const list = matchMedia(media);
    const listen = () => setMatches(list.matches);
    listen();
    list.addEventListener("change", listen);
    return () => list.removeEventListener("change", listen);
  }, [media]);
  return matches;
}

/** Whether the page is being printed. Renders within the event, because printing blocks the page right after it. */
function useIsPrinted(): boolean {
  const [isPrinted, setPrinted] = useState(false);
  useLayoutEffect(() => {
    const listen = ({ type }: Event) => flushSync(() => setPrinted(type === "beforeprint"));
    addEventListener("beforeprint", listen);
    addEventListener("afterprint", listen);
    return () => {
      removeEventListener("beforeprint", listen);
      removeEventListener("afterprint", listen);
    };
  }, []);
  return isPrinted;
}

interface HeadingProps<Row> extends Pick<TableProps<Row>, "order" | "onSort"> {
  readonly column: TableColumn<Row>;
}

function Heading<Row>({ column, order, onSort }: HeadingProps<Row>) {
  const { sortKey } = column;
  const kind = classOf(column);
  if (sortKey === undefined || onSort === undefined)
    return (
      <th scope="col" class={kind}>
        {column.title === "" ? <span class="unseen">{en.table.actions}</span> : column.title}
      </th>
    );
  const isUp = order === `${sortKey}.asc`;
  const isDown = order === `${sortKey}.desc`;
  // The first click sorts numbers in descending and names in ascending order.
  const next = isUp || (!isDown && column.isNumber === true) ? "desc" : "asc";
  return (
    <th scope="col" class={kind} aria-sort={isUp ? "ascending" : isDown ? "descending" : undefined}>
      <button type="button" class="sort" onClick={() => onSort(`${sortKey}.${next}`)}>
        {column.title}
        <span aria-hidden="true">{isUp ? " ↑" : isDown ? " ↓" : " ↕"}</span>
        <span class="unseen"> {en.table.sort}</span>
      </button>
    </th>
  );
}

function Gap({ rows, columns }: { readonly rows: number; readonly columns: number }) {
  return (
    <tr>
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px`, padding: "0" }} />
    </tr>
  );
}

/** The range of rows to render: those in view and some around them. */
function useWindow(count: number) {
  const frame = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null || count === 0) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, [count === 0]);
  const first = Math.max(0, Math.floor(top / ROW_PX) - OVERSCAN_ROWS);
  const last = Math.min(count, Math.ceil((top + height) / ROW_PX) + OVERSCAN_ROWS);
  return { frame, first, last, onScroll: () => setTop(frame.current?.scrollTop ?? 0) };
}
