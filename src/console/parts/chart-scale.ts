/** The geometry of stacked charts: how values are stacked, the ticks of the axis, and the outline of an area. */
import { type Exact, zero } from "../../common/exact-decimal.js";
import { approximate } from "../money/amount-text.js";

/** A series of a chart. */
interface Stacked {
  /** One value for each bucket. */
  readonly values: readonly Exact[];
}

/** The lower and upper end of each value in the stack. Negative values stack downwards from zero. */
interface Stack<Series extends Stacked> {
  readonly series: Series;
  readonly spans: readonly (readonly [low: number, high: number])[];
}

export function stacked<Series extends Stacked>(series: readonly Series[], buckets: number): Stack<Series>[] {
  const up = new Array<number>(buckets).fill(0);
  const down = new Array<number>(buckets).fill(0);
  return series.map((each) => ({
    series: each,
    spans: Array.from({ length: buckets }, (_, index) => {
      const value = approximate(each.values[index] ?? zero);
      const from = (value < 0 ? down[index] : up[index]) ?? 0;
      if (value < 0) down[index] = from + value;
      else up[index] = from + value;
      return value < 0 ? [from + value, from] : [from, from + value];
    }),
  }));
}

export function scaleOf(stacks: readonly Stack<Stacked>[]) {
  let low = 0;
  let high = 0;
  for (const { spans } of stacks)
    for (const [from, to] of spans) {
      low = Math.min(low, from);
      high = Math.max(high, to);
    }
  if (low === high) high = 1;
  const raw = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((each) => each * power >= raw) ?? 10) * power;
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return { low: first * step, high: last * step, ticks };
}

interface Area {
  /** Indexes of the first and the last bucket with costs. */
  readonly from: number;
  readonly to: number;
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  readonly step: number;
}

export function areaPath(spans: Stack<Stacked>["spans"], { from, to, x, y, step }: Area): string {
  const at = (index: number) => (x(from + index) + step / 2).toFixed(1);
  const drawn = from < 0 ? [] : spans.slice(from, to + 1);
  if (drawn.length === 0) return "";
  const upper = drawn.map(([, high], index) => `${at(index)},${y(high).toFixed(1)}`);
  const lower = drawn.map(([low], index) => `${at(index)},${y(low).toFixed(1)}`).reverse();
  return `M${[...upper, ...lower].join("L")}Z`;
}

const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
export const shortNumber = (value: number) => short.format(value).replace("-", "−");
